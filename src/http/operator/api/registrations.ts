import type { HandOverKind } from '../../../operator/hand-over/hand-over.ts';
import { findHandOverJson } from '../../../operator/json/hand-over.ts';
import type { AskedPage, ListPage } from '../../../operator/lists/lists.ts';
import type { ObjectSchema } from '../../json/operation.ts';
import type { Service } from '../../service/service.ts';
import { listOperation, showOperation } from './described-parts.ts';
import { listBody } from './list-body.ts';
import { findOne, type Noun, nounsOf } from './nouns.ts';
import { readPage } from './query.ts';
import { type Route, route } from './route.ts';
import {
  IDENTITY_PROVIDER,
  RESOURCE_SERVER,
  SCOPE,
  SHOWN_IDENTITY_PROVIDER,
  SHOWN_RESOURCE_SERVER,
} from './schemas.ts';

/** A kind of registrations, as the API reads them. */
type Read<Row extends object> = {
  readonly path: 'resource-servers' | 'identity-providers' | 'scopes';
  /** Names of operations end with this; a list of several adds an s. */
  readonly title: string;
  /** The summaries of a list and of one. */
  readonly words: readonly [list: string, one: string];
  readonly schemas: readonly [listed: ObjectSchema, shown: ObjectSchema];
  /** The kind of hand-overs that one is shown with; null for none. */
  readonly handOver: HandOverKind | null;
  list(page: AskedPage): Promise<ListPage<Row> | null>;
  readonly noun: Noun<Row>;
};

/** Returns the routes that read APIs, products and scopes. */
export function readingRegistrations(service: Service): Route[] {
  const { lists, handOvers } = service.operatorApi;
  const nouns = nounsOf(service);

  function reading<Row extends object>(its: Read<Row>): Route[] {
    const { path, title, words, schemas, handOver, noun } = its;
    const list = listOperation(path, `list${title}s`, words[0], schemas[0]);
    return [
      route('GET', `/${path}`, `${path}.list`, list, async ({ query }) =>
        listBody(await its.list(readPage(query)), (row) => noun.json(row)),
      ),
      route(
        'GET',
        `/${path}/:id`,
        `${path}.show`,
        showOperation(path, `show${title}`, words[1], schemas[1]),
        async ({ id }) => {
          const row = await findOne(noun, id);
          const last = handOver && { hand_over: await findHandOverJson({ kind: handOver, id }, handOvers) };
          return { ...(await noun.json(row)), ...last };
        },
      ),
    ];
  }

  return [
    ...reading({
      path: 'resource-servers',
      title: 'ResourceServer',
      handOver: 'resource_server',
      words: ['APIs, by ID', 'One API, with its newest hand-over'],
      schemas: [RESOURCE_SERVER, SHOWN_RESOURCE_SERVER],
      list: (page) => lists.resourceServers(page),
      noun: nouns.resourceServer,
    }),
    ...reading({
      path: 'identity-providers',
      title: 'IdentityProvider',
      handOver: 'identity_provider',
      words: ['Products, by ID', 'One product, with its newest hand-over'],
      schemas: [IDENTITY_PROVIDER, SHOWN_IDENTITY_PROVIDER],
      list: (page) => lists.identityProviders(page),
      noun: nouns.identityProvider,
    }),
    ...reading({
      path: 'scopes',
      title: 'Scope',
      words: ['Scopes, by name', 'One scope'],
      handOver: null,
      schemas: [SCOPE, SCOPE],
      list: (page) => lists.scopes(page),
      noun: nouns.scope,
    }),
  ];
}
