/** Resource servers. */
import type { AuditEvent } from '../../oauth/audit.ts';
import type { ResourceServer } from '../../oauth/resource-server.ts';
import type { ResourceServerStore } from '../../oauth/store.ts';
import type { Runner } from '../acts.ts';
import { SECRETS } from './secrets.ts';
import { type Stored, Table } from './table.ts';

/** A resource server, as it is stored. */
export const RESOURCE_SERVER = Table.of<ResourceServer>('resource_server', {
  id: 'text',
  name: 'text',
  resource: 'text?',
  scopes: 'json?',
  secrets: SECRETS,
  createdAt: 'time',
});

const SETTINGS = RESOURCE_SERVER.pick('name', 'resource', 'scopes');

const HAS_RESOURCE = 'SELECT 1 FROM resource_server WHERE resource = $1 LIMIT 1';
const LIST = `SELECT ${RESOURCE_SERVER.names} FROM resource_server ORDER BY created_at, id`;
const UPDATE = `UPDATE resource_server SET ${SETTINGS.assignments(2)} WHERE id = $1`;
const REPLACE_SECRETS = 'UPDATE resource_server SET secrets = $2 WHERE id = $1 AND secrets = $3';
const DELETE = 'DELETE FROM resource_server WHERE id = $1';

/** The port's resource servers; how one is found by its id is each store's own. */
export function resourceServerStore(
  runner: Runner,
  find: ResourceServerStore['findResourceServer'],
): ResourceServerStore {
  const change = (id: string, event: AuditEvent, sql: string, values: readonly Stored[]) =>
    runner.act({ touches: [id], event, first: { sql, values } });

  return {
    findResourceServer: find,
    async isResource(uri) {
      return (await runner.select({ sql: HAS_RESOURCE, values: [uri] }, 'all')).length > 0;
    },
    async listResourceServers() {
      return (await runner.select({ sql: LIST, values: [] }, 'all')).map((row) => RESOURCE_SERVER.read(row));
    },
    async registerResourceServer(server, event) {
      await change(server.id, event, RESOURCE_SERVER.insertion, RESOURCE_SERVER.values(server));
    },
    updateResourceServer: (server, event) => change(server.id, event, UPDATE, [server.id, ...SETTINGS.values(server)]),
    replaceResourceServerSecrets: (id, expected, secrets, event) => {
      const values = [secrets, expected].map((some) => RESOURCE_SERVER.stored('secrets', some));
      return change(id, event, REPLACE_SECRETS, [id, ...values]);
    },
    deleteResourceServer: (id, event) => change(id, event, DELETE, [id]),
  };
}
