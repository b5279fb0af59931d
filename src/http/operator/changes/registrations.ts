/** `POST`, `PUT`, `PATCH` and `DELETE` of APIs, products and scopes. */
import type { IdentityProvider } from '../../../accounts/people/identity-provider.ts';
import type { ResourceServer } from '../../../oauth/clients/resource-server.ts';
import type { ScopeDefinition } from '../../../oauth/grants/scope.ts';
import type { Actor } from '../../../oauth/trail/audit.ts';
import { requireMembers } from '../../../operator/fields/field.ts';
import {
  actsOfNewProvider,
  actsOfProviderChanges,
  readNewProvider,
  readProviderChanges,
} from '../../../operator/fields/identity-provider-fields.ts';
import {
  actsOfNewResourceServer,
  readNewResourceServer,
  readResourceServerChanges,
} from '../../../operator/fields/resource-server-fields.ts';
import { readScopeMeaning } from '../../../operator/fields/scope-fields.ts';
import { madeHandOverJson } from '../../../operator/json/hand-over.ts';
import {
  endedThroughProviderJson,
  findIdentityProviderJson,
  registeredProviderJson,
} from '../../../operator/json/identity-provider.ts';
import { omittedKeysJson } from '../../../operator/json/omitted-keys.ts';
import { findResourceServerJson, registeredResourceServerJson } from '../../../operator/json/resource-server.ts';
import { scopeJson } from '../../../operator/json/scope.ts';
import { membersOf } from '../../provider/requests.ts';
import type { Service } from '../../service.ts';
import { tagsKeys } from '../api/etag.ts';
import { invalid, readTime } from '../api/query.ts';
import type { Call, Route } from '../api/route.ts';
import { IDENTITY_PROVIDER, RESOURCE_SERVER, SCOPE } from '../api/schemas.ts';
import { bodyOf, Changes, isDryRun, type Noun, takesNothing, wouldEnd } from './change.ts';
import { changing, deletedSchema } from './described.ts';
import {
  CHANGED_PROVIDER,
  ENDED_THROUGH_PROVIDER,
  FINDINGS,
  NEW_PROVIDER,
  NEW_RESOURCE_SERVER,
  NOTHING_TO_END,
  PROVIDER_SETTINGS,
  REGISTERED_PROVIDER,
  REGISTERED_RESOURCE_SERVER,
  RESOURCE_SERVER_SETTINGS,
  SCOPE_MEANING,
  THROUGH_PROVIDER_TO_END,
} from './schemas.ts';
import { SHOWN_BEFORE, secretRoutes } from './secrets.ts';

const SERVER = {
  register: changing('resource-servers', 'registerResourceServer', 'Register an API', {
    ...{ schema: REGISTERED_RESOURCE_SERVER, status: 201, hasId: false, takesKey: true },
    body: { members: NEW_RESOURCE_SERVER, required: ['name'] },
    description: 'Needs `resource-servers.secrets` too, for its secret or its one-time address.',
  }),
  update: changing('resource-servers', 'updateResourceServer', 'Change an API (merge patch, RFC 7396)', {
    ...{ schema: RESOURCE_SERVER, hasTag: true },
    patch: RESOURCE_SERVER_SETTINGS,
  }),
  delete: changing('resource-servers', 'deleteResourceServer', 'Delete an API: it can check no token any more', {
    ...{ schema: deletedSchema(RESOURCE_SERVER), takesIfMatch: true, wouldEnd: NOTHING_TO_END },
  }),
};

