/** Grants. Each store implements the transitions of frequent requests in its own `grants.ts`. */
import { DEVICE_GRANT_TYPE } from '../../../oauth/grants/device-grant.ts';
import type { AllowBasis, Epochs, Grant, Presentation } from '../../../oauth/grants/grant.ts';
import { accessForApis } from '../../../oauth/grants/granted-access.ts';
import type { ActiveGrant, GrantCount, GrantFilter, GrantStore } from '../../../oauth/protocol/grant-store.ts';
import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import type { UseMarks } from '../../late-writes/use-marks.ts';
import { rowKey } from '../../statements/row-key.ts';
import {
  type Act,
  findRow,
  INSTALLATION_KEY,
  listRows,
  pageOfWalk,
  type Runner,
  type Statement,
  type Tuple,
  WALK_WINDOW,
} from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';
import { stillProven } from '../registrations/identity-providers.ts';
import { grantLists, LIST, LISTED } from './grant-lists.ts';
import { ENDED_ACCESS, GRANT, hasItsEpochs, IS_REMEMBERED, NOT_ENDED } from './grant-rows.ts';
import { SUMMARY, summarize } from './grant-summaries.ts';
import { windowReader } from './grant-windows.ts';
import { FIND_FOR_CHECK, FIND_GRANT } from './grants-in-context.ts';

const PRESENTATION = Table.of<Presentation>('oauth_grant', {
  generation: 'integer',
  at: 'time',
  source: nullable('text'),
});

const EPOCHS = Table.of<Epochs>('epochs', { installation: 'integer', client: 'integer', resourceOwner: 'integer' });

const FIND_EPOCHS = `
  SELECT installation.epoch, client.epoch, account.epoch
  FROM installation, client, account WHERE client.id = $1 AND account.id = $2`;

/** Returns the conditions of a filter, and their values, which begin with the second parameter. */
function askedOf({ clientId, resourceOwnerId }: Omit<GrantFilter, 'limit'>): [conditions: string, values: string[]] {
  const asked = Object.entries({ client_id: clientId, resource_owner_id: resourceOwnerId });
  const conditions: string[] = [];
  const values: string[] = [];
  for (const [column, value] of asked)
    if (value !== undefined) conditions.push(` AND oauth_grant.${column} = $${values.push(value) + 1}`);
  return [conditions.join(''), values];
}

/** Ids are ordered by time, and each index ends with the id, so the newest grants come without sorting. */
function listing({ limit, ...filter }: GrantFilter): Statement {
  const [conditions, values] = askedOf(filter);
  return { sql: `${LIST}${conditions} ORDER BY oauth_grant.id DESC LIMIT $1`, values: [limit, ...values] };
}

function counting({ limit, liveAt, ...filter }: GrantFilter & { readonly liveAt: number }): Statement {
  const [conditions, values] = askedOf(filter);
  const live = `
    SELECT resource_owner_id, client_id FROM oauth_grant
    WHERE expires_at > $1 AND ${NOT_ENDED}${conditions} LIMIT ${limit}`;
  return { sql: `SELECT ${COUNT.computed(COUNTS)} FROM (${live}) AS live`, values: [liveAt, ...values] };
}

const COUNT = Table.of<GrantCount>('count', { grants: 'integer', resourceOwners: 'integer', clients: 'integer' });
const COUNTS = {
  grants: 'count(*)',
  resourceOwners: 'count(DISTINCT resource_owner_id)',
  clients: 'count(DISTINCT client_id)',
};

const COUNT_LIVE = `
  SELECT count(*) FROM oauth_grant WHERE resource_owner_id = $1 AND expires_at > $2 AND ${NOT_ENDED}`;

const ACTIVE_GRANT = Table.of<ActiveGrant>('active', { id: 'uuid', usedAt: 'time' });

const ACTIVE = `
  SELECT id, CASE WHEN last_used_at > rotated_at THEN last_used_at ELSE rotated_at END FROM oauth_grant
  WHERE resource_owner_id = $1 AND client_id = $2 AND generation > 0 AND expires_at > $3 AND ${NOT_ENDED}
  ORDER BY 2 LIMIT ${WALK_WINDOW}`;

