/** Identities and their providers, and sign-ins elsewhere on their way back. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import {
  type Identity,
  type IdentityProvider,
  identityId,
  subjectOf,
} from '../../../src/accounts/identity-provider.ts';
import type { ExternalSession } from '../../../src/accounts/session.ts';
import {
  event,
  NOW,
  sampleAccount,
  sampleExternalSignIn,
  sampleProvider,
  sampleSecret,
  sampleSession,
} from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore } from './any-store.ts';

const product = sampleProvider();

const external: ExternalSession = {
  expiresAt: NOW + 600_000,
  externalId: 'ada',
  authTime: NOW,
  amr: ['pwd'],
  isBound: true,
  requests: [],
};

function person(id: string) {
  return { ...sampleAccount(), id, password: null, passwordSetAt: null };
}

function identityOf(subject: string, accountId: string): Identity {
  return { id: identityId('product', subject), providerId: 'product', accountId, createdAt: NOW };
}

async function register(store: AnyStore): Promise<void> {
  assert.equal(await store.registerIdentityProvider(product, event('identity_provider_registered')), true);
}

/** Providers. */
export function identityProviders(withStore: WithStore): void {
  withStore('a provider is registered once, changed, and found as it is then', async (store) => {
    await register(store);
    assert.equal(await store.registerIdentityProvider(product, event('identity_provider_registered')), false);
    assert.deepEqual(await store.findIdentityProvider('product'), product);
    const changed: IdentityProvider = {
      ...product,
      name: 'Pictures',
      rights: ['sign-in', 'users'],
      sessionLifetime: 60,
    };
    assert.equal(await store.updateIdentityProvider(changed, event('identity_provider_updated')), true);
    assert.deepEqual(await store.listIdentityProviders(), [changed]);
    const pause = () => store.setIdentityProviderStatus('product', 'paused', event('identity_provider_paused'));
    assert.deepEqual([await pause(), await pause()], [true, false]);
    assert.equal((await store.findIdentityProvider('product'))?.status, 'paused');
    assert.equal(await store.findIdentityProvider('other'), null);
  });

  withStore('secrets of a provider are replaced only if they are as expected', async (store) => {
    await register(store);
    const replace = (expected: IdentityProvider['secrets']) =>
      store.replaceIdentityProviderSecrets(
        'product',
        expected,
        [sampleSecret()],
        event('identity_provider_secret_rotated'),
      );
    assert.equal(await replace([]), false);
    assert.equal(await replace(product.secrets), true);
  });

  withStore('a provider that somebody has an identity at is not deleted', async (store) => {
    await register(store);
    const remove = () => store.deleteIdentityProvider('product', event('identity_provider_deleted'));
    await store.linkIdentity(identityOf('ada', 'usr_ada'), event('user_linked'));
    assert.equal(await remove(), false);
    await store.deleteAccount('usr_ada', event('user_deleted'));
    assert.deepEqual([await remove(), await remove()], [true, false]);
  });
}

