/** Clients. Lists are canonical JSON, so that equal lists are equal texts. */

import { SPAN_MS } from '../../../oauth/activity/app-tally.ts';
import type { Client } from '../../../oauth/clients/client.ts';
import type {
  ClientOrder,
  ClientPlace,
  ClientStore,
  ClientsAsked,
  FailingPlace,
} from '../../../oauth/clients/client-store.ts';
import type { Scope } from '../../../oauth/grants/scope.ts';
import { nameKey } from '../../../oauth/name-key.ts';
import {
  type Dialect,
  isAny,
  listRows,
  type Runner,
  type Search,
  type Statement,
} from '../../statements/shared-operations.ts';
import { JsonForm, nullable, type Stored, Table } from '../../statements/table.ts';
import { FAILED, forgettingActivity } from './activity.ts';
import { endingHandOver, forgettingHandOvers } from './hand-over-rows.ts';
import { registeredStore } from './registered-with-secrets.ts';
import { SECRETS } from './stored-secrets.ts';

const SCOPES = new JsonForm<readonly Scope[]>(
  (scopes) => scopes.map(({ name, sentence, optional }) => ({ name, sentence, optional })),
  (scopes: readonly Scope[]) => scopes,
);

/** The search keys of a client's name and of its publisher. */
type NameKeys = { readonly nameKey: string; readonly publisherKey: string | null };

/** A stored client, with its search keys. */
export const STORED_CLIENT = Table.of<Client & NameKeys>('client', {
  id: 'text',
  epoch: 'integer',
  status: 'text',
  type: 'text',
  name: 'text',
  nameKey: 'text',
  publisher: nullable('text'),
  publisherKey: nullable('text'),
  homepage: nullable('text'),
  privacyPage: nullable('text'),
  contact: nullable('text'),
  isChecked: 'boolean',
  requirePkce: 'boolean',
  refreshOverlap: nullable('integer'),
  refreshRetryWindow: nullable('integer'),
  createdAt: 'time',
  remembersSince: nullable('time'),
  secrets: SECRETS,
  redirectUris: 'json',
  scopes: SCOPES,
  defaultResource: nullable('text'),
  personFields: 'json',
  keys: 'json',
  consent: 'text',
  deviceFlow: 'boolean',
  assertionAudience: 'text',
  seesExternalId: 'boolean',
  signIn: 'boolean',
  documentSha256: nullable('text'),
  jwksUri: nullable('text'),
  jwksFetchedAt: nullable('time'),
  jwksAskedAt: nullable('time'),
});

/** A client without its search keys. */
export const CLIENT = STORED_CLIENT.without('nameKey', 'publisherKey');

/** The columns of a client that an operator may change. */
const SETTINGS = STORED_CLIENT.without(
  'id',
  'epoch',
  'status',
  'type',
  'createdAt',
  'remembersSince',
  'secrets',
  'documentSha256',
  'jwksUri',
  'jwksFetchedAt',
  'jwksAskedAt',
);

/** The columns that a client's metadata document determines. */
const OF_DOCUMENT = STORED_CLIENT.pick(
  ...(['type', 'redirectUris', 'keys', 'isChecked', 'consent', 'documentSha256', 'jwksUri', 'remembersSince'] as const),
);
/**
 * Times of the client's key fetches. Never compared, since each fetch changes them; a fetch of other keys shows in
 * `keys`.
 */
const OF_KEYS = STORED_CLIENT.pick('jwksFetchedAt', 'jwksAskedAt');
const REFRESHED = OF_DOCUMENT.and(OF_KEYS);
/**
 * The later time if the URL stays the same: an instance may have fetched the keys while the operator reviewed the
 * document.
 */
const KEYS_LATER = OF_KEYS.columns
  .map(({ name }, index) => {
    const given = `$${2 + OF_DOCUMENT.columns.length + index}`;
    const uri = `$${2 + OF_DOCUMENT.columns.findIndex((column) => column.name === 'jwks_uri')}`;
    return `${name} = CASE WHEN jwks_uri = ${uri} AND ${name} > ${given} THEN ${name} ELSE ${given} END`;
  })
  .join(', ');

/** The columns by which a client authenticates: a secret is added or ended only while these are as they were read. */
const PROOF = STORED_CLIENT.pick('type', 'secrets', 'keys', 'documentSha256');

const FIND: Search<Client> = {
  sql: `SELECT ${CLIENT.names} FROM client WHERE id = $1`,
  key: 'text',
  read: (row) => CLIENT.read(row),
  restsOn: ({ id }) => [id],
};

const SELECT = `SELECT ${CLIENT.names} FROM client`;
const NAMED = `
  ${SELECT} WHERE name_key = $1 ORDER BY CASE WHEN name = $2 THEN 0 ELSE 1 END, created_at, id LIMIT $3`;
