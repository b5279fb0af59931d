/** `POST`, `PATCH` and `DELETE` of apps. */
import {
  actsOfNewClient,
  actsOfScopes,
  CLIENT_SETTINGS,
  NEW_CLIENT_SETTINGS,
} from '../../../operator/fields/client-fields.ts';
import { registeredClientJson } from '../../../operator/json/client.ts';
import { grantsToEnd } from '../../../operator/lists/blast-radius.ts';
import type { Service } from '../../service/service.ts';
import { nounsOf } from '../api/nouns.ts';
import { type Route, route } from '../api/route.ts';
import { CLIENT } from '../api/schemas.ts';
import { Changes, isDryRun, wouldEnd } from './change.ts';
import { changing } from './described-changes.ts';
import { registeredRoutes } from './registered-routes.ts';
import { CHANGED_CLIENT, GRANTS_TO_END, REGISTERED_CLIENT } from './schemas.ts';

const REVOKE = changing('clients', 'revokeGrantsClient', 'End every grant of an app', {
  schema: CLIENT,
  hasTag: true,
  wouldEnd: GRANTS_TO_END,
});

/** Returns the routes that change apps. */
export function changingClients(service: Service): Route[] {
  const { clients, endpoints } = service.operatorApi;
  const changes = new Changes(service);
  const { client: noun } = nounsOf(service);
  const ends = (id: string) => grantsToEnd(service.grants, { clientId: id });
  return [
    ...registeredRoutes(service, {
      path: 'clients',
      title: 'Client',
      called: 'an app',
      noun,
      members: ['client_id', 'client_secret'],
      settings: CLIENT_SETTINGS,
      newSettings: NEW_CLIENT_SETTINGS,
      actsOfNew: actsOfNewClient,
      schema: CLIENT,
      changed: CHANGED_CLIENT,
      registered: REGISTERED_CLIENT,
      needs: 'Needs `clients.secrets` too if a secret or a one-time address is made.',
      registry: clients,
      register: ({ type, handOver, ...settings }, actor) => clients.register(type, settings, actor, null, handOver),
      registeredJson: (client, secret) => registeredClientJson(client, secret, endpoints),
      async permit({ scopes }, given, { requires }) {
        for (const act of actsOfScopes(given.scopes, scopes)) await requires(act);
      },
      pausing: {
        registry: clients,
        pause: 'Refuse all requests of an app until it is resumed',
        resume: 'End the pause of an app',
      },
      deleting: {
        summary: 'Delete an app, with its grants',
        also: ['clients.revoke-grants'],
        wouldEnd: GRANTS_TO_END,
        ends,
      },
    }),
    route('POST', '/clients/:id/revoke-grants', 'clients.revoke-grants', REVOKE, (call) =>
      changes.on(noun, call, async ({ id }, actor) =>
        isDryRun(call) ? wouldEnd(await ends(id)) : noun.json(await clients.revokeGrants(id, actor)),
      ),
    ),
  ];
}