const PROVIDER = {
  register: changing('identity-providers', 'registerIdentityProvider', 'Register a product', {
    ...{ schema: REGISTERED_PROVIDER, status: 201, hasId: false, takesKey: true },
    body: { members: NEW_PROVIDER, required: ['provider_id', 'name', 'sign_in_url'] },
    description: 'Needs `identity-providers.secrets` too if a secret or a one-time address is made.',
  }),
  update: changing('identity-providers', 'updateIdentityProvider', 'Change a product (merge patch, RFC 7396)', {
    ...{ schema: CHANGED_PROVIDER, hasTag: true },
    patch: PROVIDER_SETTINGS,
  }),
  pause: changing('identity-providers', 'pauseIdentityProvider', 'Let nobody sign in there until it is resumed', {
    ...{ schema: IDENTITY_PROVIDER, hasTag: true },
  }),
  resume: changing('identity-providers', 'resumeIdentityProvider', 'Let people sign in there again', {
    ...{ schema: IDENTITY_PROVIDER, hasTag: true },
  }),
  delete: changing('identity-providers', 'deleteIdentityProvider', 'Delete a product that nobody has an identity at', {
    ...{ schema: deletedSchema(IDENTITY_PROVIDER), takesIfMatch: true, wouldEnd: NOTHING_TO_END },
  }),
  test: changing('identity-providers', 'testIdentityProvider', 'Test the setup of a product', { schema: FINDINGS }),
  endAll: changing(
    'identity-providers',
    'endAllIdentityProvider',
    'End what was given through a product since a time',
    {
      ...{ schema: ENDED_THROUGH_PROVIDER, wouldEnd: THROUGH_PROVIDER_TO_END },
      body: { members: { since: { type: 'string', format: 'date-time' } }, required: ['since'] },
      description:
        'Ends sign-ins on their way, sessions and grants. A call works for up to 20 seconds, also if its connection is lost; `done` says if anything is left.',
    },
  ),
};

const MEANING = {
  put: changing('scopes', 'putScope', 'Define a scope, or replace its meaning', {
    ...{ schema: SCOPE, hasTag: true },
    body: { members: SCOPE_MEANING, required: ['sentences'] },
    description: 'Needs `scopes.trust` too.',
  }),
  delete: changing('scopes', 'deleteScope', 'Delete the meaning of a scope; apps and grants keep the scope', {
    ...{ schema: deletedSchema(SCOPE), takesIfMatch: true, wouldEnd: NOTHING_TO_END },
    description: 'Needs `scopes.trust` too.',
  }),
};

/** Duration of one call that ends many things, and of one that counts them (ms). */
const ENDING_MS = 20_000;
const COUNTING_MS = 2_000;

/** Returns the routes that change APIs. */
export function changingResourceServers(service: Service): Route[] {
  const { resourceServers, endpoints, handOvers, secretUses } = service.operatorApi;
  const changes = new Changes(service);
  const noun = {
    ...{ noun: 'resource_server', words: 'resource server' },
    find: (id: string) => service.resourceServers.findResourceServer(id),
    json: (server: ResourceServer) => findResourceServerJson(server, secretUses),
  } as const satisfies Noun<ResourceServer>;
  return [
    {
      ...{ method: 'POST', path: '/resource-servers', act: 'resource-servers.register', operation: SERVER.register },
      also: (members) => actsOfNewResourceServer(readNewResourceServer(members)),
      answer: (call) => {
        const { settings, handOver } = readNewResourceServer(bodyOf(call));
        const register = async (actor: Actor) => {
          const { resourceServer, secret, handOver: made } = await resourceServers.register(settings, actor, handOver);
          const registered = registeredResourceServerJson(resourceServer, secret, endpoints);
          if (!made) return registered;
          const subject = { kind: 'resource_server', row: resourceServer } as const;
          return { ...registered, hand_over: madeHandOverJson(handOvers.addressOf(made, subject)) };
        };
        return changes.make(call, register, async (id) => ({
          ...registeredResourceServerJson(await resourceServers.show(id), null, endpoints),
          ...(handOver ? { hand_over: SHOWN_BEFORE } : {}),
        }));
      },
    },
    {
      ...{ method: 'PATCH', path: '/resource-servers/:id', act: 'resource-servers.update' },
      ...{ operation: SERVER.update, hasTag: true },
      answer: (call) => {
        const settings = readResourceServerChanges(bodyOf(call));
        return changes.on(noun, call, async (server, actor) =>
          noun.json(
            Object.keys(settings).length === 0 ? server : await resourceServers.update(server.id, settings, actor),
          ),
        );
      },
    },
    {
      ...{ method: 'DELETE', path: '/resource-servers/:id', act: 'resource-servers.delete', operation: SERVER.delete },
      answer: (call) =>
        changes.on(noun, call, async ({ id }, actor) =>
          isDryRun(call)
            ? wouldEnd({ grants: 0 })
            : { ...(await noun.json(await resourceServers.delete(id, actor))), status: 'deleted' },
        ),
    },
    ...secretRoutes(service, changes, {
      ...{ path: 'resource-servers', title: 'ResourceServer', noun, schema: RESOURCE_SERVER },
      members: ['resource_server_id', 'resource_server_secret'],
      rotate: async (id, actor) => (await resourceServers.rotateSecret(id, actor)).secret,
      retire: (id, actor, which) => resourceServers.retireSecret(id, actor, which),
    }),
  ];
}