const LIVE_ACCESS = GRANT.pick('resource', 'scope', 'personFields', 'openid');

/** An unredeemed grant has no tokens yet, so no API has seen it. */
const liveAccess = (inWindow: string) => `
  SELECT DISTINCT ${LIVE_ACCESS.names} FROM oauth_grant
  WHERE ${inWindow} AND expires_at > $6 AND generation > 0 AND ${NOT_ENDED}`;

const WALKED_GRANT = Table.of<Pick<Grant, 'id' | 'clientId' | 'resourceOwnerId'> & { readonly isFound: boolean }>(
  'walked',
  {
    id: 'uuid',
    clientId: 'text',
    resourceOwnerId: 'text',
    isFound: 'boolean',
  },
);

/** Reads every row of a window: an index to search would add a write to every Allow and refresh. */
const walk = (after: string, isOne: string) => `
  SELECT id, client_id, resource_owner_id, coalesce(expires_at > $2 AND ${isOne} AND ${NOT_ENDED}, FALSE)
  FROM oauth_grant WHERE id > ${after} ORDER BY id LIMIT ${WALK_WINDOW}`;

const GIVEN_THROUGH = 'provider_id = $3 AND (granted_at >= $4 OR signed_in_at >= $4)';

/**
 * Maximum number of grants that one call deletes: as many as one commit may add, so that dead grants do not accumulate.
 */
const DELETIONS = 256;

/** Skips rows that another transaction is deleting or marking as used. */
const DELETE_ENDED = `
  DELETE FROM oauth_grant WHERE id IN (
    SELECT id FROM oauth_grant
    WHERE resource_owner_id = $1 AND client_id = $2
      AND CASE WHEN generation = 0 THEN expires_at <= $3 ELSE NOT (${NOT_ENDED}) END
    LIMIT ${DELETIONS} FOR UPDATE SKIP LOCKED)`;

/** Returns the act that ends every grant of the installation. */
export function endingAllGrants(event: AuditEvent): Act {
  return {
    touches: [INSTALLATION_KEY],
    event,
    first: { sql: 'UPDATE installation SET epoch = epoch + 1', values: [] },
  };
}

/**
 * The conditions of an Allow. A transaction that ends the session, or a grant by which consent is remembered, waits for
 * the new grant; or the Allow waits for it, and is then refused. An epoch needs no lock: if it is raised meanwhile, the
 * grant keeps the earlier epoch.
 */
const HAS_SESSION = 'SELECT 1 FROM session WHERE digest = $1 FOR KEY SHARE';
const EPOCHS_OF_GRANT = GRANT.pick('clientId', 'resourceOwnerId', 'epochs');
const parameterOf = (column: string) => `$${EPOCHS_OF_GRANT.columns.findIndex(({ name }) => name === column) + 1}`;
const HAS_EPOCHS = `SELECT 1 WHERE ${hasItsEpochs(parameterOf)}`;
const isRemembered = (id: string) =>
  `SELECT 1 FROM oauth_grant WHERE id = ${id} AND ${IS_REMEMBERED} FOR SHARE OF oauth_grant`;

const revocation = (id: string) => `
  UPDATE oauth_grant SET revoked_at = $2, revocation_reason = $3 WHERE id = ${id} AND ${NOT_ENDED}
  RETURNING ${ENDED_ACCESS.names}`;

/** The operations on grants that each store implements itself. */
export type OwnGrants = Pick<GrantStore, 'redeemAuthorizationCode' | 'rotateRefreshToken' | 'revokeGrantsOfClient'>;

