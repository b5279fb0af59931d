import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import { test } from 'node:test';
import { readForeignHash } from '../../src/accounts/passwords/foreign-hash.ts';
import { PasswordHasher } from '../../src/accounts/passwords/password-hash.ts';
import { PasswordRenewal } from '../../src/accounts/passwords/password-renewal.ts';
import type { Account } from '../../src/accounts/people/account.ts';
import { ada, addAccount, type Memory, openMemory } from '../oauth/memory.ts';
import { keyring, otherKeyring } from '../oauth/samples.ts';

const WEAK = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK';
const STRONG = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';
const hasher = new PasswordHasher(keyring);

async function addForeign(memory: Memory, id: string, text = WEAK, by = hasher): Promise<void> {
  const hash = readForeignHash(text);
  assert.ok('madeBy' in hash);
  const account: Account = { ...ada, id, username: null, email: `${id}@example.com`, password: by.seal(hash) };
  await addAccount(memory, account);
}

/** Wrapping whose rests end when the test says so; `rested` is told of each. */
function wrappingOf({ store }: Memory, reports: string[] = []) {
  const events = new EventEmitter();
  let goOn = () => {};
  const wrapping = new PasswordRenewal({
    store,
    list: (after, limit) => store.listUnwrapped(after, limit),
    renew: (password) => hasher.wrap(password),
    later: (act) => {
      goOn = act;
      events.emit('rests');
      return () => {};
    },
    report: ({ message }) => void reports.push(message),
  });
  const rests = () => once(events, 'rests');
  return { wrapping, rests, goOn: () => goOn() };
}

test('all that waits is wrapped, and what comes later after the next rest; what is strong or our own stays', async (t) => {
  const memory = await openMemory(t);
  const { store } = memory;
  await addAccount(memory, ada);
  for (let n = 0; n < 3; n += 1) await addForeign(memory, `usr_${n}zzz`);
  await addForeign(memory, 'usr_strong', STRONG);
  assert.deepEqual(await store.countForeign(), { foreign: 4, unwrapped: 3 });
  const { wrapping, rests, goOn } = wrappingOf(memory);
  t.after(() => wrapping.stop());
  await rests();
  assert.deepEqual(await store.countForeign(), { foreign: 4, unwrapped: 0 });
  for (let n = 0; n < 3; n += 1) {
    const password = (await store.findAccount(`usr_${n}zzz`))?.password ?? null;
    assert.equal(await hasher.verify(password, 'U*U*', { lane: 'known', share: '' }), true);
  }
  assert.ok('sealed' in ((await store.findAccount('usr_strong'))?.password ?? {}));
  assert.deepEqual((await store.findAccount(ada.id))?.password, ada.password);
  await addForeign(memory, 'usr_later');
  const again = rests();
  goOn();
  await again;
  assert.equal((await store.countForeign()).unwrapped, 0);
});

test('two that wrap at once leave each hash wrapped', async (t) => {
  const memory = await openMemory(t);
  for (let n = 0; n < 4; n += 1) await addForeign(memory, `usr_${n}zzz`);
  const both = [wrappingOf(memory), wrappingOf(memory)];
  for (const { wrapping } of both) t.after(() => wrapping.stop());
  await Promise.all(both.map(({ rests }) => rests()));
  assert.deepEqual(await memory.store.countForeign(), { foreign: 4, unwrapped: 0 });
});

test('a stop ends it after the hash under way', async (t) => {
  const memory = await openMemory(t);
  for (let n = 0; n < 50; n += 1) await addForeign(memory, `usr_${n}zzz`);
  const { wrapping } = wrappingOf(memory);
  await wrapping.stop();
  assert.ok((await memory.store.countForeign()).unwrapped > 45);
});

test('what keeps it from wrapping is reported, and it tries again', async (t) => {
  const memory = await openMemory(t);
  await addForeign(memory, 'usr_0zzz', WEAK, new PasswordHasher(otherKeyring));
  const reports: string[] = [];
  const { wrapping, rests, goOn } = wrappingOf(memory, reports);
  t.after(() => wrapping.stop());
  await rests();
  assert.match(reports.join(), /not in the keyring/);
  const again = rests();
  goOn();
  await again;
  assert.ok(reports.length >= 2);
});
