/** Resource servers. */
import type { ResourceServer } from '../../../oauth/resource-servers/resource-server.ts';
import type { ResourceServerStore } from '../../../oauth/resource-servers/resource-server-store.ts';
import type { Runner, Search } from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';
import { forgettingHandOvers } from './hand-over-rows.ts';
import { registeredStore } from './registered-with-secrets.ts';
import { SECRETS } from './stored-secrets.ts';

/** A stored resource server. */
export const RESOURCE_SERVER = Table.of<ResourceServer>('resource_server', {
  id: 'text',
  name: 'text',
  resource: nullable('text'),
  acceptsUnbound: 'boolean',
  scopes: nullable('json'),
  secrets: SECRETS,
  createdAt: 'time',
});

const FIND: Search<ResourceServer> = {
  sql: `SELECT ${RESOURCE_SERVER.names} FROM resource_server WHERE id = $1`,
  key: 'text',
  read: (row) => RESOURCE_SERVER.read(row),
  restsOn: ({ id }) => [id],
};

const SETTINGS = RESOURCE_SERVER.pick('name', 'resource', 'acceptsUnbound', 'scopes');

const RESOURCES = 'SELECT DISTINCT resource FROM resource_server WHERE resource IS NOT NULL';
const DELETE = 'DELETE FROM resource_server WHERE id = $1';

/** Implements the port for resource servers. */
export function resourceServerStore(runner: Runner): ResourceServerStore {
  const servers = registeredStore(
    runner,
    'resource_server',
    RESOURCE_SERVER,
    SETTINGS,
    RESOURCE_SERVER.pick('secrets'),
  );
  return {
    findResourceServer: runner.search(FIND),
    findResourceServerBySecret: servers.findBySecret,
    async listResources() {
      const rows = await runner.select({ sql: RESOURCES, values: [] }, 'all');
      return rows.map(([resource]) => String(resource));
    },
    listResourceServers: servers.list,
    registerResourceServer: servers.register,
    updateResourceServer: servers.update,
    replaceResourceServerSecrets: servers.replaceSecrets,
    deleteResourceServer: (id, event) =>
      servers.change(id, event, DELETE, [], forgettingHandOvers({ kind: 'resource_server', id }, event)),
  };
}
