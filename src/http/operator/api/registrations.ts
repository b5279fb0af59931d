/** `GET /v1/resource-servers`, `/v1/identity-providers` and `/v1/scopes`, and one of each. */
import { findHandOverJson } from '../../../operator/json/hand-over.ts';
import { findIdentityProviderJson } from '../../../operator/json/identity-provider.ts';
import { findResourceServerJson } from '../../../operator/json/resource-server.ts';
import { scopeJson } from '../../../operator/json/scope.ts';
import type { Service } from '../../service.ts';
import { notFound } from './api-error.ts';
import { listOperation, queryNames, showOperation } from './described.ts';
import { tagsKeys } from './etag.ts';
import { listBody } from './list.ts';
import { readPage, readQuery } from './query.ts';
import type { Call, Route } from './route.ts';
import {
  IDENTITY_PROVIDER,
  RESOURCE_SERVER,
  SCOPE,
  SHOWN_IDENTITY_PROVIDER,
  SHOWN_RESOURCE_SERVER,
} from './schemas.ts';

const APIS = {
  list: listOperation('resource-servers', 'listResourceServers', 'APIs, by ID', RESOURCE_SERVER),
  show: showOperation(
    'resource-servers',
    'showResourceServer',
    'One API, with its newest hand-over',
    SHOWN_RESOURCE_SERVER,
  ),
};
const PRODUCTS = {
  list: listOperation('identity-providers', 'listIdentityProviders', 'Products, by ID', IDENTITY_PROVIDER),
  show: showOperation(
    'identity-providers',
    'showIdentityProvider',
    'One product, with its newest hand-over',
    SHOWN_IDENTITY_PROVIDER,
  ),
};
const SCOPES = {
  list: listOperation('scopes', 'listScopes', 'Scopes, by name', SCOPE),
  show: showOperation('scopes', 'showScope', 'One scope', SCOPE),
};

/** Returns the routes that read APIs, products and scopes. */
export function readingRegistrations({ operatorApi }: Service): Route[] {
  const { lists, store, secretUses, handOvers } = operatorApi;
  const page = ({ request }: Call, operation: (typeof APIS)['list']) =>
    readPage(readQuery(request, queryNames(operation)));
  return [
    {
      ...{ method: 'GET', path: '/resource-servers', act: 'resource-servers.list', operation: APIS.list },
      answer: async (call) =>
        listBody(await lists.resourceServers(page(call, APIS.list)), (server) =>
          findResourceServerJson(server, secretUses),
        ),
    },
    {
      ...{ method: 'GET', path: '/resource-servers/:id', act: 'resource-servers.show', operation: APIS.show },
      hasTag: true,
      answer: async ({ id, request }) => {
        readQuery(request, []);
        const server = await store.findResourceServer(id);
        if (!server) throw notFound('API');
        const last = await findHandOverJson({ kind: 'resource_server', id }, handOvers);
        return { ...(await findResourceServerJson(server, secretUses)), hand_over: last };
      },
    },
    {
      ...{ method: 'GET', path: '/identity-providers', act: 'identity-providers.list', operation: PRODUCTS.list },
      answer: async (call) =>
        listBody(await lists.identityProviders(page(call, PRODUCTS.list)), (provider) =>
          findIdentityProviderJson(provider, secretUses),
        ),
    },
    {
      ...{ method: 'GET', path: '/identity-providers/:id', act: 'identity-providers.show', operation: PRODUCTS.show },
      hasTag: true,
      answer: async ({ id, request }) => {
        readQuery(request, []);
        const provider = await store.findIdentityProvider(id);
        if (!provider) throw notFound('product');
        const last = await findHandOverJson({ kind: 'identity_provider', id }, handOvers);
        return { ...tagsKeys(await findIdentityProviderJson(provider, secretUses), provider), hand_over: last };
      },
    },
    {
      ...{ method: 'GET', path: '/scopes', act: 'scopes.list', operation: SCOPES.list },
      answer: async (call) => listBody(await lists.scopes(page(call, SCOPES.list)), scopeJson),
    },
    {
      ...{ method: 'GET', path: '/scopes/:id', act: 'scopes.show', operation: SCOPES.show },
      hasTag: true,
      answer: async ({ id, request }) => {
        readQuery(request, []);
        const scope = (await store.listScopes()).find(({ name }) => name === id);
        if (!scope) throw notFound('scope');
        return scopeJson(scope);
      },
    },
  ];
}
