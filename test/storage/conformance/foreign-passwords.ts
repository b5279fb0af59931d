/** Passwords whose hashes other programs made. */
import assert from 'node:assert/strict';
import type { SealedPassword, StoredPassword, WrappedPassword } from '../../../src/accounts/people/account.ts';
import type { ForeignFunction } from '../../../src/accounts/people/foreign-function.ts';
import type { IdentityProvider } from '../../../src/accounts/people/identity-provider.ts';
import { event, NOW, sampleAccount, sampleSession } from '../../support/storage.ts';
import type { AnyStore, WithStore } from './any-store.ts';

const bcrypt = (cost: number): ForeignFunction => ({ family: 'bcrypt', cost, sha256: false, salt: 'c2FsdA==' });
const sealed = (cost: number): SealedPassword => ({ sealed: `sealed ${cost}`, keyId: 1, foreign: bcrypt(cost) });
const wrapped = (cost: number): WrappedPassword => ({
  sealedPhc: `$argon2id$${cost}`,
  keyId: 1,
  foreign: bcrypt(cost),
});
const OWN: StoredPassword = { sealedPhc: '$argon2id$own', keyId: 1 };

async function add(store: AnyStore, id: string, password: StoredPassword): Promise<void> {
  const account = sampleAccount({ id, username: null, password });
  assert.equal(await store.addAccount(account, `${id}@example.com`, event('user_imported')), null);
}

/** Foreign passwords. */
export function foreignPasswords(withStore: WithStore): void {
  withStore('a foreign password comes back as it was, and waits until it is wrapped', async (store) => {
    assert.deepEqual(await store.countForeign(), { foreign: 0, unwrapped: 0 });
    assert.deepEqual(await store.listSlowestForeign(), []);
    await add(store, 'usr_b', sealed(10));
    await add(store, 'usr_c', sealed(12));
    await add(store, 'usr_d', wrapped(11));
    assert.deepEqual(await store.listSlowestForeign(), [bcrypt(12)]);
    const pbkdf2: ForeignFunction = { family: 'pbkdf2', iterations: 1, length: 32, salt: 'c2FsdA==' };
    await add(store, 'usr_z', { ...wrapped(4), foreign: pbkdf2 });
    assert.deepEqual(await store.listSlowestForeign(), [bcrypt(12), pbkdf2], 'of each family');
    await store.deleteAccount('usr_z', event('user_deleted'));
    assert.deepEqual((await store.findAccount('usr_b'))?.password, sealed(10));
    assert.deepEqual(await store.countForeign(), { foreign: 3, unwrapped: 2 });
    assert.deepEqual(await store.listSlowestForeign(), [bcrypt(12)]);
    const waiting = [
      { id: 'usr_b', password: sealed(10) },
      { id: 'usr_c', password: sealed(12) },
    ];
    assert.deepEqual(await store.listUnwrapped('', 5), waiting);
    assert.deepEqual(await store.listUnwrapped('', 1), waiting.slice(0, 1));
    assert.deepEqual(await store.listUnwrapped('usr_b', 5), waiting.slice(1));
    await store.rehashPassword('usr_b', sealed(9), wrapped(9));
    assert.deepEqual((await store.findAccount('usr_b'))?.password, sealed(10), 'it was changed meanwhile');
    await store.rehashPassword('usr_b', sealed(10), wrapped(10));
    assert.deepEqual((await store.findAccount('usr_b'))?.password, wrapped(10));
    assert.deepEqual(await store.countForeign(), { foreign: 3, unwrapped: 1 });
  });

  withStore('our own password in place of a foreign one leaves nothing of it, however it came', async (store) => {
    await add(store, 'usr_b', wrapped(13));
    await add(store, 'usr_c', sealed(12));
    await add(store, 'usr_d', wrapped(11));
    await add(store, 'usr_e', sealed(10));
    await store.rehashPassword('usr_b', wrapped(13), OWN);
    assert.deepEqual(await store.listSlowestForeign(), [bcrypt(12)]);
    assert.equal(await store.setPassword('usr_c', OWN, false, event('user_password_set')), null);
    assert.deepEqual(await store.listSlowestForeign(), [bcrypt(11)]);
    const session = sampleSession({ accountId: 'usr_d' });
    assert.equal(await store.changePassword(wrapped(11), OWN, session, null, event('password_changed')), true);
    assert.deepEqual(await store.listSlowestForeign(), [bcrypt(10)]);
    assert.deepEqual(await store.countForeign(), { foreign: 1, unwrapped: 1 });
    assert.equal(await store.deleteAccount('usr_e', event('user_deleted')), true);
    assert.deepEqual(await store.countForeign(), { foreign: 0, unwrapped: 0 });
    assert.deepEqual(await store.listUnwrapped('', 5), []);
  });

  withStore('an account with a password is added with its identity, or not at all', async (store) => {
    const product: IdentityProvider = {
      id: 'product',
      status: 'active',
      name: 'Photos',
      signInUrl: 'https://app.example/sign-in',
      secrets: [],
      keys: [],
      ownIds: false,
      rights: ['sign-in'],
      homePage: null,
      sessionLifetime: null,
      createdAt: NOW,
    };
    await store.registerIdentityProvider(product, event('identity_provider_registered'));
    const identity = (accountId: string, id = 'product:bob') => ({
      id,
      providerId: 'product',
      accountId,
      createdAt: NOW,
    });
    const person = (id: string) => sampleAccount({ id, username: null, password: sealed(10) });
    const addBoth = (id: string, key: string, subject?: string) =>
      store.addAccountWithIdentity(identity(id, subject), person(id), key, event('user_imported'));
    assert.equal(await addBoth('usr_b', 'ada@example.com'), false, 'the address is taken');
    assert.equal(await store.findIdentity('product', 'bob'), null);
    assert.equal(await addBoth('usr_b', 'b@example.com'), true);
    assert.deepEqual((await store.findIdentity('product', 'bob'))?.account, person('usr_b'));
    await assert.rejects(addBoth('usr_c', 'c@example.com'), 'the identity is taken');
    assert.equal(await store.findAccount('usr_c'), null);
    assert.equal(await store.findTaken('ada', 'nobody@example.com'), 'username');
    assert.equal(await store.findTaken('ada', 'b@example.com'), 'email');
    assert.equal(await store.findTaken(null, null), null);
  });
}
