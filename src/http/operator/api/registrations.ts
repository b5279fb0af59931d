/** `GET /v1/resource-servers`, `/v1/identity-providers` and `/v1/scopes`, and one of each. */
import type { IdentityProvider } from '../../../accounts/people/identity-provider.ts';
import type { HandOverKind } from '../../../operator/hand-over/hand-over.ts';
import { findHandOverJson } from '../../../operator/json/hand-over.ts';
import { findIdentityProviderJson } from '../../../operator/json/identity-provider.ts';
import { findResourceServerJson } from '../../../operator/json/resource-server.ts';
import { scopeJson } from '../../../operator/json/scope.ts';
import type { AskedPage, ListPage } from '../../../operator/lists/lists.ts';
import type { ObjectSchema } from '../../api/operation.ts';
import type { Service } from '../../service.ts';
import { notFound } from './api-error.ts';
import { listOperation, queryNames, showOperation } from './described.ts';
import { tagsKeys } from './etag.ts';
import { listBody } from './list.ts';
import { readPage, readQuery } from './query.ts';
import type { Route } from './route.ts';
import {
  IDENTITY_PROVIDER,
  RESOURCE_SERVER,
  SCOPE,
  SHOWN_IDENTITY_PROVIDER,
  SHOWN_RESOURCE_SERVER,
} from './schemas.ts';

/** A kind of registrations, as the API reads them. */
type Read<Row> = {
  readonly path: 'resource-servers' | 'identity-providers' | 'scopes';
  /** Names of operations end with this; a list of several adds an s. */
  readonly title: string;
  /** The summaries of a list and of one, and the word in a message. */
  readonly words: readonly [list: string, one: string, noun: string];
  readonly schemas: readonly [listed: ObjectSchema, shown: ObjectSchema];
  /** The kind of hand-overs that one is shown with; null for none. */
  readonly handOver: HandOverKind | null;
  list(page: AskedPage): Promise<ListPage<Row> | null>;
  find(id: string): Promise<Row | null>;
  json(row: Row): Promise<object> | object;
};

/** Returns the routes that read APIs, products and scopes. */
export function readingRegistrations({ operatorApi }: Service): Route[] {
  const { lists, store, secretUses, handOvers } = operatorApi;

  function reading<Row>(its: Read<Row>): Route[] {
    const { path, title, words, schemas, handOver } = its;
    const list = listOperation(path, `list${title}s`, words[0], schemas[0]);
    return [
      {
        ...{ method: 'GET', path: `/${path}`, act: `${path}.list`, operation: list },
        answer: async ({ request }) =>
          listBody(await its.list(readPage(readQuery(request, queryNames(list)))), (row) => its.json(row)),
      },
      {
        ...{ method: 'GET', path: `/${path}/:id`, act: `${path}.show`, hasTag: true },
        operation: showOperation(path, `show${title}`, words[1], schemas[1]),
        answer: async ({ id, request }) => {
          readQuery(request, []);
          const row = await its.find(id);
          if (!row) throw notFound(words[2]);
          const last = handOver && { hand_over: await findHandOverJson({ kind: handOver, id }, handOvers) };
          return { ...(await its.json(row)), ...last };
        },
      },
    ];
  }

  return [
    ...reading({
      ...{ path: 'resource-servers', title: 'ResourceServer', handOver: 'resource_server' },
      words: ['APIs, by ID', 'One API, with its newest hand-over', 'API'],
      schemas: [RESOURCE_SERVER, SHOWN_RESOURCE_SERVER],
      list: (page) => lists.resourceServers(page),
      find: (id) => store.findResourceServer(id),
      json: (server) => findResourceServerJson(server, secretUses),
    }),
    ...reading<IdentityProvider>({
      ...{ path: 'identity-providers', title: 'IdentityProvider', handOver: 'identity_provider' },
      words: ['Products, by ID', 'One product, with its newest hand-over', 'product'],
      schemas: [IDENTITY_PROVIDER, SHOWN_IDENTITY_PROVIDER],
      list: (page) => lists.identityProviders(page),
      find: (id) => store.findIdentityProvider(id),
      json: async (provider) => tagsKeys(await findIdentityProviderJson(provider, secretUses), provider),
    }),
    ...reading({
      ...{ path: 'scopes', title: 'Scope', words: ['Scopes, by name', 'One scope', 'scope'], handOver: null },
      schemas: [SCOPE, SCOPE],
      list: (page) => lists.scopes(page),
      find: async (id) => (await store.listScopes()).find(({ name }) => name === id) ?? null,
      json: scopeJson,
    }),
  ];
}
