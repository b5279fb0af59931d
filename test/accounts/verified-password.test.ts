import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PasswordHasher } from '../../src/accounts/passwords/password-hash.ts';
import { onVerifiedPassword } from '../../src/accounts/passwords/verified-password.ts';
import type { PasswordAccount, StoredPassword } from '../../src/accounts/people/account.ts';
import { ada, addAccount, openMemory } from '../oauth/memory.ts';
import { keyring, rotatedKeyring } from '../oauth/samples.ts';
import { event, sampleSession } from '../support/storage.ts';

const [hasher, rotated] = [new PasswordHasher(keyring), new PasswordHasher(rotatedKeyring)];
const account: PasswordAccount = { ...ada, password: await hasher.hash('correct horse battery') };
const resealed = rotated.reseal(account.password) as StoredPassword;

test('a sign-in goes on where the password was sealed anew while it was verified', async (t) => {
  const memory = await openMemory(t);
  await addAccount(memory, account);
  const { store } = memory;
  await store.rehashPassword(account.id, account.password, resealed);
  const session = sampleSession();
  const begin = (verified: StoredPassword) => store.addSession(session, verified, null, event('sign_in'));
  assert.equal(await onVerifiedPassword(store, account, begin), true);
  assert.ok(await store.findSession(session.digest));
});

test('ASVS 7.4.3: it does not where another password was set in the same millisecond', async (t) => {
  const memory = await openMemory(t);
  await addAccount(memory, account);
  const { store } = memory;
  const set = { ...event('user_password_set'), at: account.passwordSetAt };
  assert.equal(await store.setPassword(account.id, await hasher.hash('another horse'), false, set), null);
  const begin = (verified: StoredPassword) => store.addSession(sampleSession(), verified, null, event('sign_in'));
  assert.equal(await onVerifiedPassword(store, account, begin), false);
});

test('ASVS 7.4.3: it does not where another password was set meanwhile, or the account is gone', async (t) => {
  const memory = await openMemory(t);
  await addAccount(memory, account);
  const { store } = memory;
  const set = { ...event('user_password_set'), at: account.passwordSetAt + 1 };
  assert.equal(await store.setPassword(account.id, resealed, false, set), null);
  const begin = (verified: StoredPassword) => store.addSession(sampleSession(), verified, null, event('sign_in'));
  assert.equal(await onVerifiedPassword(store, account, begin), false);
  await store.deleteAccount(account.id, event('user_deleted'));
  assert.equal(await onVerifiedPassword(store, account, begin), false);
});