/** Identities. */
export function identities(withStore: WithStore): void {
  withStore('a subject is one account, compared byte for byte: of 100 that add it at once, one does', async (store) => {
    await register(store);
    const add = (n: number) =>
      store.addIdentityAndAccount(
        identityOf('eve', `usr_${n}`),
        person(`usr_${n}`),
        'ada@example.com',
        event('user_added'),
      );
    const added = await Promise.all(HUNDRED.map((_, n) => add(n)));
    assert.equal(added.filter(Boolean).length, 1);
    assert.equal((await store.listAccounts(100)).length, 2, 'the losers left no account');
    const found = await store.findIdentity('product', 'eve');
    assert.equal(found?.account.id, `usr_${added.indexOf(true)}`);
    assert.equal(found?.account.email, 'Ada@example.com', 'an address may repeat');
    assert.equal(await store.findIdentity('product', 'Eve'), null);
    assert.deepEqual(await store.listIdentities(found?.account.id ?? ''), [found?.identity]);
  });

  withStore('an address links nothing, and is found as that of several', async (store) => {
    await register(store);
    await store.addIdentityAndAccount(
      identityOf('eve', 'usr_eve'),
      person('usr_eve'),
      'ada@example.com',
      event('user_added'),
    );
    assert.equal((await store.findPasswordAccount('ada@example.com'))?.id, 'usr_ada');
    const all = await store.listAccountsByEmail('ada@example.com', 5);
    assert.deepEqual(
      all.map(({ id }) => id),
      ['usr_ada', 'usr_eve'],
    );
    const taken = await store.setPassword('usr_eve', { sealedPhc: 'x', keyId: 1 }, false, event('user_password_set'));
    assert.equal(taken, 'email', 'among those with a password an address is one person’s');
  });

  withStore('an account that is there gets one more identity; nobody gets one that somebody has', async (store) => {
    await register(store);
    const link = (subject: string, id: string) => store.linkIdentity(identityOf(subject, id), event('user_linked'));
    assert.deepEqual(
      [await link('ada', 'usr_ada'), await link('ada', 'usr_ada'), await link('x', 'usr_none')],
      [true, false, false],
    );
    assert.equal((await store.findIdentity('product', 'ada'))?.account.id, 'usr_ada');
    await store.deleteAccount('usr_ada', event('user_deleted'));
    assert.equal(await store.findIdentity('product', 'ada'), null);
  });

  withStore('people are written all or none, each with its event', async (store) => {
    await register(store);
    const add = (subject: string) => ({
      identity: identityOf(subject, `usr_${subject}`),
      before: null,
      account: person(`usr_${subject}`),
      emailKey: null,
      event: event('user_added', { resourceOwnerId: `usr_${subject}` }),
    });
    const update = (id: string, name: string, before = person(id)) => ({
      identity: null,
      before,
      account: { ...before, name },
      emailKey: null,
      event: event('user_updated', { resourceOwnerId: id }),
    });
    const told = async () =>
      (await store.listAuditEvents({ limit: 3 })).map(({ action, resourceOwnerId }) => `${action} ${resourceOwnerId}`);
    assert.equal(await store.writePeople([]), true);
    assert.equal(await store.writePeople([add('x'), add('y')]), true);
    assert.deepEqual((await told()).slice(0, 2).sort(), ['user_added usr_x', 'user_added usr_y']);
    const before = await told();
    assert.equal(await store.writePeople([update('usr_x', 'New'), add('z'), add('y')]), false, 'y is there');
    assert.equal(await store.writePeople([add('z'), update('usr_none', 'New')]), false, 'nobody is there');
    assert.equal(await store.findIdentity('product', 'z'), null);
    assert.notEqual((await store.findAccount('usr_x'))?.name, 'New');
    assert.deepEqual(await told(), before);
    assert.equal(await store.writePeople([update('usr_x', 'New'), add('z')]), true);
    assert.equal((await store.findAccount('usr_x'))?.name, 'New');
    assert.equal(await store.writePeople([update('usr_x', 'Newer')]), false, 'x is called something else by now');
    assert.equal(await store.writePeople([update('usr_x', 'Newer', { ...person('usr_x'), name: 'New' })]), true);
    const subjects = ['z', ...HUNDRED.map((_, n) => `none${n}`), 'x'];
    const found = [...(await store.findPeople('product', subjects))].map(([subject, { id }]) => `${subject} ${id}`);
    assert.deepEqual(found.sort(), ['x usr_x', 'z usr_z']);
  });

  withStore('of 20 that write the same people at once, one does', async (store) => {
    await register(store);
    const write = (n: number) =>
      store.writePeople(
        ['a', 'b', 'c'].map((subject) => ({
          identity: identityOf(subject, `usr_${subject}${n}`),
          before: null,
          account: person(`usr_${subject}${n}`),
          emailKey: null,
          event: event('user_added'),
        })),
      );
    const written = await Promise.all(Array.from({ length: 20 }, (_, n) => write(n)));
    assert.equal(written.filter(Boolean).length, 1);
    assert.equal((await store.listAccounts(100)).length, 4);
  });

  withStore('who deleted accounts were at providers is still found, beside those who are there', async (store) => {
    await register(store);
    const add = (subject: string, id: string) =>
      store.addIdentityAndAccount(identityOf(subject, id), person(id), null, event('user_added'));
    const idsOf = async (...accounts: string[]) =>
      (await store.listIdentitiesOf(accounts)).map((found) => `${subjectOf(found)} ${found.accountId}`).sort();
    await add('a', 'usr_1');
    await store.linkIdentity(identityOf('b', 'usr_1'), event('user_linked'));
    await add('c', 'usr_2');
    const many = [...HUNDRED.map((_, n) => `usr_none${n}`), 'usr_2', 'usr_1'];
    assert.deepEqual(await idsOf(...many), ['a usr_1', 'b usr_1', 'c usr_2']);
    await store.deleteAccount('usr_1', event('user_deleted'));
    assert.deepEqual(await idsOf('usr_1', 'usr_2'), ['a usr_1', 'b usr_1', 'c usr_2']);
    assert.equal(await store.findIdentity('product', 'a'), null);
    await add('a', 'usr_3');
    assert.deepEqual(await idsOf('usr_1', 'usr_3'), ['a usr_1', 'a usr_3', 'b usr_1']);
    await store.deleteAccount('usr_3', event('user_deleted'), true);
    assert.deepEqual(await idsOf('usr_1', 'usr_3'), ['a usr_3', 'b usr_1'], 'a subject is kept once');
    assert.deepEqual(await idsOf(), []);
  });

  withStore('of 20 that change the same people at once from the same, one does', async (store) => {
    await register(store);
    const people = ['a', 'b', 'c'].map((subject) => person(`usr_${subject}`));
    for (const [n, account] of people.entries())
      await store.addIdentityAndAccount(identityOf(`${n}`, account.id), account, null, event('user_added'));
    const write = (n: number) =>
      store.writePeople(
        people.map((before) => ({
          identity: null,
          before,
          account: { ...before, name: `Name ${n}` },
          emailKey: null,
          event: event('user_updated'),
        })),
      );
    const written = await Promise.all(Array.from({ length: 20 }, (_, n) => write(n)));
    assert.equal(written.filter(Boolean).length, 1);
    const found = await Promise.all(people.map(({ id }) => store.findAccount(id)));
    assert.deepEqual(
      found.map((account) => account?.name),
      people.map(() => `Name ${written.indexOf(true)}`),
    );
  });

  withStore('external sign-in: an id that comes again begins above its last epoch', async (store) => {
    await register(store);
    const add = () => store.addIdentityAndAccount(identityOf('7', '7'), person('7'), null, event('user_added'));
    assert.equal(await add(), true);
    await store.revokeAccountGrants('7', event('user_grants_revoked'));
    for (const epoch of [1, 2]) {
      assert.equal((await store.findAccount('7'))?.epoch, epoch);
      assert.equal(await store.deleteAccount('7', event('user_deleted'), true), true);
      assert.equal(await add(), true);
    }
    assert.equal((await store.findAccount('7'))?.epoch, 3);
  });
}

