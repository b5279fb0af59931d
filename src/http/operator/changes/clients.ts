/** `POST`, `PATCH` and `DELETE` of apps. */
import type { Client } from '../../../oauth/clients/client.ts';
import type { Actor } from '../../../oauth/trail/audit.ts';
import { grantsToEnd } from '../../../operator/blast-radius.ts';
import {
  actsOfNewClient,
  actsOfScopes,
  actsOfSettings,
  readClientChanges,
  readNewClient,
} from '../../../operator/fields/client-fields.ts';
import { findClientJson, registeredClientJson } from '../../../operator/json/client.ts';
import { madeHandOverJson } from '../../../operator/json/hand-over.ts';
import { omittedKeysJson } from '../../../operator/json/omitted-keys.ts';
import type { Service } from '../../service.ts';
import { tagsKeys } from '../api/etag.ts';
import type { Route } from '../api/route.ts';
import { CLIENT } from '../api/schemas.ts';
import { bodyOf, Changes, isDryRun, type Noun, takesNothing, wouldEnd } from './change.ts';
import { changing, deletedSchema } from './described.ts';
import { CHANGED_CLIENT, CLIENT_SETTINGS, GRANTS_TO_END, NEW_CLIENT, REGISTERED_CLIENT } from './schemas.ts';
import { SHOWN_BEFORE, secretRoutes } from './secrets.ts';

const REGISTER = changing('clients', 'registerClient', 'Register an app', {
  ...{ schema: REGISTERED_CLIENT, status: 201, hasId: false, takesKey: true },
  body: { members: NEW_CLIENT, required: ['name'] },
  description: 'Needs `clients.secrets` too if a secret or a one-time address is made.',
});
const UPDATE = changing('clients', 'updateClient', 'Change an app (merge patch, RFC 7396)', {
  ...{ schema: CHANGED_CLIENT, hasTag: true },
  patch: CLIENT_SETTINGS,
});
const PAUSE = changing('clients', 'pauseClient', 'Refuse all requests of an app until it is resumed', {
  ...{ schema: CLIENT, hasTag: true },
});
const RESUME = changing('clients', 'resumeClient', 'End the pause of an app', { schema: CLIENT, hasTag: true });
const REVOKE = changing('clients', 'revokeGrantsClient', 'End every grant of an app', {
  ...{ schema: CLIENT, hasTag: true, wouldEnd: GRANTS_TO_END },
});
const DELETE = changing('clients', 'deleteClient', 'Delete an app, with its grants', {
  ...{ schema: deletedSchema(CLIENT), takesIfMatch: true, wouldEnd: GRANTS_TO_END },
});

/** Returns the routes that change apps. */
export function changingClients(service: Service): Route[] {
  const { clients, endpoints, handOvers, secretUses } = service.operatorApi;
  const changes = new Changes(service);
  const noun = {
    ...{ noun: 'client', words: 'app' },
    find: (id: string) => service.clients.findClient(id),
    json: async (client: Client) => tagsKeys(await findClientJson(client, secretUses), client),
  } as const satisfies Noun<Client>;
  const one = (
    method: Route['method'],
    path: string,
    act: Route['act'],
    operation: Route['operation'],
    run: (id: string, actor: Actor) => Promise<Client>,
  ): Route => ({
    ...{ method, path: `/clients/:id${path}`, act, operation, hasTag: true },
    answer: (call) => {
      takesNothing(call);
      return changes.on(noun, call, async ({ id }, actor) => noun.json(await run(id, actor)));
    },
  });
  return [
    {
      ...{ method: 'POST', path: '/clients', act: 'clients.register', operation: REGISTER },
      also: (members) => actsOfNewClient(readNewClient(members)),
      answer: (call) => {
        const { type, settings, handOver } = readNewClient(bodyOf(call));
        const register = async (actor: Actor) => {
          const {
            client,
            clientSecret,
            handOver: made,
          } = await clients.register(type, settings, actor, null, handOver);
          const registered = {
            ...registeredClientJson(client, clientSecret, endpoints),
            ...omittedKeysJson(settings.keys),
          };
          if (!made) return registered;
          return {
            ...registered,
            hand_over: madeHandOverJson(handOvers.addressOf(made, { kind: 'client', row: client })),
          };
        };
        return changes.make(call, register, async (id) => ({
          ...registeredClientJson(await clients.exact(id), null, endpoints),
          ...omittedKeysJson(settings.keys),
          ...(handOver ? { hand_over: SHOWN_BEFORE } : {}),
        }));
      },
    },
    {
      ...{ method: 'PATCH', path: '/clients/:id', act: 'clients.update', operation: UPDATE, hasTag: true },
      also: (members) => actsOfSettings(readClientChanges(members)),
      answer: (call) => {
        const settings = readClientChanges(bodyOf(call));
        return changes.on(noun, call, async (client, actor) => ({
          ...(await noun.json(
            Object.keys(settings).length === 0
              ? client
              : await clients.update(client.id, settings, actor, async ({ scopes }) => {
                  for (const act of actsOfScopes(settings.scopes, scopes)) await call.requires(act);
                }),
          )),
          ...omittedKeysJson(settings.keys),
        }));
      },
    },
    one('POST', '/pause', 'clients.pause', PAUSE, (id, actor) => clients.pause(id, actor)),
    one('POST', '/resume', 'clients.resume', RESUME, (id, actor) => clients.resume(id, actor)),
    {
      ...{ method: 'POST', path: '/clients/:id/revoke-grants', act: 'clients.revoke-grants' },
      ...{ operation: REVOKE, hasTag: true },
      answer: (call) =>
        changes.on(noun, call, async ({ id }, actor) =>
          isDryRun(call)
            ? wouldEnd(await grantsToEnd(service.grants, { clientId: id }))
            : noun.json(await clients.revokeGrants(id, actor)),
        ),
    },
    {
      ...{ method: 'DELETE', path: '/clients/:id', act: 'clients.delete', operation: DELETE },
      also: () => ['clients.revoke-grants'],
      answer: (call) =>
        changes.on(noun, call, async ({ id }, actor) =>
          isDryRun(call)
            ? wouldEnd(await grantsToEnd(service.grants, { clientId: id }))
            : { ...(await noun.json(await clients.delete(id, actor))), status: 'deleted' },
        ),
    },
    ...secretRoutes(service, changes, {
      ...{ path: 'clients', title: 'Client', noun, schema: CLIENT, members: ['client_id', 'client_secret'] },
      rotate: async (id, actor) => (await clients.rotateSecret(id, actor)).clientSecret,
      retire: (id, actor, which) => clients.retireSecret(id, actor, which),
    }),
  ];
}
