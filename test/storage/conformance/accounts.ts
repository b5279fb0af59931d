/** Accounts and their sessions. */
import assert from 'node:assert/strict';
import type { Account, StoredPassword } from '../../../src/accounts/people/account.ts';
import { MAX_SESSIONS, SESSION_LIFETIMES, type Session } from '../../../src/accounts/people/session.ts';
import { event, HOUR, NOW, sampleAccount, sampleSession } from '../../support/storage.ts';
import { type AnyStore, find, HUNDRED, isAlive, issue, type WithStore } from './any-store.ts';

/** Accounts. */
export function accounts(withStore: WithStore): void {
  const ada = sampleAccount();

  withStore('an account is found by id and by the key of its email address, and listed newest first', async (store) => {
    const bob = sampleAccount({
      id: 'usr_bob',
      username: null,
      createdAt: NOW - 1,
      avatarUrl: '/b',
    });
    assert.equal(await store.addAccount(bob, 'bob@example.com', event('user_added')), null);
    assert.deepEqual(await store.findAccount('usr_ada'), ada);
    assert.deepEqual(await store.findPasswordAccount('bob@example.com'), bob);
    assert.equal(await store.findPasswordAccount('Bob@example.com'), null);
    assert.deepEqual(await store.listAccounts(null, 2), [ada, bob]);
    assert.deepEqual(await store.listAccounts(null, 1), [ada]);
    assert.deepEqual(await store.listAccounts(ada, 2), [bob]);
    assert.deepEqual(await store.listAccounts(bob, 2), []);
    for (const { id } of [ada, bob]) {
      assert.equal(await store.hasAccounts(), true);
      await store.deleteAccount(id, event('user_deleted'));
    }
    assert.equal(await store.hasAccounts(), false);
  });

  withStore('no two accounts share an email address or a user name: of 100 at once, one is added', async (store) => {
    const add = (id: string, username: string | null, key: string) =>
      store.addAccount(sampleAccount({ id, username }), key, event('user_added'));
    assert.equal(await add('usr_x', null, 'ada@example.com'), 'email');
    assert.equal(await add('usr_x', 'ada', 'x@example.com'), 'username');
    const answers = await Promise.all(HUNDRED.map((_, index) => add(`usr_${index}`, null, 'same@example.com')));
    assert.equal(answers.filter((taken) => taken === null).length, 1);
    assert.equal((await store.listAccounts(null, 100)).length, 2);
  });

  withStore('an account is called otherwise, and found by its new address alone', async (store) => {
    const changed = { ...ada, email: 'Ada@Lovelace.example', username: null, name: 'Ada King', epoch: 7 };
    assert.equal(await store.updateAccount(changed, ada, 'ada@lovelace.example', event('user_updated')), null);
    const expected = { ...changed, epoch: ada.epoch };
    assert.deepEqual(await store.findPasswordAccount('ada@lovelace.example'), expected, 'nothing else changes');
    assert.equal(await store.findPasswordAccount('ada@example.com'), null);
    assert.equal(
      await store.updateAccount(expected, changed, 'ada@lovelace.example', event('user_updated')),
      null,
      'its own names',
    );
    assert.equal(
      await store.addAccount(sampleAccount({ id: 'usr_next', email: 'next' }), 'ada@example.com', event('user_added')),
      null,
      'what it was called is free',
    );
  });

  withStore('an account never gets a name that another has, also of those that ask for it at once', async (store) => {
    const others = HUNDRED.slice(0, 20).map((_, n) => sampleAccount({ id: `usr_${n}`, username: null }));
    for (const [n, account] of others.entries())
      assert.equal(await store.addAccount(account, `${n}@example.com`, event('user_added')), null);
    const [one] = others as [Account];
    const last = (await store.listAuditEvents({ limit: 1 }))[0]?.sequence;
    const update = (account: Account, key: string, before = account) =>
      store.updateAccount(account, before, key, event('user_updated'));
    assert.equal(await update(one, 'ada@example.com'), 'email');
    assert.equal(await update({ ...one, username: 'ada' }, '0@example.com', one), 'username');
    assert.equal(await update({ ...one, id: 'usr_none' }, 'none@example.com'), 'gone');
    assert.equal((await store.listAuditEvents({ limit: 1 }))[0]?.sequence, last, 'nothing is recorded');
    const taken = await Promise.all(
      others.map((account) => update({ ...account, username: 'same' }, 'same@example.com', account)),
    );
    assert.equal(taken.filter((problem) => problem === null).length, 1);
    assert.equal(taken.filter((problem) => problem === 'email').length, others.length - 1);
  });

  withStore('a new hash of the same password is written only if the password is still that one', async (store) => {
    const [from, to] = [ada.password, { sealedPhc: '$argon2id$two', keyId: 2 }];
    await store.rehashPassword('usr_ada', { ...from, keyId: 3 }, to);
    assert.deepEqual((await store.findAccount('usr_ada'))?.password, from);
    await store.rehashPassword('usr_ada', from, to);
    assert.deepEqual((await store.findAccount('usr_ada'))?.password, to);
  });

  withStore('a disabled account shows in its grants, and ends none', async (store) => {
    const grant = await issue(store);
    const set = (status: 'active' | 'disabled') => store.setAccountStatus('usr_ada', status, event('user_disabled'));
    assert.equal(await set('active'), false);
    assert.equal(await set('disabled'), true);
    assert.equal((await find(store, grant)).standing.resourceOwnerDisabled, true);
    assert.equal(await isAlive(store, grant), true);
    assert.equal(await set('active'), true);
    assert.equal(await store.setAccountStatus('usr_none', 'disabled', event('user_disabled')), false);
  });
}

