/** Resource servers in SQLite. */
import type { ResourceServer } from '../../oauth/resource-server.ts';
import type { ResourceServerStore } from '../../oauth/store.ts';
import { parseSecrets, secretsText } from '../secrets-text.ts';
import type { Tables } from './tables.ts';

type ResourceServerRow = {
  readonly id: string;
  readonly name: string;
  readonly resource: string | null;
  readonly scopes: string | null;
  readonly secrets: string;
  readonly created_at: number;
};

const COLUMNS = 'id, name, resource, scopes, secrets, created_at';

/** The port's resource servers on these tables. */
export function resourceServerStore(tables: Tables): ResourceServerStore {
  const find = tables.one<ResourceServerRow>(`SELECT ${COLUMNS} FROM resource_server WHERE id = ?`);
  const findResource = tables.one<{ id: string }>('SELECT id FROM resource_server WHERE resource = ? LIMIT 1');
  const list = tables.all<ResourceServerRow>(`SELECT ${COLUMNS} FROM resource_server ORDER BY created_at, id`);
  const insert = tables.change(`INSERT INTO resource_server (${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)`);
  const update = tables.change('UPDATE resource_server SET name = ?, resource = ?, scopes = ? WHERE id = ?');
  const replaceSecrets = tables.change('UPDATE resource_server SET secrets = ? WHERE id = ? AND secrets = ?');
  const remove = tables.change('DELETE FROM resource_server WHERE id = ?');
  const servers = tables.caches.add((id) => {
    const row = find(id);
    return row ? asResourceServer(row) : null;
  });

  return {
    async findResourceServer(id) {
      return tables.onDisk([id], servers.find(id));
    },
    async isResource(uri) {
      return tables.onDisk('all', findResource(uri) !== undefined);
    },
    async listResourceServers() {
      return tables.onDisk('all', list().map(asResourceServer));
    },
    async registerResourceServer({ id, name, resource, scopes, secrets, createdAt }, event) {
      await tables.act([id], event, () =>
        insert(id, name, resource, scopesText(scopes), secretsText(secrets), createdAt),
      );
    },
    updateResourceServer: ({ id, name, resource, scopes }, event) =>
      tables.act([id], event, () => update(name, resource, scopesText(scopes), id) === 1),
    replaceResourceServerSecrets: (id, expected, secrets, event) =>
      tables.act([id], event, () => replaceSecrets(secretsText(secrets), id, secretsText(expected)) === 1),
    deleteResourceServer: (id, event) => tables.act([id], event, () => remove(id) === 1),
  };
}

function scopesText(scopes: ResourceServer['scopes']): string | null {
  return scopes && JSON.stringify(scopes);
}

function asResourceServer(row: ResourceServerRow): ResourceServer {
  return {
    id: row.id,
    name: row.name,
    resource: row.resource,
    scopes: row.scopes === null ? null : (JSON.parse(row.scopes) as string[]),
    secrets: parseSecrets(row.secrets),
    createdAt: row.created_at,
  };
}
