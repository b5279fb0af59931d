/** Clients in PostgreSQL. Lists are JSON as text, written in one way, so that equal lists are equal texts. */
import type { Client } from '../../oauth/client.ts';
import type { ClientStore } from '../../oauth/store.ts';
import { secretsText } from '../secrets-text.ts';
import { assertionMarking } from './client-assertions.ts';
import type { Database } from './database.ts';
import { asClient, CLIENT_COLUMNS, type ClientRow, type KnownClients } from './known-clients.ts';

const INSERT = `
  INSERT INTO client (${CLIENT_COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`;

const UPDATE = `
  UPDATE client SET name = $2, redirect_uris = $3, scopes = $4, require_pkce = $5, refresh_overlap = $6,
    refresh_retry_window = $7, keys = $8, consent = $9, device_flow = $10, assertion_audience = $11 WHERE id = $1`;

/** The port's clients. */
export function clientStore(database: Database, known: KnownClients): ClientStore {
  return {
    findClient: (id) => known.find(id),
    async hasClients() {
      return (await database.one('SELECT 1 FROM client LIMIT 1')) !== undefined;
    },
    async listClients() {
      return (await database.rows<ClientRow>(`SELECT ${CLIENT_COLUMNS} FROM client ORDER BY created_at, id`)).map(
        asClient,
      );
    },
    async registerClient(client, event) {
      const { type, status, epoch, secrets, createdAt, resumedAt } = client;
      const row = [...settings(client), type, status, epoch, secretsText(secrets), createdAt, resumedAt];
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
        const set =
          'UPDATE client SET status = $2, resumed_at = coalesce($3, resumed_at) WHERE id = $1 AND status <> $2';
        return (await connection.change(set, [id, status, status === 'active' ? event.at : null])) === 1;
      }),
    revokeClientGrants: (id, event) =>
      database.act(event, async (connection) => {
        return (await connection.change('UPDATE client SET epoch = epoch + 1 WHERE id = $1', [id])) === 1;
      }),
    deleteClient: (id, event) =>
      database.act(event, async (connection) => {
        const isGone = (await connection.change('DELETE FROM client WHERE id = $1', [id])) === 1;
        await connection.change('DELETE FROM client_assertion_total WHERE client_id = $1', [id]);
        return isGone;
      }),
    useClientAssertion: assertionMarking(database),
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
    client.assertionAudience,
  ];
}