/** Sign-ins elsewhere. */
export function externalSignIns(withStore: WithStore): void {
  withStore('who says it first binds a request; the same may say it anew, and the older ticket dies', async (store) => {
    const first = sampleExternalSignIn();
    assert.deepEqual(await store.stateExternalSignIn(first), first);
    const other = await store.stateExternalSignIn({
      ...sampleExternalSignIn(),
      nonce: first.nonce,
      identityId: 'product:eve',
    });
    assert.deepEqual(other, first, 'another person');
    const denied = await store.stateExternalSignIn({ ...sampleExternalSignIn(), nonce: first.nonce, identityId: null });
    assert.deepEqual(denied, first, 'a refusal');
    const again = { ...first, ticket: randomBytes(32), ticketExpiresAt: NOW + 61_000, amr: ['otp'] };
    assert.deepEqual(await store.stateExternalSignIn(again), again);
    const take = (ticket: Buffer) => store.takeTicket(first.nonce, ticket, null, event('sign_in_refused'));
    assert.deepEqual(
      [await take(first.ticket as Buffer), await take(again.ticket), await take(again.ticket)],
      [false, true, false],
    );
    const used = await store.stateExternalSignIn({ ...again, ticket: randomBytes(32) });
    assert.equal(used.ticket, null, 'a used request gets no further ticket');
  });

  withStore('of 100 people who are said at once, one binds a request', async (store) => {
    const { nonce } = sampleExternalSignIn();
    const all = HUNDRED.map((_, n) => sampleExternalSignIn({ nonce, identityId: `product:${n}` }));
    const found = await Promise.all(all.map((one) => store.stateExternalSignIn(one)));
    assert.equal(new Set(found.map(({ identityId }) => identityId)).size, 1);
  });

  withStore('a ticket begins one session, of 100 that show it at once, and ends the one it replaces', async (store) => {
    const one = sampleExternalSignIn();
    await store.stateExternalSignIn(one);
    const before = sampleSession();
    await store.addSession(before, sampleAccount().password, null, event('sign_in'));
    const show = () => {
      const session = sampleSession({ providerId: 'product', external });
      const result = { kind: 'begin', session, replaces: before.digest } as const;
      return store
        .takeTicket(one.nonce, one.ticket as Buffer, result, event('sign_in'))
        .then((took) => ({ took, session }));
    };
    const shown = await Promise.all(HUNDRED.map(show));
    for (const { took, session } of shown) {
      const found = await store.findSession(session.digest);
      assert.deepEqual(found?.session ?? null, took ? session : null);
    }
    assert.equal(shown.filter(({ took }) => took).length, 1);
    assert.equal(await store.findSession(before.digest), null);
  });

  withStore('a session is extended only from what it was, and none begins for a disabled account', async (store) => {
    const session = sampleSession({ providerId: 'product', external });
    const [one, two, three] = [sampleExternalSignIn(), sampleExternalSignIn(), sampleExternalSignIn()];
    for (const each of [one, two, three]) await store.stateExternalSignIn(each);
    const begin = { kind: 'begin', session, replaces: null } as const;
    assert.equal(await store.takeTicket(one.nonce, one.ticket as Buffer, begin, event('sign_in')), true);
    const to = { ...external, authTime: NOW + 1 };
    const extend = { kind: 'extend', digest: session.digest, from: external, to } as const;
    assert.equal(await store.takeTicket(two.nonce, two.ticket as Buffer, extend, event('sign_in')), true);
    assert.deepEqual((await store.findSession(session.digest))?.session.external, to);
    await store.setAccountStatus('usr_ada', 'disabled', event('user_disabled'));
    const late = { ...begin, session: sampleSession({ providerId: 'product', external }) };
    assert.equal(await store.takeTicket(three.nonce, three.ticket as Buffer, late, event('sign_in')), true);
    assert.equal(await store.findSession(late.session.digest), null);
  });
}