/** Implements the port for grants, with each store's own operations. */
export function grantStore(own: OwnGrants, runner: Runner, marks: UseMarks): GrantStore {
  const { newestGrantId, givenId } = runner.dialect;
  const findGrant = runner.search(FIND_GRANT);
  const findForCheck = runner.search(FIND_FOR_CHECK);
  const summaries = windowReader(runner, (inWindow) => summarize(newestGrantId, inWindow));
  const accesses = windowReader(runner, liveAccess);
  const after = givenId('$1');
  const insertion =
    // A second try after a write that was not confirmed finds the grant there.
    `${GRANT.insertion.replace('$1', after)} ON CONFLICT DO NOTHING`;
  const revoke = revocation(after);
  const remembered = isRemembered(after);
  const demandsOf = (grant: Grant, basis: AllowBasis): Statement[] => [
    { sql: HAS_SESSION, values: [basis.session] },
    { sql: HAS_EPOCHS, values: EPOCHS_OF_GRANT.values(grant) },
    // Locks in key order, as other transactions do.
    ...basis.remembered.toSorted(Buffer.compare).map((id) => ({ sql: remembered, values: [id] })),
  ];
  const presentation = `SELECT generation, rotated_at, presented_from FROM oauth_grant WHERE id = ${after} AND generation > 0`;
  const walkGiven = walk(after, GIVEN_THROUGH);
  const walkOfKey = walk(after, 'key_id = $3');
  return {
    ...own,
    ...grantLists(runner, marks),
    async findGrant(id) {
      const found = await findGrant(id);
      return found && { ...found, grant: marks.merge(found.grant) };
    },
    async findGrantForCheck(id) {
      const found = await findForCheck(id);
      return found && { ...found, grant: marks.merge(found.grant) };
    },
    issueGrant(grant, event, basis) {
      const first = { sql: insertion, values: GRANT.values(grant) };
      return runner.act({ touches: [rowKey(grant.id)], event, demands: basis ? demandsOf(grant, basis) : [], first });
    },
    revokeGrant: (id, reason, event, proof) =>
      runner.end([rowKey(id)], event, { sql: revoke, values: [id, event.at, reason] }, proof && [stillProven(proof)]),
    noteUse: (grant, use) => marks.note(grant, use),
    findPresentation: (id) => findRow(runner, PRESENTATION, { sql: presentation, values: [id] }),
    findEpochs(...ids) {
      return findRow(runner, EPOCHS, { sql: FIND_EPOCHS, values: ids }, [...ids, INSTALLATION_KEY]);
    },
    async revokeAllGrants(event) {
      await runner.act(endingAllGrants(event));
    },
    async listGrants(filter) {
      const rows = await runner.select(listing(filter), 'all');
      return rows.map((row) => {
        const { client, grant, ...context } = LISTED.read(row);
        return { ...context, grant: marks.merge(grant), clientName: client.name };
      });
    },
    async countLiveGrants(resourceOwnerId, liveAt) {
      const [row] = await runner.select({ sql: COUNT_LIVE, values: [resourceOwnerId, liveAt] }, 'all');
      return row?.[0] as number;
    },
    async countGrants(filter) {
      const [row] = await runner.select(counting(filter), 'all');
      return COUNT.read(row as Tuple);
    },
    async summarizeGrants(resourceOwnerId, liveAt, clientId) {
      await marks.flush();
      const rows = await summaries(resourceOwnerId, clientId, [liveAt, DEVICE_GRANT_TYPE]);
      return rows.map((row) => SUMMARY.read(row));
    },
    async listLiveAccess(resourceOwnerId, liveAt) {
      const rows = await accesses(resourceOwnerId, undefined, [liveAt]);
      const live = rows.flatMap((row) => accessForApis(LIVE_ACCESS.read(row)));
      return [...new Map(live.map((access) => [JSON.stringify(access), access])).values()];
    },
    async listActiveGrants(resourceOwnerId, clientId, liveAt) {
      await marks.flush();
      return listRows(runner, ACTIVE_GRANT, ACTIVE, [resourceOwnerId, clientId, liveAt]);
    },
    async walkGrants(some, liveAt, after) {
      const rows =
        'keyId' in some
          ? await listRows(runner, WALKED_GRANT, walkOfKey, [after, liveAt, some.keyId])
          : await listRows(runner, WALKED_GRANT, walkGiven, [after, liveAt, some.providerId, some.since]);
      return pageOfWalk(
        rows,
        ({ isFound }) => isFound,
        ({ id }) => id,
      );
    },
    deleteEndedGrants: (resourceOwnerId, clientId, expiredAt) =>
      runner.change([], { sql: DELETE_ENDED, values: [resourceOwnerId, clientId, expiredAt] }),
  };
}
