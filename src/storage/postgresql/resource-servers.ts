/** How resource servers are found in PostgreSQL: those that are asked for together, in one statement. */
import type { ResourceServer } from '../../oauth/clients/resource-server.ts';
import { RESOURCE_SERVER } from '../tables/resource-servers.ts';
import { searchByKey } from './batches.ts';
import type { Connections } from './connections.ts';

const FIND = `
  SELECT ${RESOURCE_SERVER.selected}, place
  FROM unnest($1::text[]) WITH ORDINALITY AS asked (key, place) JOIN resource_server ON id = key`;

/** Finds resource servers by their ids. */
export function resourceServerSearch(reads: Connections): (id: string) => Promise<ResourceServer | null> {
  return searchByKey(reads, FIND, (row) => RESOURCE_SERVER.read(row));
}