/** Returns the routes that change products. */
export function changingIdentityProviders(service: Service): Route[] {
  const { identityProviders, endpoints, handOvers, secretUses, store, testProvider } = service.operatorApi;
  const changes = new Changes(service);
  const noun = {
    ...{ noun: 'identity_provider', words: 'identity provider' },
    find: (id: string) => store.findIdentityProvider(id),
    json: async (provider: IdentityProvider) =>
      tagsKeys(await findIdentityProviderJson(provider, secretUses), provider),
  } as const satisfies Noun<IdentityProvider>;
  const simple = (
    act: 'pause' | 'resume',
    operation: Route['operation'],
    run: (id: string, actor: Actor) => Promise<IdentityProvider>,
  ): Route => ({
    ...{ method: 'POST', path: `/identity-providers/:id/${act}`, act: `identity-providers.${act}`, operation },
    hasTag: true,
    answer: (call) => {
      takesNothing(call);
      return changes.on(noun, call, async ({ id }, actor) => noun.json(await run(id, actor)));
    },
  });
  return [
    {
      ...{ method: 'POST', path: '/identity-providers', act: 'identity-providers.register' },
      operation: PROVIDER.register,
      also: (members) => actsOfNewProvider(readNewProvider(members)),
      answer: (call) => {
        const members = bodyOf(call);
        const { settings, handOver } = readNewProvider(members);
        const omitted = omittedKeysJson('keys' in members ? settings.keys : undefined);
        const register = async (actor: Actor) => {
          const { provider, secret, handOver: made } = await identityProviders.register(settings, actor, handOver);
          const registered = { ...registeredProviderJson(provider, secret, endpoints), ...omitted };
          if (!made) return registered;
          const subject = { kind: 'identity_provider', row: provider } as const;
          return { ...registered, hand_over: madeHandOverJson(handOvers.addressOf(made, subject)) };
        };
        return changes.make(call, register, async (id) => ({
          ...registeredProviderJson(await identityProviders.show(id), null, endpoints),
          ...omitted,
          ...(handOver ? { hand_over: SHOWN_BEFORE } : {}),
        }));
      },
    },
    {
      ...{ method: 'PATCH', path: '/identity-providers/:id', act: 'identity-providers.update' },
      ...{ operation: PROVIDER.update, hasTag: true },
      also: (members) => actsOfProviderChanges(readProviderChanges(members)),
      answer: (call) => {
        const settings = readProviderChanges(bodyOf(call));
        return changes.on(noun, call, async (provider, actor) => ({
          ...(await noun.json(
            Object.keys(settings).length === 0
              ? provider
              : await identityProviders.update(provider.id, settings, actor),
          )),
          ...omittedKeysJson(settings.keys),
        }));
      },
    },
    simple('pause', PROVIDER.pause, (id, actor) => identityProviders.pause(id, actor)),
    simple('resume', PROVIDER.resume, (id, actor) => identityProviders.resume(id, actor)),
    {
      ...{ method: 'DELETE', path: '/identity-providers/:id', act: 'identity-providers.delete' },
      operation: PROVIDER.delete,
      answer: (call) =>
        changes.on(noun, call, async ({ id }, actor) =>
          isDryRun(call)
            ? wouldEnd({ grants: 0 })
            : { ...(await noun.json(await identityProviders.delete(id, actor))), status: 'deleted' },
        ),
    },
    {
      ...{ method: 'POST', path: '/identity-providers/:id/test', act: 'identity-providers.test' },
      operation: PROVIDER.test,
      answer: (call) => {
        takesNothing(call);
        return changes.on(noun, call, async ({ id }) => {
          const findings = await testProvider(id);
          return { ok: findings.every(({ ok }) => ok), findings };
        });
      },
    },
    {
      ...{ method: 'POST', path: '/identity-providers/:id/end-all', act: 'identity-providers.end-all' },
      operation: PROVIDER.endAll,
      answer: (call) => {
        const isDry = isDryRun(call, 'with a body');
        const since = sinceIn(call);
        return changes.on(noun, call, async (provider, actor) => {
          const now = service.now();
          if (isDry) {
            const found = await identityProviders.countThrough(provider, since, now + COUNTING_MS);
            const { signIns, sessions, grants, isAll } = found;
            return wouldEnd({ sign_ins: signIns, sessions, grants, more: !isAll });
          }
          const { ended } = await identityProviders.endAll(provider.id, since, actor, undefined, now + ENDING_MS);
          return { ...endedThroughProviderJson(provider, since, ended), done: ended.isAll };
        });
      },
    },
    ...secretRoutes(service, changes, {
      ...{ path: 'identity-providers', title: 'IdentityProvider', noun, schema: IDENTITY_PROVIDER },
      members: ['provider_id', 'provider_secret'],
      rotate: async (id, actor) => (await identityProviders.rotateSecret(id, actor)).secret,
      retire: (id, actor, which) => identityProviders.retireSecret(id, actor, which),
    }),
  ];
}

