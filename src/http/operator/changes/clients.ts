/** `POST`, `PATCH` and `DELETE` of apps. */
import type { Client } from '../../../oauth/clients/client.ts';
import { grantsToEnd } from '../../../operator/blast-radius.ts';
import {
  actsOfNewClient,
  actsOfScopes,
  CLIENT_SETTINGS,
  NEW_CLIENT_SETTINGS,
} from '../../../operator/fields/client-fields.ts';
import { findClientJson, registeredClientJson } from '../../../operator/json/client.ts';
import type { Service } from '../../service.ts';
import { tagsKeys } from '../api/etag.ts';
import type { Route } from '../api/route.ts';
import { CLIENT } from '../api/schemas.ts';
import { Changes, isDryRun, type Noun, wouldEnd } from './change.ts';
import { changing } from './described.ts';
import { registeredRoutes } from './registered.ts';
import { CHANGED_CLIENT, GRANTS_TO_END, REGISTERED_CLIENT } from './schemas.ts';

const REVOKE = changing('clients', 'revokeGrantsClient', 'End every grant of an app', {
  ...{ schema: CLIENT, hasTag: true, wouldEnd: GRANTS_TO_END },
});

/** Returns the routes that change apps. */
export function changingClients(service: Service): Route[] {
  const { clients, endpoints, secretUses } = service.operatorApi;
  const changes = new Changes(service);
  const noun = {
    ...{ noun: 'client', words: 'app' },
    find: (id: string) => service.clients.findClient(id),
    json: async (client: Client) => tagsKeys(await findClientJson(client, secretUses), client),
  } as const satisfies Noun<Client>;
  const ends = (id: string) => grantsToEnd(service.grants, { clientId: id });
  return [
    ...registeredRoutes(service, {
      ...{ path: 'clients', title: 'Client', called: 'an app', noun, members: ['client_id', 'client_secret'] },
      ...{ settings: CLIENT_SETTINGS, newSettings: NEW_CLIENT_SETTINGS, actsOfNew: actsOfNewClient },
      ...{ schema: CLIENT, changed: CHANGED_CLIENT, registered: REGISTERED_CLIENT },
      needs: 'Needs `clients.secrets` too if a secret or a one-time address is made.',
      async register({ type, handOver: isHandedOver, ...settings }, actor) {
        const made = await clients.register(type, settings, actor, null, isHandedOver);
        return { row: made.client, secret: made.clientSecret, handOver: made.handOver };
      },
      registeredJson: (client, secret) => registeredClientJson(client, secret, endpoints),
      show: (id) => clients.exact(id),
      update: (id, given, actor, requires) =>
        clients.update(id, given, actor, async ({ scopes }) => {
          for (const act of actsOfScopes(given.scopes, scopes)) await requires(act);
        }),
      rotate: async (id, actor) => (await clients.rotateSecret(id, actor)).clientSecret,
      retire: (id, actor, which) => clients.retireSecret(id, actor, which),
      pausing: {
        pause: ['Refuse all requests of an app until it is resumed', (id, actor) => clients.pause(id, actor)],
        resume: ['End the pause of an app', (id, actor) => clients.resume(id, actor)],
      },
      deleting: {
        ...{ summary: 'Delete an app, with its grants', also: ['clients.revoke-grants'] },
        ...{ wouldEnd: GRANTS_TO_END, ends, run: (id, actor) => clients.delete(id, actor) },
      },
    }),
    {
      ...{ method: 'POST', path: '/clients/:id/revoke-grants', act: 'clients.revoke-grants' },
      ...{ operation: REVOKE, hasTag: true },
      answer: (call) =>
        changes.on(noun, call, async ({ id }, actor) =>
          isDryRun(call) ? wouldEnd(await ends(id)) : noun.json(await clients.revokeGrants(id, actor)),
        ),
    },
  ];
}
