// The remedies of refusals: pages and the API name fields, the command line names options and commands.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClientSettings } from '../../src/oauth/clients/client.ts';
import { OperatorError } from '../../src/oauth/error.ts';
import { MAX_KEYS_OF_OPERATOR } from '../../src/operator/access/operator-key.ts';
import { startConsole } from '../support/console.ts';
import { addClient, REDIRECT_URI } from '../support/service.ts';

test('operators §4: no refusal of an act on registrations, operators or people names an option or a command on pages and over the API', async (t) => {
  const service = await startConsole(t);
  const { installation } = service;
  const { accounts, clients, identityProviders, resourceServers, scopes, operator } = installation;
  const { operatorRegistry: registry } = installation;
  const { clientId: id } = await addClient(service);
  await clients.rotateSecret(id, operator);
  const email = 'ada@example.com';
  await accounts.add({ email, name: 'Ada', username: null, password: 'a long password' }, operator);
  await accounts.disable(email, operator);
  for (const name of ['Ann', 'Bea']) await registry.add(name, 'admin', operator);
  await registry.disable('Bea', operator);
  const addKey = () => registry.addKey('Ann', { name: 'A key', rights: ['clients.read'] as const }, operator);
  for (let keys = 0; keys < MAX_KEYS_OF_OPERATOR; keys += 1) await addKey();
  const update = (changes: Partial<ClientSettings>) => clients.update(id, changes, operator);
  const refused: Readonly<Record<string, () => Promise<unknown>>> = {
    'an unknown app': () => clients.pause('app_none', operator),
    'a list of redirect URIs with commas': () => update({ redirectUris: [`${REDIRECT_URI},${REDIRECT_URI}`] }),
    'a default resource that no API has': () => update({ defaultResource: 'https://none.example' }),
    'a third secret': () => clients.rotateSecret(id, operator),
    'an unknown API': () => resourceServers.delete('rs_none', operator),
    'an unknown product': () => identityProviders.pause('none', operator),
    'an operator with all keys': addKey,
    'an unknown key': () => registry.endKey('Ann', 'opk_none', operator),
    'a disabled operator': () => registry.signInAddress('Bea', operator),
    'an unknown operator': () => registry.find('nobody'),
    'an unknown person': () => accounts.disable('nobody@example.com', operator),
    'an invitation of a disabled person': () => accounts.invite(email, operator),
    'an unknown scope': () => scopes.delete('none', operator),
    'a scope without a sentence': () => scopes.define('read', { en: '' }, operator),
  };
  const named = /--[a-z]|"[a-z-]+ [a-z-]+/;
  for (const [what, act] of Object.entries(refused))
    await assert.rejects(act, (error) => {
      assert.ok(error instanceof OperatorError, what);
      assert.doesNotMatch(error.message, named, what);
      assert.match(error.atCommandLine, named, what);
      return true;
    });
});