const DEFAULTS = 'SELECT DISTINCT default_resource FROM client WHERE default_resource IS NOT NULL';
const HAS_ONE = 'SELECT 1 FROM client LIMIT 1';
/** Ids that are URLs share a prefix: a range of the primary key, so that no other client is read. */
const HAS_DOCUMENT = `
  SELECT 1 FROM client
  WHERE id >= 'http' AND id < 'httq' AND status = 'active' AND document_sha256 IS NOT NULL LIMIT 1`;
const HAS_SIGN_IN = 'SELECT 1 FROM client WHERE sign_in LIMIT 1';
const SET_STATUS = `
  UPDATE client SET status = $2,
    remembers_since = CASE WHEN remembers_since > $3 THEN remembers_since ELSE coalesce($3, remembers_since) END
  WHERE id = $1 AND status <> $2`;
const RAISE_EPOCH = 'UPDATE client SET epoch = epoch + 1 WHERE id = $1';
const REFRESH = `
  UPDATE client SET ${OF_DOCUMENT.assignments(2)}, ${KEYS_LATER}
  WHERE id = $1 AND ${OF_DOCUMENT.unchanged(2 + REFRESHED.columns.length)}`;
/**
 * A grant from before a refresh must count as before it, even if the clock of the granting instance is ahead of the
 * operator's.
 */
const REMEMBER_NOTHING_YET = `
  UPDATE client SET remembers_since = newest.granted_at
  FROM (SELECT granted_at FROM oauth_grant WHERE client_id = $1 ORDER BY id DESC LIMIT 1) AS newest
  WHERE id = $1 AND remembers_since < newest.granted_at`;
const PUBLISHES = "id = $1 AND status = 'active' AND jwks_uri = $2";
const NOTE_KEYS_ASKED = `
  UPDATE client SET jwks_asked_at = $3
  WHERE ${PUBLISHES} AND (jwks_asked_at IS NULL OR jwks_asked_at NOT BETWEEN $4 AND $5)`;
const REFRESH_KEYS = `
  UPDATE client SET keys = $4, jwks_fetched_at = $3 WHERE ${PUBLISHES} AND jwks_asked_at = $3 AND keys = $5`;
const DELETE = 'DELETE FROM client WHERE id = $1';
const FORGET_ASSERTIONS = 'DELETE FROM client_assertion_total WHERE client_id = $1';

/**
 * The failures of each client in some days, from `tally_failed` alone: two entries of each for two days. Grouped by an expression,
 * or SQLite goes through the tallies by client instead, and fetches each.
 */
const FAILURES_OF_DAYS = `
  SELECT client_id || '' AS client_id, sum(${FAILED}) AS failures FROM tally
  WHERE span = 'day' AND bucket > $1 AND ${FAILED} > 0 GROUP BY client_id || ''`;

function nextOf(
  after: ClientPlace | null,
  limit: number,
  { order = 'oldest', ...asked }: ClientsAsked & { readonly order?: ClientOrder },
  dialect: Dialect,
): Statement {
  const values: Stored[] = [limit];
  const place = after ? placeIn(order, after).map((value) => `$${values.push(value)}`) : null;
  const [column, isAfter, direction] = ORDERS[order];
  const sql = `
    ${SELECT} WHERE ${place ? `(${column}, id) ${isAfter} (${place})` : 'true'} ${matching(asked, values, dialect)}
    ORDER BY ${column} ${direction}, id ${direction} LIMIT $1`;
  return { sql, values };
}

/** Each order has an index, so that a page reads no more than its rows. */
const ORDERS = {
  oldest: ['created_at', '>', 'ASC'],
  newest: ['created_at', '<', 'DESC'],
  name: ['name_key', '>', 'ASC'],
} as const;

function placeIn(order: ClientOrder, { id, createdAt, name }: ClientPlace): [Stored, string] {
  return [order === 'name' ? nameKey(name) : createdAt, id];
}

function nextFailing(
  after: FailingPlace | null,
  limit: number,
  since: number,
  asked: ClientsAsked,
  dialect: Dialect,
): Statement {
  const { id, failures } = after ?? { id: '', failures: Number.MAX_SAFE_INTEGER };
  const values: Stored[] = [since - SPAN_MS.day, failures, id, limit];
  const sql = `
    SELECT ${CLIENT.names}, failures FROM client JOIN (${FAILURES_OF_DAYS}) AS failing ON client_id = id
    WHERE (failures < $2 OR (failures = $2 AND id > $3)) ${matching(asked, values, dialect)}
    ORDER BY failures DESC, id LIMIT $4`;
  return { sql, values };
}

/**
 * Returns the conditions, and adds their values. No index finds a part of a name: that reads the names of all clients, of which
 * 10,000 take about 10 ms. A failure is sought by an index in each client's tallies.
 */
