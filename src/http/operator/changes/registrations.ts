import type { Actor } from '../../../oauth/trail/audit.ts';
import {
  actsOfNewProvider,
  NEW_PROVIDER_SETTINGS,
  PROVIDER_SETTINGS,
} from '../../../operator/fields/identity-provider-fields.ts';
import {
  actsOfNewResourceServer,
  NEW_RESOURCE_SERVER_SETTINGS,
  RESOURCE_SERVER_SETTINGS,
} from '../../../operator/fields/resource-server-fields.ts';
import { SCOPE_MEANING } from '../../../operator/fields/scope-fields.ts';
import { readNew, requiredMembers, requireMembers } from '../../../operator/fields/setting.ts';
import { endedThroughProviderJson, registeredProviderJson } from '../../../operator/json/identity-provider.ts';
import { registeredResourceServerJson } from '../../../operator/json/resource-server.ts';
import { scopeJson } from '../../../operator/json/scope.ts';
import { membersOf } from '../../provider/requests.ts';
import type { Service } from '../../service/service.ts';
import { nounsOf } from '../api/nouns.ts';
import { invalidParameter, readTime } from '../api/query.ts';
import { type Call, type Route, route } from '../api/route.ts';
import { IDENTITY_PROVIDER, RESOURCE_SERVER, SCOPE } from '../api/schemas.ts';
import { patchedSettings } from '../api/setting-schemas.ts';
import { bodyOf, Changes, isDryRun, takesNothing, wouldEnd } from './change.ts';
import { changing, deletedSchema } from './described-changes.ts';
import { registeredRoutes } from './registered-routes.ts';
import {
  CHANGED_PROVIDER,
  ENDED_THROUGH_PROVIDER,
  FINDINGS,
  NOTHING_TO_END,
  REGISTERED_PROVIDER,
  REGISTERED_RESOURCE_SERVER,
  THROUGH_PROVIDER_TO_END,
} from './schemas.ts';

const TEST = changing('identity-providers', 'testIdentityProvider', 'Test the setup of a product', {
  schema: FINDINGS,
});
const END_ALL = changing(
  'identity-providers',
  'endAllIdentityProvider',
  'End what was given through a product since a time',
  {
    schema: ENDED_THROUGH_PROVIDER,
    wouldEnd: THROUGH_PROVIDER_TO_END,
    body: { members: { since: { type: 'string', format: 'date-time' } }, required: ['since'] },
    description:
      'Ends sign-ins on their way, sessions and grants. A call works for up to 20 seconds, also if its connection is lost; `done` says if anything is left.',
  },
);

const MEANING = {
  put: changing('scopes', 'putScope', 'Define a scope, or replace its meaning', {
    schema: SCOPE,
    hasTag: true,
    body: { members: patchedSettings(SCOPE_MEANING), required: requiredMembers(SCOPE_MEANING) },
    description: 'Needs `scopes.trust` too.',
  }),
  delete: changing('scopes', 'deleteScope', 'Delete the meaning of a scope; apps and grants keep the scope', {
    schema: deletedSchema(SCOPE),
    takesIfMatch: true,
    wouldEnd: NOTHING_TO_END,
    description: 'Needs `scopes.trust` too.',
  }),
};

/** Deleting what ends no grant. */
const ENDS_NOTHING = { also: [], wouldEnd: NOTHING_TO_END, ends: async () => ({ grants: 0 }) };

/** Duration of one call that ends many things, and of one that counts them (ms). */
const ENDING_MS = 20_000;
const COUNTING_MS = 2_000;

/** Returns the routes that change APIs. */
export function changingResourceServers(service: Service): Route[] {
  const { resourceServers: registry, endpoints } = service.operatorApi;
  const { resourceServer: noun } = nounsOf(service);
  return registeredRoutes(service, {
    path: 'resource-servers',
    title: 'ResourceServer',
    called: 'an API',
    noun,
    members: ['resource_server_id', 'resource_server_secret'],
    actsOfNew: actsOfNewResourceServer,
    settings: RESOURCE_SERVER_SETTINGS,
    newSettings: NEW_RESOURCE_SERVER_SETTINGS,
    schema: RESOURCE_SERVER,
    changed: RESOURCE_SERVER,
    registered: REGISTERED_RESOURCE_SERVER,
    needs: 'Needs `resource-servers.secrets` too, for its secret or its one-time address.',
    registry,
    register: ({ handOver, ...settings }, actor) => registry.register(settings, actor, handOver),
    registeredJson: (server, secret) => registeredResourceServerJson(server, secret, endpoints),
    pausing: null,
    deleting: { ...ENDS_NOTHING, summary: 'Delete an API: it can check no token any more' },
  });
}

