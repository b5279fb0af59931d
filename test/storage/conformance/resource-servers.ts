/** Resource servers and scopes. */
import assert from 'node:assert/strict';
import { event, NOW, sampleResourceServer, sampleSecret } from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore, winners } from './any-store.ts';

/** Resource servers. */
export function resourceServers(withStore: WithStore): void {
  const letters = sampleResourceServer();
  const register = (store: AnyStore, some = letters) =>
    store.registerResourceServer(some, event('resource_server_registered', { clientId: some.id }));

  withStore('a resource server comes back as it was registered; they are listed oldest first', async (store) => {
    const any = sampleResourceServer({ id: 'rs_any', resource: null, scopes: null, createdAt: NOW - 1 });
    for (const each of [letters, any]) await register(store, each);
    assert.deepEqual(await store.findResourceServer('rs_one'), letters);
    assert.deepEqual(await store.findResourceServer('rs_any'), any);
    assert.deepEqual(await store.listResourceServers(), [any, letters]);
    assert.equal(await store.findResourceServer('rs_none'), null);
  });

  withStore('a resource is listed, once, for as long as a resource server has it', async (store) => {
    const [first, second] = [letters, sampleResourceServer({ id: 'rs_two' })];
    assert.deepEqual(await store.listResources(), []);
    for (const each of [first, second]) await register(store, each);
    assert.deepEqual(await store.listResources(), ['https://letters.test']);
    await store.updateResourceServer({ ...first, resource: null }, first, event('resource_server_updated'));
    assert.deepEqual(await store.listResources(), ['https://letters.test'], 'another has it still');
    await store.deleteResourceServer(second.id, event('resource_server_deleted'));
    assert.deepEqual(await store.listResources(), []);
  });

  withStore('an update writes what an operator may change, and nothing else', async (store) => {
    await register(store);
    const changed = { name: 'Notes', resource: 'https://notes.test', acceptsUnbound: true, scopes: ['a', 'b'] };
    const asked = { ...letters, ...changed, secrets: [], createdAt: 0 };
    assert.equal(await store.updateResourceServer(asked, letters, event('resource_server_updated')), true);
    assert.deepEqual(await store.findResourceServer('rs_one'), { ...letters, ...changed });
    const open = { ...asked, resource: null, acceptsUnbound: false, scopes: null };
    assert.equal(await store.updateResourceServer(open, asked, event('resource_server_updated')), true);
    assert.deepEqual(await store.findResourceServer('rs_one'), {
      ...letters,
      name: 'Notes',
      resource: null,
      scopes: null,
    });
    assert.equal(
      await store.updateResourceServer({ ...asked, id: 'rs_none' }, asked, event('resource_server_updated')),
      false,
    );
  });

  withStore('secrets are replaced only if they are as expected: of 100 at once, one wins', async (store) => {
    await register(store);
    const { secrets } = letters;
    const replacements = HUNDRED.map(() => [sampleSecret(), ...secrets]);
    const replace = (id: string, wanted: typeof secrets) =>
      store.replaceResourceServerSecrets({ ...letters, id }, wanted, event('resource_server_secret_rotated'));
    const attempts = replacements.map((wanted) => replace('rs_one', wanted));
    assert.equal(await winners(attempts), 1);
    const stored = await store.findResourceServer('rs_one');
    assert.deepEqual(stored?.secrets, replacements[(await Promise.all(attempts)).indexOf(true)]);
    assert.equal(await replace('rs_none', []), false);
    assert.equal((await store.listAuditEvents({ action: 'resource_server_secret_rotated', limit: 10 })).length, 1);
  });

  withStore('a resource server is deleted once', async (store) => {
    await register(store);
    const all = HUNDRED.map(() => store.deleteResourceServer('rs_one', event('resource_server_deleted')));
    assert.equal(await winners(all), 1);
    assert.equal(await store.findResourceServer('rs_one'), null);
    assert.deepEqual(await store.listResourceServers(), []);
  });
}

/** Scopes. */
export function scopes(withStore: WithStore): void {
  const read = { name: 'read', sentences: { en: 'Read "it"', ar: 'قراءة' }, effect: 'reads' as const, createdAt: NOW };
  const defined = event('scope_defined');

  withStore('a scope comes back as it was defined; scopes are listed by name', async (store) => {
    const write = {
      name: 'https://api.test/write',
      sentences: { 'pt-BR': 'Escrever' },
      effect: null,
      createdAt: NOW + 1,
    };
    for (const each of [read, write]) assert.equal(await store.defineScope(each, null, defined), true);
    assert.deepEqual(await store.listScopes(), [write, read]);
  });

  withStore('a scope is defined anew over what was expected, and its time of creation stays', async (store) => {
    await store.defineScope(read, null, defined);
    const changed = { ...read, sentences: { en: 'See' }, effect: 'sensitive' as const, createdAt: NOW + 5 };
    assert.equal(await store.defineScope(changed, read, defined), true);
    assert.deepEqual(await store.listScopes(), [{ ...changed, createdAt: NOW }]);
    assert.equal(await store.defineScope(read, { ...changed, effect: null }, defined), false, 'another effect');
    assert.equal(await store.defineScope(read, read, defined), false);
    assert.equal(await store.defineScope(read, null, defined), false);
    assert.deepEqual(await store.listScopes(), [{ ...changed, createdAt: NOW }]);
  });

  withStore('of 100 who define a scope at once, one wins, and so of 100 who change it', async (store) => {
    const saying = (n: number) => ({ ...read, sentences: { en: `${n}` } });
    assert.equal(await winners(HUNDRED.map((_, n) => store.defineScope(saying(n), null, defined))), 1);
    const [first] = await store.listScopes();
    assert.ok(first);
    assert.equal(await winners(HUNDRED.map((_, n) => store.defineScope(saying(n + 100), first, defined))), 1);
    assert.equal((await store.listAuditEvents({ action: 'scope_defined', limit: 10 })).length, 2);
  });

  withStore('a scope that was deleted meanwhile does not come back by a change', async (store) => {
    await store.defineScope(read, null, defined);
    assert.equal(await store.deleteScope('read', event('scope_deleted')), true);
    assert.equal(await store.deleteScope('read', event('scope_deleted')), false);
    assert.equal(await store.defineScope({ ...read, sentences: { en: 'See' } }, read, defined), false);
    assert.deepEqual(await store.listScopes(), []);
  });
}
