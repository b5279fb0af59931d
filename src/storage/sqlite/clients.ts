/** Clients in SQLite. Lists are JSON, written in one way, so that equal lists are equal texts. */
import type { SQLInputValue } from 'node:sqlite';
import type { Client, PublicKey } from '../../oauth/client.ts';
import type { Scope } from '../../oauth/scope.ts';
import type { ClientStore } from '../../oauth/store.ts';
import { parseSecrets, secretsText } from '../secrets-text.ts';
import { assertionMarking } from './client-assertions.ts';
import type { RowCache } from './row-cache.ts';
import type { Tables } from './tables.ts';

type ClientRow = {
  readonly id: string;
  readonly type: Client['type'];
  readonly name: string;
  readonly redirect_uris: string;
  readonly scopes: string;
  readonly require_pkce: number;
  readonly refresh_overlap: number | null;
  readonly refresh_retry_window: number | null;
  readonly keys: string;
  readonly consent: Client['consent'];
  readonly device_flow: number;
  readonly assertion_audience: Client['assertionAudience'];
  readonly status: Client['status'];
  readonly epoch: number;
  readonly secrets: string;
  readonly created_at: number;
  readonly resumed_at: number | null;
};

const COLUMNS = `id, type, name, redirect_uris, scopes, require_pkce, refresh_overlap, refresh_retry_window,
  keys, consent, device_flow, assertion_audience, status, epoch, secrets, created_at, resumed_at`;

/** Clients as their rows say. */
export function clientCache(tables: Tables): RowCache<Client> {
  const find = tables.one<ClientRow>(`SELECT ${COLUMNS} FROM client WHERE id = ?`);
  return tables.caches.add((id) => {
    const row = find(id);
    return row ? asClient(row) : null;
  });
}

/** The port's clients on these tables. */
export function clientStore(tables: Tables, clients: RowCache<Client>): ClientStore {
  const has = tables.one('SELECT 1 FROM client LIMIT 1');
  const list = tables.all<ClientRow>(`SELECT ${COLUMNS} FROM client ORDER BY created_at, id`);
  const insert = tables.change(
    `INSERT INTO client (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const update = tables.change(
    `UPDATE client SET name = ?, redirect_uris = ?, scopes = ?, require_pkce = ?, refresh_overlap = ?,
       refresh_retry_window = ?, keys = ?, consent = ?, device_flow = ?, assertion_audience = ? WHERE id = ?`,
  );
  const replaceSecrets = tables.change('UPDATE client SET secrets = ? WHERE id = ? AND secrets = ?');
  const setStatus = tables.change(
    'UPDATE client SET status = ?, resumed_at = coalesce(?, resumed_at) WHERE id = ? AND status <> ?',
  );
  const raiseEpoch = tables.change('UPDATE client SET epoch = epoch + 1 WHERE id = ?');
  const remove = tables.change('DELETE FROM client WHERE id = ?');
  const forgetAssertions = tables.change('DELETE FROM client_assertion_total WHERE client_id = ?');

  return {
    async findClient(id) {
      return tables.onDisk([id], clients.find(id));
    },
    async hasClients() {
      return tables.onDisk('all', has() !== undefined);
    },
    async listClients() {
      return tables.onDisk('all', list().map(asClient));
    },
    async registerClient(client, event) {
      const { id, type, status, epoch, secrets, createdAt, resumedAt } = client;
      await tables.act([id], event, () =>
        insert(id, type, ...settings(client), status, epoch, secretsText(secrets), createdAt, resumedAt),
      );
    },
    updateClient: (client, event) => tables.act([client.id], event, () => update(...settings(client), client.id) === 1),
    replaceClientSecrets: (id, expected, secrets, event) =>
      tables.act([id], event, () => replaceSecrets(secretsText(secrets), id, secretsText(expected)) === 1),
    setClientStatus: (id, status, event) =>
      tables.act([id], event, () => setStatus(status, status === 'active' ? event.at : null, id, status) === 1),
    revokeClientGrants: (id, event) => tables.act([id], event, () => raiseEpoch(id) === 1),
    deleteClient: (id, event) =>
      tables.act([id], event, () => {
        forgetAssertions(id);
        return remove(id) === 1;
      }),
    useClientAssertion: assertionMarking(tables),
  };
}

/** What an operator may change, in the order of the columns. */
function settings(client: Client): SQLInputValue[] {
  return [
    client.name,
    JSON.stringify(client.redirectUris),
    JSON.stringify(client.scopes.map(({ name, sentence, optional }) => ({ name, sentence, optional }))),
    client.requirePkce ? 1 : 0,
    client.refreshOverlap,
    client.refreshRetryWindow,
    JSON.stringify(client.keys),
    client.consent,
    client.deviceFlow ? 1 : 0,
    client.assertionAudience,
  ];
}

function asClient(row: ClientRow): Client {
  return {
    id: row.id,
    type: row.type,
    name: row.name,
    redirectUris: JSON.parse(row.redirect_uris) as string[],
    scopes: JSON.parse(row.scopes) as Scope[],
    requirePkce: row.require_pkce === 1,
    refreshOverlap: row.refresh_overlap,
    refreshRetryWindow: row.refresh_retry_window,
    keys: JSON.parse(row.keys) as PublicKey[],
    consent: row.consent,
    deviceFlow: row.device_flow === 1,
    assertionAudience: row.assertion_audience,
    status: row.status,
    epoch: row.epoch,
    secrets: parseSecrets(row.secrets),
    createdAt: row.created_at,
    resumedAt: row.resumed_at,
  };
}