/** Returns the routes that change products. */
export function changingIdentityProviders(service: Service): Route[] {
  const { identityProviders: registry, endpoints, testProvider } = service.operatorApi;
  const changes = new Changes(service);
  const { identityProvider: noun } = nounsOf(service);
  return [
    ...registeredRoutes(service, {
      path: 'identity-providers',
      title: 'IdentityProvider',
      called: 'a product',
      noun,
      members: ['provider_id', 'provider_secret'],
      actsOfNew: actsOfNewProvider,
      settings: PROVIDER_SETTINGS,
      newSettings: NEW_PROVIDER_SETTINGS,
      schema: IDENTITY_PROVIDER,
      changed: CHANGED_PROVIDER,
      registered: REGISTERED_PROVIDER,
      needs: 'Needs `identity-providers.secrets` too if a secret or a one-time address is made.',
      registry,
      register: ({ handOver, ...settings }, actor) => registry.register(settings, actor, handOver),
      registeredJson: (provider, secret) => registeredProviderJson(provider, secret, endpoints),
      pausing: {
        registry,
        pause: 'Let nobody sign in there until it is resumed',
        resume: 'Let people sign in there again',
      },
      deleting: { ...ENDS_NOTHING, summary: 'Delete a product that nobody has an identity at' },
    }),
    route('POST', '/identity-providers/:id/test', 'identity-providers.test', TEST, (call) => {
      takesNothing(call);
      return changes.on(noun, call, async ({ id }) => {
        const findings = await testProvider(id);
        return { ok: findings.every(({ ok }) => ok), findings };
      });
    }),
    route('POST', '/identity-providers/:id/end-all', 'identity-providers.end-all', END_ALL, (call) => {
      const isDry = isDryRun(call, 'with a body');
      const since = sinceIn(call);
      return changes.on(noun, call, async (provider, actor) => {
        const now = service.now();
        if (isDry) {
          const found = await registry.countThrough(provider, since, now + COUNTING_MS);
          const { signIns, sessions, grants, isAll } = found;
          return wouldEnd({ sign_ins: signIns, sessions, grants, more: !isAll });
        }
        const { ended } = await registry.endAll(provider.id, since, actor, undefined, now + ENDING_MS);
        return { ...endedThroughProviderJson(provider, since, ended), done: ended.isAll };
      });
    }),
  ];
}

function sinceIn({ request }: Call): number {
  const members = membersOf(request);
  requireMembers(members, ['since']);
  const other = Object.keys(members).find((name) => name !== 'since');
  if (other !== undefined) throw invalidParameter(other, 'cannot be set here: send since');
  const { since } = members;
  return readTime('since', typeof since === 'string' ? since : '');
}

/** Returns the routes that change scopes. */
export function changingScopes(service: Service): Route[] {
  const { scopes } = service.operatorApi;
  const changes = new Changes(service);
  const { scope: noun } = nounsOf(service);
  return [
    {
      ...route('PUT', '/scopes/:id', 'scopes.define', MEANING.put, async (call) => {
        const meaning = readNew(SCOPE_MEANING, bodyOf(call));
        const put = async (actor: Actor) => scopeJson(await scopes.put(call.id, meaning, actor));
        const isConditional = call.request.headers['if-match'] !== undefined;
        return isConditional ? changes.on(noun, call, (_, actor) => put(actor)) : put(changes.actor(call));
      }),
      also: () => ['scopes.set-sentences'],
    },
    {
      ...route('DELETE', '/scopes/:id', 'scopes.delete', MEANING.delete, (call) =>
        changes.on(noun, call, async ({ name }, actor) =>
          isDryRun(call)
            ? wouldEnd({ grants: 0 })
            : { ...scopeJson(await scopes.delete(name, actor)), status: 'deleted' },
        ),
      ),
      also: () => ['scopes.set-sentences'],
    },
  ];
}
