/** The settings of a resource server, each described once. */
import type { Act } from '../access/rights.ts';
import type { ResourceServerSettings } from '../products-and-apis/resource-server-registry.ts';
import { addressOrNone, flag, type Members, text, texts } from './field.ts';
import { HAND_OVER } from './hand-over-field.ts';
import { readNew, type SettingRow, type Settings, settingRows } from './setting.ts';

/** The settings of a resource server. */
export const RESOURCE_SERVER_SETTINGS: Settings<ResourceServerSettings> = {
  name: {
    field: text,
    label: 'Name',
    group: '',
    help: 'Your name for the API.',
    option: { flag: '--name <name>' },
  },
  resource: {
    field: addressOrNone,
    initial: null,
    none: 'none: accepts tokens that are bound to no resource',
    label: 'Resource',
    group: '',
    help: 'The URI by which apps request the API.',
    option: {
      flag: '--resource <uri>',
      register: 'the URI by which apps request the API; only tokens for this URI are accepted',
      no: 'remove its URI: the API then refuses every token that is bound to a resource',
    },
  },
  acceptsUnbound: {
    field: flag,
    initial: false,
    label: 'Unbound tokens',
    group: '',
    help: 'Also accept tokens that are bound to no resource; such a token works at every API with this option.',
    option: { flag: '--accept-unbound', no: 'accept only tokens for the resource of the API' },
    words: { true: ['accepted'], false: ['refused'] },
  },
  scopes: {
    field: {
      ...texts,
      type: 'a list of names, or null for all scopes',
      schema: { type: ['array', 'null'], items: text.schema },
    },
    initial: null,
    none: 'all',
    label: 'Scopes',
    group: '',
    help: 'The API sees only these scopes, and refuses a token with none of them. Null for all.',
    option: {
      flag: '--scope <name...>',
      register: 'the API sees only these scopes, and refuses a token with none of them',
    },
  },
};

/** A new resource server as a body describes it. `handOver`: no secret now, but an address at which the developer makes it. */
export type NewResourceServer = ResourceServerSettings & { readonly handOver: boolean };

/** The settings of a new resource server. */
export const NEW_RESOURCE_SERVER_SETTINGS: Settings<NewResourceServer> = {
  ...RESOURCE_SERVER_SETTINGS,
  handOver: HAND_OVER,
};

/** Returns the further act that a registration is: of its secret or its address. */
export function actsOfNewResourceServer(members: Members): Act[] {
  const { handOver } = readNew(NEW_RESOURCE_SERVER_SETTINGS, members);
  return [handOver ? 'resource-servers.hand-over' : 'resource-servers.make-secret'];
}

/** Returns the settings for people, as they apply: without a resource it accepts the tokens that are bound to none. */
export function resourceServerRows(server: ResourceServerSettings): SettingRow[] {
  const acceptsUnbound = server.resource === null || server.acceptsUnbound;
  return settingRows(RESOURCE_SERVER_SETTINGS, { ...server, acceptsUnbound });
}
