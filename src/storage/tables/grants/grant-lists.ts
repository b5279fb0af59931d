/** Lists of grants, by keys: narrow rows of a walk, and whole rows of those that were found. */
import { type Grant, grantIdText } from '../../../oauth/grants/grant.ts';
import type { GrantState, GrantStore, GrantsOf } from '../../../oauth/protocol/grant-store.ts';
import type { UseMarks } from '../../late-writes/use-marks.ts';
import { inGroups, type Runner, type Statement } from '../../statements/shared-operations.ts';
import { nullable, type Stored, sideBySide, Table } from '../../statements/table.ts';
import { CLIENT } from '../registrations/clients.ts';
import { GRANT } from './grant-rows.ts';
import { FROM_CONTEXT, inContext } from './grants-in-context.ts';

/** The columns of grants with their context in a list. */
export const LISTED = inContext(CLIENT.pick('epoch', 'status', 'name'));

/** Selects grants whose client and account exist. */
export const LIST = `SELECT ${LISTED.selected} ${FROM_CONTEXT}`;

const NOW_OF = (table: string) => Table.of<{ readonly epoch: number | null }>(table, { epoch: nullable('integer') });
const STATE = sideBySide(
  GRANT.pick('id', 'clientId', 'resourceOwnerId', 'epochs', 'revokedAt', 'expiresAt', 'generation'),
  NOW_OF('installation'),
  NOW_OF('client'),
  NOW_OF('account'),
);

/** Keeps grants whose client or account is gone: an inner join would read any number of them before it returned one row. */
const STATES = `
  SELECT ${STATE.selected} FROM oauth_grant
    LEFT JOIN installation ON installation.number = 1
    LEFT JOIN client ON client.id = oauth_grant.client_id
    LEFT JOIN account ON account.id = oauth_grant.resource_owner_id`;

/** Each order is that of an index, read backwards. The limit is in the text: a plan for any limit would read all accounts. */
function walkOf(
  { clientId, resourceOwnerId }: GrantsOf,
  after: Pick<Grant, 'id' | 'clientId'> | null,
  limit: number,
  givenId: (parameter: string) => string,
): Statement {
  const values: Stored[] = [];
  const parameter = (value: Stored) => `$${values.push(value)}`;
  const conditions: string[] = [];
  if (resourceOwnerId !== undefined) conditions.push(`oauth_grant.resource_owner_id = ${parameter(resourceOwnerId)}`);
  if (clientId !== undefined) conditions.push(`oauth_grant.client_id = ${parameter(clientId)}`);
  const isByClient = resourceOwnerId !== undefined && clientId === undefined;
  if (after) {
    const client = isByClient ? parameter(after.clientId) : '';
    const id = givenId(parameter(after.id));
    conditions.push(
      isByClient ? `(oauth_grant.client_id, oauth_grant.id) < (${client}, ${id})` : `oauth_grant.id < ${id}`,
    );
  }
  const where = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
  const order = `${isByClient ? 'oauth_grant.client_id DESC, ' : ''}oauth_grant.id DESC`;
  return { sql: `${STATES} ${where} ORDER BY ${order} LIMIT ${limit}`, values };
}

function readState(row: readonly unknown[]): GrantState {
  const [grant, installation, client, account] = STATE.read(row);
  const epochs = { installation: installation.epoch, client: client.epoch, resourceOwner: account.epoch };
  const isWhole = Object.values(epochs).every((epoch) => epoch !== null);
  return { ...grant, epochsNow: isWhole ? (epochs as GrantState['epochsNow']) : null };
}

/** Implements the port's lists of grants. */
export function grantLists(runner: Runner, marks: UseMarks): Pick<GrantStore, 'listGrantStates' | 'listGrantsById'> {
  const { givenId } = runner.dialect;
  return {
    async listGrantStates(of, after, limit) {
      return (await runner.select(walkOf(of, after, limit, givenId), 'all')).map(readState);
    },
    async listGrantsById(ids) {
      const byId = (some: readonly string[]) => `${LIST} AND oauth_grant.id IN (${some.map(givenId).join(', ')})`;
      const rows = await inGroups(runner, ids, Buffer.alloc(16), byId);
      const found = new Map(
        rows.map((row) => {
          const { client, grant, ...context } = LISTED.read(row);
          return [grantIdText(grant.id), { ...context, grant: marks.merge(grant), clientName: client.name }];
        }),
      );
      return ids.map((id) => found.get(grantIdText(id))).filter((grant) => grant !== undefined);
    },
  };
}
