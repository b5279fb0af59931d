/** Clients in PostgreSQL. Lists are JSON as text, written in one way, so that equal lists are equal texts. */
import { randomUUID } from 'node:crypto';
import type { Client, PublicKey } from '../../oauth/client.ts';
import type { Scope } from '../../oauth/scope.ts';
import type { ClientStore } from '../../oauth/store.ts';
import { parseSecrets, secretsText } from '../secrets-text.ts';
import { Batches, searchByKey } from './batches.ts';
import { json } from './connection.ts';
import type { Database } from './database.ts';

type ClientRow = {
  readonly id: string;
  readonly type: Client['type'];
  readonly name: string;
  readonly redirect_uris: string;
  readonly scopes: string;
  readonly require_pkce: boolean;
  readonly refresh_overlap: number | null;
  readonly refresh_retry_window: number | null;
  readonly keys: string;
  readonly consent: Client['consent'];
  readonly device_flow: boolean;
  readonly status: Client['status'];
  readonly epoch: number;
  readonly secrets: string;
  readonly created_at: number;
};

const COLUMNS = `id, name, redirect_uris, scopes, require_pkce, refresh_overlap, refresh_retry_window,
  keys, consent, device_flow, type, status, epoch, secrets, created_at`;

const FIND = `
  SELECT place, ${COLUMNS} FROM unnest($1::text[]) WITH ORDINALITY AS asked (key, place) JOIN client ON id = key`;

const INSERT = `
  INSERT INTO client (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`;

const UPDATE = `
  UPDATE client SET name = $2, redirect_uris = $3, scopes = $4, require_pkce = $5, refresh_overlap = $6,
    refresh_retry_window = $7, keys = $8, consent = $9, device_flow = $10 WHERE id = $1`;

/** Who comes again with the attempt that made a mark, made it. */
const USE_ASSERTIONS = `
  INSERT INTO client_assertion AS used (digest, expires_at, attempt)
  SELECT * FROM json_to_recordset($1) AS asked (digest bytea, expires_at bigint, attempt uuid)
  ON CONFLICT (digest) DO UPDATE SET attempt = excluded.attempt WHERE used.attempt = excluded.attempt
  RETURNING encode(digest, 'hex') AS digest`;

/** The port's clients. */
export function clientStore(database: Database): ClientStore {
  const find = searchByKey<ClientRow & { place: number }, Client>(database.reads, FIND, asClient);
  const assertions = new Batches<{ digest: string; expires_at: number; attempt: string }, boolean>({
    connections: database.writes,
    keyOf: ({ digest }) => digest,
    async send(connection, asked) {
      const rows = asked.map((row) => ({ ...row, digest: `\\x${row.digest}` }));
      const used = await connection.rows<{ digest: string }>(USE_ASSERTIONS, [json(rows)]);
      const digests = new Set(used.map(({ digest }) => digest));
      return asked.map(({ digest }) => digests.has(digest));
    },
  });

  return {
    findClient: find,
    async listClients() {
      return (await database.rows<ClientRow>(`SELECT ${COLUMNS} FROM client ORDER BY created_at, id`)).map(asClient);
    },
    async registerClient(client, event) {
      const { type, status, epoch, secrets, createdAt } = client;
      const row = [...settings(client), type, status, epoch, secretsText(secrets), createdAt];
      await database.act(event, (connection) => connection.change(INSERT, row));
    },
    updateClient: (client, event) =>
      database.act(event, async (connection) => (await connection.change(UPDATE, settings(client))) === 1),
    replaceClientSecrets: (id, expected, secrets, event) =>
      database.act(event, async (connection) => {
        const replace = 'UPDATE client SET secrets = $1 WHERE id = $2 AND secrets = $3';
        return (await connection.change(replace, [secretsText(secrets), id, secretsText(expected)])) === 1;
      }),
    setClientStatus: (id, status, event) =>
      database.act(event, async (connection) => {
        const set = 'UPDATE client SET status = $2 WHERE id = $1 AND status <> $2';
        return (await connection.change(set, [id, status])) === 1;
      }),
    revokeClientGrants: (id, event) =>
      database.act(event, async (connection) => {
        return (await connection.change('UPDATE client SET epoch = epoch + 1 WHERE id = $1', [id])) === 1;
      }),
    deleteClient: (id, event) =>
      database.act(
        event,
        async (connection) => (await connection.change('DELETE FROM client WHERE id = $1', [id])) === 1,
      ),
    useClientAssertion: ({ digest, expiresAt }) =>
      assertions.add({ digest: digest.toString('hex'), expires_at: expiresAt, attempt: randomUUID() }),
  };
}

/** The id and what an operator may change, in the order of the columns. */
function settings(client: Client): unknown[] {
  return [
    client.id,
    client.name,
    JSON.stringify(client.redirectUris),
    JSON.stringify(client.scopes.map(({ name, sentence, optional }) => ({ name, sentence, optional }))),
    client.requirePkce,
    client.refreshOverlap,
    client.refreshRetryWindow,
    JSON.stringify(client.keys),
    client.consent,
    client.deviceFlow,
  ];
}

function asClient(row: ClientRow): Client {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    scopes: JSON.parse(row.scopes) as Scope[],
    requirePkce: row.require_pkce,
    refreshOverlap: row.refresh_overlap,
    refreshRetryWindow: row.refresh_retry_window,
    keys: JSON.parse(row.keys) as PublicKey[],
    consent: row.consent,
    deviceFlow: row.device_flow,
    status: row.status,
    epoch: row.epoch,
    secrets: parseSecrets(row.secrets),
    createdAt: row.created_at,
  };
}
