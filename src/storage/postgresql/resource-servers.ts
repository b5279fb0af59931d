/** Resource servers in PostgreSQL. */
import type { ResourceServer } from '../../oauth/resource-server.ts';
import type { ResourceServerStore } from '../../oauth/store.ts';
import { parseSecrets, secretsText } from '../secrets-text.ts';
import { searchByKey } from './batches.ts';
import type { Database } from './database.ts';

type ResourceServerRow = {
  readonly id: string;
  readonly name: string;
  readonly resource: string | null;
  readonly scopes: string | null;
  readonly secrets: string;
  readonly created_at: number;
};

const COLUMNS = 'id, name, resource, scopes, secrets, created_at';

const FIND = `
  SELECT place, ${COLUMNS}
  FROM unnest($1::text[]) WITH ORDINALITY AS asked (key, place) JOIN resource_server ON id = key`;

/** The port's resource servers. */
export function resourceServerStore(database: Database): ResourceServerStore {
  const change = (event: Parameters<ResourceServerStore['registerResourceServer']>[1], sql: string, row: unknown[]) =>
    database.act(event, async (connection) => (await connection.change(sql, row)) === 1);

  return {
    findResourceServer: searchByKey<ResourceServerRow & { place: number }, ResourceServer>(
      database.reads,
      FIND,
      asResourceServer,
    ),
    async isResource(uri) {
      return (await database.one('SELECT id FROM resource_server WHERE resource = $1 LIMIT 1', [uri])) !== undefined;
    },
    async listResourceServers() {
      const list = `SELECT ${COLUMNS} FROM resource_server ORDER BY created_at, id`;
      return (await database.rows<ResourceServerRow>(list)).map(asResourceServer);
    },
    async registerResourceServer({ id, name, resource, scopes, secrets, createdAt }, event) {
      const insert = `INSERT INTO resource_server (${COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6)`;
      await change(event, insert, [id, name, resource, scopesText(scopes), secretsText(secrets), createdAt]);
    },
    updateResourceServer: ({ id, name, resource, scopes }, event) => {
      const update = 'UPDATE resource_server SET name = $2, resource = $3, scopes = $4 WHERE id = $1';
      return change(event, update, [id, name, resource, scopesText(scopes)]);
    },
    replaceResourceServerSecrets: (id, expected, secrets, event) => {
      const replace = 'UPDATE resource_server SET secrets = $1 WHERE id = $2 AND secrets = $3';
      return change(event, replace, [secretsText(secrets), id, secretsText(expected)]);
    },
    deleteResourceServer: (id, event) => change(event, 'DELETE FROM resource_server WHERE id = $1', [id]),
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
