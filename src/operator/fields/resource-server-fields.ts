/** The settings of a resource server in JSON, for registering and changing it over HTTP. */
import type { Act } from '../access/rights.ts';
import type { NewResourceServerSettings, ResourceServerSettings } from '../resource-server-registry.ts';
import { type Fields, flag, type Members, readFields, requireMembers, text, textOrNone, texts } from './field.ts';

const RESOURCE_SERVER_FIELDS: Fields<ResourceServerSettings> = {
  name: text,
  resource: textOrNone,
  acceptsUnbound: flag(false),
  scopes: { type: 'a list of names, or null for all scopes', read: texts.read, none: null },
};

/** A new resource server as a body describes it. `handOver`: no secret now, but an address at which the developer makes it. */
export type NewResourceServer = { readonly settings: NewResourceServerSettings; readonly handOver: boolean };

/** Reads a new resource server. Throws `OperatorError`. */
export function readNewResourceServer(members: Members): NewResourceServer {
  requireMembers(members, ['name']);
  const fields = { ...RESOURCE_SERVER_FIELDS, handOver: flag(false) };
  const { handOver = false, name = '', resource = null, scopes = null, ...more } = readFields(fields, members);
  return { settings: { name, resource, scopes, ...more }, handOver };
}

/** Returns the further act that a registration is: of its secret or its address. */
export function actsOfNewResourceServer({ handOver }: NewResourceServer): Act[] {
  return [handOver ? 'resource-servers.hand-over' : 'resource-servers.make-secret'];
}

/** Reads the settings that a merge patch changes (RFC 7396). Throws `OperatorError`. */
export function readResourceServerChanges(members: Members): Partial<ResourceServerSettings> {
  return readFields(RESOURCE_SERVER_FIELDS, members);
}
