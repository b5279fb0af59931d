/** The nouns of the operators' API that are changed by their ids. */
import type { Account } from '../../../accounts/people/account.ts';
import type { IdentityProvider } from '../../../accounts/people/identity-provider.ts';
import type { Client } from '../../../oauth/clients/client.ts';
import type { ScopeDefinition } from '../../../oauth/grants/scope.ts';
import type { ResourceServer } from '../../../oauth/resource-servers/resource-server.ts';
import type { Unchanged } from '../../../oauth/trail/request-conditions.ts';
import { findClientJson } from '../../../operator/json/client.ts';
import { findIdentityProviderJson } from '../../../operator/json/identity-provider.ts';
import { findResourceServerJson } from '../../../operator/json/resource-server.ts';
import { scopeJson } from '../../../operator/json/scope.ts';
import { userJson } from '../../../operator/json/user.ts';
import type { Service } from '../../service/service.ts';
import { notFound } from './api-error.ts';
import { tagsKeys } from './etag.ts';

/** A kind of objects: how one is found by its exact id, and its JSON, which `ETag` is of. */
export type Noun<Row extends object, Name extends Unchanged['noun'] = Unchanged['noun']> = {
  readonly noun: Name;
  /** The noun in a message. */
  readonly words: string;
  find(id: string): Promise<Row | null>;
  json(row: Row): Promise<object>;
};

/** Finds an object by its exact id. Throws the error of an id that nothing has. */
export async function findOne<Row extends object>({ words, find }: Noun<Row>, id: string): Promise<Row> {
  const row = await find(id);
  if (!row) throw notFound(words);
  return row;
}

/** Returns the nouns of a service. */
export function nounsOf({ clients, operatorApi: { store, scopes, secretUses } }: Service) {
  const client: Noun<Client, 'client'> = {
    noun: 'client',
    words: 'app',
    find: (id) => clients.findClient(id),
    json: async (row) => tagsKeys(await findClientJson(row, secretUses), row),
  };
  const resourceServer: Noun<ResourceServer, 'resource_server'> = {
    noun: 'resource_server',
    words: 'API',
    find: (id) => store.findResourceServer(id),
    json: (row) => findResourceServerJson(row, secretUses),
  };
  const identityProvider: Noun<IdentityProvider, 'identity_provider'> = {
    noun: 'identity_provider',
    words: 'product',
    find: (id) => store.findIdentityProvider(id),
    json: async (row) => tagsKeys(await findIdentityProviderJson(row, secretUses), row),
  };
  const scope: Noun<ScopeDefinition, 'scope'> = {
    noun: 'scope',
    words: 'scope',
    find: (name) => scopes.find(name),
    json: async (row) => scopeJson(row),
  };
  const user: Noun<Account, 'user'> = {
    noun: 'user',
    words: 'user',
    find: (id) => store.findAccount(id),
    json: async (row) => userJson(row),
  };
  return { client, resourceServer, identityProvider, scope, user };
}