function sinceIn({ request }: Call): number {
  const members = membersOf(request);
  requireMembers(members, ['since']);
  const other = Object.keys(members).find((name) => name !== 'since');
  if (other !== undefined) throw invalid(other, 'cannot be set here: send since');
  const { since } = members;
  return readTime('since', typeof since === 'string' ? since : '');
}

/** Returns the routes that change scopes. */
export function changingScopes(service: Service): Route[] {
  const { scopes } = service.operatorApi;
  const changes = new Changes(service);
  const noun = {
    ...{ noun: 'scope', words: 'scope' },
    find: (name: string) => scopes.find(name),
    json: async (scope: ScopeDefinition) => scopeJson(scope),
  } as const satisfies Noun<ScopeDefinition>;
  return [
    {
      ...{ method: 'PUT', path: '/scopes/:id', act: 'scopes.define', operation: MEANING.put, hasTag: true },
      also: () => ['scopes.set-sentences'],
      answer: async (call) => {
        const meaning = readScopeMeaning(bodyOf(call));
        const put = async (actor: Actor) => scopeJson(await scopes.put(call.id, meaning, actor));
        const isConditional = call.request.headers['if-match'] !== undefined;
        return isConditional ? changes.on(noun, call, (_, actor) => put(actor)) : put(changes.actor(call));
      },
    },
    {
      ...{ method: 'DELETE', path: '/scopes/:id', act: 'scopes.delete', operation: MEANING.delete },
      also: () => ['scopes.set-sentences'],
      answer: (call) =>
        changes.on(noun, call, async ({ name }, actor) =>
          isDryRun(call)
            ? wouldEnd({ grants: 0 })
            : { ...scopeJson(await scopes.delete(name, actor)), status: 'deleted' },
        ),
    },
  ];
}
