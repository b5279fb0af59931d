/** Invitations of accounts, and passwords that must be changed. */
import assert from 'node:assert/strict';
import type { Account, Invitation } from '../../../src/accounts/people/account.ts';
import { event, NOW, sampleAccount, sampleSession } from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore } from './any-store.ts';

const KEY = 'ada@example.com';
const invitation = (digest: string): Invitation => ({ digest, expiresAt: NOW + 1000 });
const password = (sealedPhc: string) => ({ sealedPhc, keyId: 1 });

/** Invitations. */
export function invitations(withStore: WithStore): void {
  const invite = (store: AnyStore, digest: string, id = 'usr_ada', key = KEY) =>
    store.invite(id, key, invitation(digest), event('user_invited'));
  const use = (store: AnyStore, digest: string, sealedPhc = 'chosen') =>
    store.useInvitation('usr_ada', invitation(digest), password(sealedPhc), {
      ...event('password_set_by_invitation'),
      at: NOW + 5,
    });
  const found = async (store: AnyStore, id = 'usr_ada') => (await store.findAccount(id)) as Account;
  const invitedPerson = (some: Partial<Account> = {}): Account => ({
    ...sampleAccount(),
    id: 'usr_new',
    username: null,
    password: null,
    passwordSetAt: null,
    invitation: invitation('first'),
    ...some,
  });

  withStore('an invitation sets the password once, and ends all sessions', async (store) => {
    const session = sampleSession();
    assert.equal(await store.addSession(session, sampleAccount().password, null, event('sign_in')), true);
    assert.equal(await invite(store, 'one'), null);
    assert.deepEqual(await found(store), { ...sampleAccount(), invitation: invitation('one') });
    assert.ok(await store.findSession(session.digest), 'being invited ends no session');
    assert.equal(await use(store, 'another'), false);
    assert.equal(await use(store, 'one'), true);
    assert.equal(await use(store, 'one'), false);
    assert.deepEqual(await found(store), { ...sampleAccount(), password: password('chosen'), passwordSetAt: NOW + 5 });
    assert.equal(await store.findSession(session.digest), null);
    const [last, before] = await store.listAuditEvents({ limit: 2 });
    assert.deepEqual([last?.action, before?.action], ['password_set_by_invitation', 'user_invited']);
  });

  withStore('of 100 who use an invitation at once, one sets the password', async (store) => {
    await invite(store, 'one');
    const used = await Promise.all(HUNDRED.map((_, n) => use(store, 'one', `chosen ${n}`)));
    assert.equal(used.filter(Boolean).length, 1);
    assert.deepEqual((await found(store)).password, password(`chosen ${used.indexOf(true)}`));
    const events = await store.listAuditEvents({ limit: 100, action: 'password_set_by_invitation' });
    assert.equal(events.length, 1);
  });

  withStore('of 100 invitations at once one is good, and none of the others', async (store) => {
    const given = await Promise.all(HUNDRED.map((_, n) => invite(store, `number ${n}`)));
    assert.ok(given.every((problem) => problem === null));
    const { invitation: good } = await found(store);
    for (const n of HUNDRED.keys())
      if (good?.digest !== `number ${n}`) assert.equal(await use(store, `number ${n}`), false);
    assert.equal(await use(store, good?.digest ?? ''), true);
  });

  const ends: Record<string, (store: AnyStore) => Promise<unknown>> = {
    'a newer one': (store) => invite(store, 'newer'),
    'disabling the account, also after it is enabled': async (store) => {
      await store.setAccountStatus('usr_ada', 'disabled', event('user_disabled'));
      await store.setAccountStatus('usr_ada', 'active', event('user_enabled'));
    },
    'another email address': (store) =>
      store.updateAccount(
        { ...sampleAccount(), email: 'a@b.example' },
        sampleAccount(),
        'a@b.example',
        event('user_updated'),
      ),
    'a password that an operator sets': (store) =>
      store.setPassword('usr_ada', password('set'), true, event('user_password_set')),
    'a password that its person changes': (store) =>
      store.changePassword(
        sampleAccount().password,
        password('changed'),
        sampleSession(),
        null,
        event('password_changed'),
      ),
    'deleting the account': (store) => store.deleteAccount('usr_ada', event('user_deleted')),
  };
  for (const [what, end] of Object.entries(ends))
    withStore(`an invitation is over after ${what}`, async (store) => {
      await invite(store, 'one');
      await end(store);
      assert.equal(await use(store, 'one'), false);
      assert.notDeepEqual((await store.findAccount('usr_ada'))?.password, password('chosen'));
    });

  withStore('an invitation stays where a name is changed, and the address is not', async (store) => {
    await invite(store, 'one');
    await store.updateAccount(
      { ...sampleAccount(), email: 'ADA@example.com', name: 'A' },
      sampleAccount(),
      KEY,
      event('user_updated'),
    );
    assert.equal(await use(store, 'one'), true);
  });

  withStore('nobody is invited who is disabled, has another address or is not there', async (store) => {
    assert.equal(await invite(store, 'one', 'usr_ada', 'other@example.com'), 'gone');
    assert.equal(await invite(store, 'one', 'usr_none'), 'gone');
    await store.setAccountStatus('usr_ada', 'disabled', event('user_disabled'));
    const last = (await store.listAuditEvents({ limit: 1 }))[0]?.sequence;
    assert.equal(await invite(store, 'one'), 'gone');
    assert.equal((await found(store)).invitation, null);
    assert.equal((await store.listAuditEvents({ limit: 1 }))[0]?.sequence, last, 'nothing is recorded');
  });

  withStore(
    'the names of who is invited are theirs, as with a password: of 100 added at once, one is',
    async (store) => {
      const add = (id: string, key: string, some: Partial<Account> = {}) =>
        store.addAccount(invitedPerson({ id, ...some }), key, event('user_added'));
      assert.equal(await add('usr_x', KEY), 'email');
      assert.equal(await add('usr_x', 'x@example.com', { username: 'ada' }), 'username');
      const answers = await Promise.all(HUNDRED.map((_, n) => add(`usr_${n}`, 'same@example.com')));
      assert.equal(answers.filter((taken) => taken === null).length, 1);
      const one = `usr_${answers.indexOf(null)}`;
      assert.equal(
        await store.addAccount(sampleAccount({ id: 'usr_y', username: null }), 'same@example.com', event('user_added')),
        'email',
      );
      assert.equal(
        await store.updateAccount(
          { ...sampleAccount(), email: 'x' },
          sampleAccount(),
          'same@example.com',
          event('user_updated'),
        ),
        'email',
      );
      const invited = await found(store, one);
      assert.equal(await store.updateAccount(invited, invited, KEY, event('user_updated')), 'email');
      const used = await store.useInvitation(
        one,
        invitation('first'),
        password('chosen'),
        event('password_set_by_invitation'),
      );
      assert.equal(used, true);
      assert.equal((await store.findPasswordAccount('same@example.com'))?.id, one);
    },
  );

  withStore('who has neither password nor invitation shares an address, but is not invited to it', async (store) => {
    const identity = { id: 'p:1', providerId: 'p', accountId: 'usr_new', createdAt: NOW };
    const provider = {
      id: 'p',
      status: 'active',
      name: 'P',
      signInUrl: 'https://p.test',
      secrets: [],
      keys: [],
      ownIds: false,
      rights: ['sign-in'],
      homePage: null,
      sessionLifetime: null,
      createdAt: NOW,
    } as const;
    assert.equal(await store.registerIdentityProvider(provider, event('identity_provider_registered')), true);
    const account = invitedPerson({ invitation: null });
    assert.equal(await store.addIdentityAndAccount(identity, account, KEY, event('user_added')), true);
    assert.equal(await invite(store, 'one', 'usr_new'), 'email');
    assert.equal(await invite(store, 'one'), null, 'but whose address it is, is');
  });

  withStore('a password that must be changed says so until it is, and the session it replaces ends', async (store) => {
    assert.equal(await store.setPassword('usr_ada', password('made'), true, event('user_password_set')), null);
    assert.equal((await found(store)).mustChangePassword, true);
    await store.rehashPassword('usr_ada', password('made'), password('made anew'));
    assert.equal((await found(store)).mustChangePassword, true, 'it is the same password');
    const bob = sampleAccount({ id: 'usr_bob', username: null });
    await store.addAccount(bob, 'bob@example.com', event('user_added'));
    const [before, session] = [sampleSession({ accountId: 'usr_bob' }), sampleSession()];
    await store.addSession(before, bob.password, null, event('sign_in'));
    const changed = await store.changePassword(
      password('made anew'),
      password('own'),
      session,
      before.digest,
      event('password_changed'),
    );
    assert.equal(changed, true);
    assert.equal((await found(store)).mustChangePassword, false);
    assert.equal(await store.findSession(before.digest), null);
    assert.ok(await store.findSession(session.digest));
    await store.setPassword('usr_ada', password('made'), true, event('user_password_set'));
    await invite(store, 'one');
    assert.equal(await use(store, 'one'), true);
    assert.equal((await found(store)).mustChangePassword, false, 'its person chose it');
  });
}