function matching(
  { id, name, text, exactly, status, failing }: ClientsAsked,
  values: Stored[],
  { placeOf }: Dialect,
): string {
  const parameter = (value: Stored) => `$${values.push(value)}`;
  const containing = (columns: readonly string[], key: string) =>
    `(${columns.map((column) => `${placeOf}(${column}, ${key}) > 0`).join(' OR ')})`;
  const conditions = [
    id !== undefined && `id = ${parameter(id)}`,
    name !== undefined && `${placeOf}(name_key, ${parameter(nameKey(name))}) > 0`,
    text !== undefined && containing([`name_key`, `coalesce(publisher_key, '')`], parameter(nameKey(text))),
    exactly !== undefined && `${parameter(nameKey(exactly))} IN (name_key, publisher_key)`,
    status !== undefined && `status = ${parameter(status)}`,
    failing !== undefined &&
      `EXISTS (SELECT 1 FROM tally WHERE client_id = client.id AND span = ${parameter(failing.span)}
        AND bucket > ${parameter(failing.since - SPAN_MS[failing.span])} AND ${FAILED} > 0)`,
  ];
  return conditions.map((condition) => (condition === false ? '' : `AND ${condition}`)).join(' ');
}

/** Returns a client as its row has it, with the keys that names are compared by. */
export function storedClient(client: Client) {
  const publisherKey = client.publisher === null ? null : nameKey(client.publisher);
  return { ...client, nameKey: nameKey(client.name), publisherKey };
}

/** Implements the port for clients; each store marks their assertions itself. */
export function clientStore(runner: Runner, own: Pick<ClientStore, 'useClientAssertion'>): ClientStore {
  const clients = registeredStore(runner, 'client', STORED_CLIENT, SETTINGS, PROOF);
  return {
    findClient: runner.search(FIND),
    findClientBySecret: clients.findBySecret,
    useClientAssertion: own.useClientAssertion,
    hasClients: () => isAny(runner, HAS_ONE),
    hasDocumentClient: () => isAny(runner, HAS_DOCUMENT),
    hasSignInClient: () => isAny(runner, HAS_SIGN_IN),
    listClients(after, limit, asked = {}) {
      const { sql, values } = nextOf(after, limit, asked, runner.dialect);
      return listRows(runner, CLIENT, sql, values);
    },
    async countClients(asked, limit) {
      const values: Stored[] = [limit];
      const some = `SELECT 1 FROM client WHERE true ${matching(asked, values, runner.dialect)} LIMIT $1`;
      const [row] = await runner.select({ sql: `SELECT count(*) FROM (${some}) AS matching`, values }, 'all');
      return Number(row?.[0]);
    },
    async listFailing(after, limit, since, asked = {}) {
      const rows = await runner.select(nextFailing(after, limit, since, asked, runner.dialect), 'all');
      return rows.map((row) => ({ client: CLIENT.read(row), failures: Number(row.at(-1)) }));
    },
    listClientsNamed: (name, limit) => listRows(runner, CLIENT, NAMED, [nameKey(name), name, limit]),
    async listDefaultResources() {
      const rows = await runner.select({ sql: DEFAULTS, values: [] }, 'all');
      return rows.map(([resource]) => String(resource));
    },
    registerClient: (client, event) => clients.register(storedClient(client), event),
    updateClient: (client, expected, event) => clients.update(storedClient(client), storedClient(expected), event),
    refreshClient: (client, expected, event) => {
      const { id, remembersSince } = client;
      const values = [id, ...REFRESHED.values(client), ...OF_DOCUMENT.values(expected)];
      const rest = remembersSince === expected.remembersSince ? [] : [{ sql: REMEMBER_NOTHING_YET, values: [id] }];
      return runner.act({ touches: [id], event, first: { sql: REFRESH, values }, rest });
    },
    replaceClientSecrets: (client, secrets, event) => clients.replaceSecrets(storedClient(client), secrets, event),
    setClientStatus: (id, status, event) =>
      clients.change(id, event, SET_STATUS, [status, status === 'active' ? event.at : null], {
        also: status === 'paused' ? [endingHandOver({ kind: 'client', id }, event, 'paused')] : [],
      }),
    noteKeysAsked: ({ id, jwksUri }, at, pause) =>
      runner.changeOne([id], { sql: NOTE_KEYS_ASKED, values: [id, jwksUri, at, at - pause + 1, at + pause - 1] }),
    refreshClientKeys: ({ id, jwksUri, keys: before }, keys, askedAt, event) => {
      const now = STORED_CLIENT.stored('keys', keys);
      const expected = STORED_CLIENT.stored('keys', before);
      const write = { sql: REFRESH_KEYS, values: [id, jwksUri, askedAt, now, expected] };
      return event ? runner.act({ touches: [id], event, first: write }) : runner.changeOne([id], write);
    },
    revokeClientGrants: (id, event) => clients.change(id, event, RAISE_EPOCH),
    deleteClient: (id, event) => {
      const { also, rest } = forgettingHandOvers({ kind: 'client', id }, event);
      const forgetting = [{ sql: FORGET_ASSERTIONS, values: [id] }, ...forgettingActivity(id), ...rest];
      return clients.change(id, event, DELETE, [], { also, rest: forgetting });
    },
  };
}