/** Sessions. */
export function sessions(withStore: WithStore): void {
  const begin = async (store: AnyStore, replaces: Buffer | null = null) => {
    const session = sampleSession();
    assert.equal(await store.addSession(session, sampleAccount().password, replaces, event('sign_in')), true);
    return session;
  };

  withStore('a session comes back with its account, and notes when it was seen', async (store) => {
    const session = await begin(store);
    assert.deepEqual(await store.findSession(session.digest), { session, account: sampleAccount() });
    await store.touchSession(session.digest, NOW + 9);
    await store.touchSession(session.digest, NOW + 3);
    assert.equal((await store.findSession(session.digest))?.session.lastSeenAt, NOW + 9);
  });

  withStore(
    'the live sessions of an account are counted: neither expired nor idle ones, nor those of others',
    async (store) => {
      const added = async (times: Partial<Session>) => {
        const session = sampleSession(times);
        assert.ok(await store.addSession(session, sampleAccount().password, null, event('sign_in')));
      };
      await added({ expiresAt: NOW + SESSION_LIFETIMES.absolute });
      await added({ expiresAt: NOW + 1 });
      await added({ expiresAt: NOW });
      await added({ lastSeenAt: NOW - SESSION_LIFETIMES.idle });
      assert.equal(await store.countSessions('usr_ada', NOW), 2);
      assert.equal(await store.countSessions('usr_other', NOW), 0);
    },
  );

  withStore('a session that replaces another ends it', async (store) => {
    const first = await begin(store);
    const second = await begin(store, first.digest);
    assert.equal(await store.findSession(first.digest), null);
    assert.ok(await store.findSession(second.digest));
  });

  withStore('an account has at most 50 live sessions, and one more ends the oldest', async (store) => {
    const at = (createdAt: number, some: Partial<Session> = {}) =>
      sampleSession({ createdAt, lastSeenAt: NOW, expiresAt: NOW + HOUR, ...some });
    const add = async (session: Session) => {
      const signIn = { ...event('sign_in'), at: NOW };
      assert.equal(await store.addSession(session, sampleAccount().password, null, signIn), true);
      return session;
    };
    const all: Session[] = [];
    for (let n = 0; n < MAX_SESSIONS - 1; n += 1) all.push(await add(at(NOW - 1000 + n)));
    const ended = await add(at(NOW - 1, { expiresAt: NOW }));
    const there = async (some: readonly Session[]) =>
      (await Promise.all(some.map(({ digest }) => store.findSession(digest)))).filter(Boolean).length;
    all.push(await add(at(NOW)));
    assert.deepEqual([await there(all), await there([ended])], [50, 0], 'what ended by itself goes first');
    await Promise.all(Array.from({ length: 10 }, () => add(at(NOW))).map(async (adding) => all.push(await adding)));
    assert.equal(await there(all), 50, 'also where many are added at once');
    assert.equal(await there(all.slice(0, 10)), 0, 'the oldest ended');
    const listed = await store.listSessions(sampleAccount().id);
    assert.deepEqual([listed.length, await there(listed)], [50, 50]);
    assert.deepEqual(
      listed.map(({ createdAt }) => createdAt),
      listed.map(({ createdAt }) => createdAt).sort((one, other) => other - one),
      'newest first',
    );
    const bobs = sampleAccount({ id: 'usr_bob', username: null });
    assert.equal(await store.addAccount(bobs, 'bob@example.com', event('user_added')), null);
    const his = at(NOW, { accountId: 'usr_bob' });
    await store.addSession(his, bobs.password, null, event('sign_in'));
    assert.deepEqual([await there(all), await there([his])], [50, 1], 'those of others do not count');
    assert.deepEqual(await store.listSessions('usr_bob'), [his]);
  });

  withStore('a session ends once', async (store) => {
    const { digest } = await begin(store);
    assert.equal(await store.endSession(digest, event('sign_out')), true);
    assert.equal(await store.endSession(digest, event('sign_out')), false);
    assert.equal(await store.findSession(digest), null);
  });

  const ends: Record<string, (store: AnyStore) => Promise<boolean>> = {
    'a new password': async (store) =>
      (await store.setPassword('usr_ada', { sealedPhc: 'new', keyId: 1 }, false, event('user_password_set'))) === null,
    'ending them': (store) => store.endAccountSessions('usr_ada', event('user_sessions_ended')),
    'disabling the account': (store) => store.setAccountStatus('usr_ada', 'disabled', event('user_disabled')),
    'deleting the account': (store) => store.deleteAccount('usr_ada', event('user_deleted')),
  };
  for (const [what, end] of Object.entries(ends)) {
    withStore(`${what} ends all sessions of the account`, async (store) => {
      const all = [await begin(store), await begin(store)];
      assert.equal(await end(store), true);
      for (const { digest } of all) assert.equal(await store.findSession(digest), null);
    });
  }

  withStore('ending all sessions of an account ends nothing else, and is recorded once each time', async (store) => {
    const bob = sampleAccount({ id: 'usr_bob', username: null });
    assert.equal(await store.addAccount(bob, 'bob@example.com', event('user_added')), null);
    const others = sampleSession({ accountId: 'usr_bob' });
    assert.equal(await store.addSession(others, bob.password, null, event('sign_in')), true);
    const grant = await issue(store);
    await begin(store);
    const end = (id: string) => store.endAccountSessions(id, event('user_sessions_ended'));
    assert.equal(await end('usr_ada'), true);
    assert.equal(await end('usr_ada'), true, 'there may be none');
    assert.equal(await end('usr_none'), false);
    assert.deepEqual(await store.findAccount('usr_ada'), sampleAccount());
    assert.equal(await isAlive(store, grant), true);
    assert.ok(await store.findSession(others.digest), 'those of another account stay');
    const actions = (await store.listAuditEvents({ limit: 3 })).map(({ action }) => action);
    assert.deepEqual(actions.slice(0, 2), ['user_sessions_ended', 'user_sessions_ended']);
    assert.notEqual(actions[2], 'user_sessions_ended', 'nothing is recorded of an account that is not there');
  });

  withStore(
    'sessions that begin while all are ended keep none of those alive that were there before',
    async (store) => {
      const before = await Promise.all(HUNDRED.map(() => begin(store)));
      const end = () => store.endAccountSessions('usr_ada', event('user_sessions_ended'));
      const ended = Promise.all([end(), end()]);
      const meanwhile = HUNDRED.map(() => begin(store));
      assert.deepEqual(await ended, [true, true]);
      // Those under way end the oldest beyond the maximum, of which one that begins beside them could be one.
      const during = await Promise.all(meanwhile);
      const after = await begin(store);
      for (const { digest } of before) assert.equal(await store.findSession(digest), null);
      assert.ok(await store.findSession(after.digest));
      assert.equal(await end(), true);
      for (const { digest } of [...during, after]) assert.equal(await store.findSession(digest), null);
    },
  );

  withStore('a changed password ends all sessions of the account and begins one', async (store) => {
    const before = [await begin(store), await begin(store)];
    const session = sampleSession();
    const next = { sealedPhc: '$argon2id$next', keyId: 2 };
    const changed = event('password_changed');
    assert.equal(await store.changePassword(sampleAccount().password, next, session, null, changed), true);
    for (const { digest } of before) assert.equal(await store.findSession(digest), null);
    const found = await store.findSession(session.digest);
    assert.deepEqual(found?.session, session);
    assert.deepEqual([found?.account.password, found?.account.passwordSetAt], [next, changed.at]);
    assert.equal((await store.listAuditEvents({ limit: 1 }))[0]?.action, 'password_changed');
  });

  withStore(
    'a password is changed from the one that was verified, of an account that is active, or not at all',
    async (store) => {
      const { digest } = await begin(store);
      const { password } = sampleAccount();
      const [next, other] = [
        { sealedPhc: '$argon2id$next', keyId: 2 },
        { sealedPhc: '$argon2id$other', keyId: 1 },
      ];
      const last = (await store.listAuditEvents({ limit: 1 }))[0]?.sequence;
      const change = (from: StoredPassword, accountId = 'usr_ada') =>
        store.changePassword(from, next, sampleSession({ accountId }), null, event('password_changed'));
      assert.equal(await change(other), false, 'another password was set meanwhile');
      assert.equal(await change({ ...password, keyId: 7 }), false, 'under another key');
      assert.equal(await change(password, 'usr_none'), false);
      assert.ok(await store.findSession(digest), 'no session ended');
      await store.setAccountStatus('usr_ada', 'disabled', event('user_disabled'));
      assert.equal(await change(password), false);
      assert.deepEqual((await store.findAccount('usr_ada'))?.password, password);
      assert.equal((await store.listAuditEvents({ limit: 2 }))[1]?.sequence, last, 'nothing is recorded');
    },
  );

  withStore('no session begins for an account that is disabled or not there', async (store) => {
    await store.setAccountStatus('usr_ada', 'disabled', event('user_disabled'));
    assert.equal(await store.addSession(sampleSession(), sampleAccount().password, null, event('sign_in')), false);
    assert.equal(
      await store.addSession(
        sampleSession({ accountId: 'usr_none' }),
        sampleAccount().password,
        null,
        event('sign_in'),
      ),
      false,
    );
    await store.setAccountStatus('usr_ada', 'active', event('user_enabled'));
    const other = { sealedPhc: '$argon2id$other', keyId: 1 };
    assert.equal(await store.addSession(sampleSession(), other, null, event('sign_in')), false, 'another password');
    assert.equal(
      await store.setPassword('usr_none', { sealedPhc: '', keyId: 1 }, false, event('user_password_set')),
      'gone',
    );
  });
}
