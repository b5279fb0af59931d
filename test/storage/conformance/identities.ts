/** Identities and their providers, and sign-ins elsewhere on their way back. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import type { Account } from '../../../src/accounts/people/account.ts';
import type { ExternalSignIn } from '../../../src/accounts/people/external-sign-in.ts';
import {
  type Identity,
  type IdentityProvider,
  identityId,
  subjectOf,
} from '../../../src/accounts/people/identity-provider.ts';
import type { ExternalSession, Session } from '../../../src/accounts/people/session.ts';
import type { PersonChange, TakenSignIn } from '../../../src/accounts/people/store.ts';
import type { PublicKey } from '../../../src/oauth/clients/client.ts';
import {
  event,
  NOW,
  proofOf,
  sampleAccount,
  sampleExternalSignIn,
  sampleProvider,
  sampleSecret,
  sampleSession,
} from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore } from './any-store.ts';

const product = sampleProvider({ rights: ['sign-in', 'users'] });

const external: ExternalSession = {
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

const proof = proofOf(product, 'users');

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
      homePage: 'https://pictures.example/#/home',
      rights: ['sign-in', 'users'],
      sessionLifetime: 60,
    };
    assert.equal(await store.updateIdentityProvider(changed, product, event('identity_provider_updated')), true);
    assert.deepEqual(await store.listIdentityProviders(), [changed]);
    const pause = () => store.setIdentityProviderStatus('product', 'paused', event('identity_provider_paused'));
    assert.deepEqual([await pause(), await pause()], [true, false]);
    assert.equal((await store.findIdentityProvider('product'))?.status, 'paused');
    assert.equal(await store.findIdentityProvider('other'), null);
  });

  withStore('secrets of a provider are replaced only if they are as expected', async (store) => {
    await register(store);
    const replace = (secrets: IdentityProvider['secrets']) =>
      store.replaceIdentityProviderSecrets(
        { ...product, secrets },
        [sampleSecret()],
        event('identity_provider_secret_rotated'),
      );
    assert.equal(await replace([]), false);
    assert.equal(await replace(product.secrets), true);
  });

  withStore('a call of a provider is proven by one of its keys', async (store) => {
    const key: PublicKey = { kty: 'OKP', crv: 'Ed25519', x: 'x' };
    const other = { ...key, x: 'y' };
    await store.registerIdentityProvider(
      sampleProvider({ secrets: [], keys: [other, key] }),
      event('identity_provider_registered'),
    );
    const end = (held: PublicKey) =>
      store.endAccountSessions('usr_ada', event('user_sessions_ended'), {
        ...proof,
        right: 'sign-in',
        credential: { key: held },
      });
    assert.deepEqual([await end(key), await end({ ...key, x: 'z' })], [true, false]);
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
    assert.equal((await store.listAccounts(null, 100)).length, 2, 'the losers left no account');
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
    const ids = async (limit: number) =>
      (await store.listAccountsByEmail('ada@example.com', limit)).map(({ id }) => id);
    assert.deepEqual(await ids(5), ['usr_ada', 'usr_eve']);
    const taken = await store.setPassword('usr_eve', { sealedPhc: 'x', keyId: 1 }, false, event('user_password_set'));
    assert.equal(taken, 'email', 'among those with a password an address is one person’s');
    const claimed = { ...person('usr_old'), emailSetHere: false, createdAt: NOW - 1 };
    await store.addIdentityAndAccount(identityOf('old', 'usr_old'), claimed, 'ada@example.com', event('user_added'));
    assert.deepEqual(await ids(2), ['usr_ada', 'usr_eve'], 'those whose address was set here come first');
    assert.deepEqual(await ids(5), ['usr_ada', 'usr_eve', 'usr_old']);
    const some = (id: string, limit: number) => store.listSomePeople(id, limit);
    assert.deepEqual((await some('product', 9)).map(({ id }) => id).sort(), ['usr_eve', 'usr_old']);
    assert.deepEqual([(await some('product', 1)).length, (await some('produc', 9)).length], [1, 0]);
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
    assert.equal(await store.writePeople([], proof), true);
    assert.equal(await store.writePeople([add('x'), add('y')], proof), true);
    assert.deepEqual((await told()).slice(0, 2).sort(), ['user_added usr_x', 'user_added usr_y']);
    const before = await told();
    assert.equal(await store.writePeople([update('usr_x', 'New'), add('z'), add('y')], proof), false, 'y is there');
    assert.equal(await store.writePeople([add('z'), update('usr_none', 'New')], proof), false, 'nobody is there');
    assert.equal(await store.findIdentity('product', 'z'), null);
    assert.notEqual((await store.findAccount('usr_x'))?.name, 'New');
    assert.deepEqual(await told(), before);
    assert.equal(await store.writePeople([update('usr_x', 'New'), add('z')], proof), true);
    assert.equal((await store.findAccount('usr_x'))?.name, 'New');
    assert.equal(
      await store.writePeople([update('usr_x', 'Newer')], proof),
      false,
      'x is called something else by now',
    );
    assert.equal(await store.writePeople([update('usr_x', 'Newer', { ...person('usr_x'), name: 'New' })], proof), true);
    const subjects = ['z', ...HUNDRED.map((_, n) => `none${n}`), 'x'];
    const found = [...(await store.findPeople('product', subjects))].map(([subject, { id }]) => `${subject} ${id}`);
    assert.deepEqual(found.sort(), ['x usr_x', 'z usr_z']);
  });

  withStore('a person who got a password since they were read keeps the address', async (store) => {
    await register(store);
    const before = { ...person('usr_x'), email: 'x@example.com', username: null };
    await store.addIdentityAndAccount(identityOf('x', 'usr_x'), before, 'x@example.com', event('user_added'));
    await store.setPassword('usr_x', { sealedPhc: 'x', keyId: 1 }, false, event('user_password_set'));
    const write = (some: Partial<Account>) => {
      const account = { ...before, ...some };
      const change = { identity: null, before, account, emailKey: account.email, event: event('user_updated') };
      return store.writePeople([change], proof);
    };
    assert.deepEqual([await write({ email: 'y@example.com' }), await write({ name: 'Xenia' })], [false, true]);
    const after = await store.findAccount('usr_x');
    assert.deepEqual([after?.email, after?.name], ['x@example.com', 'Xenia']);
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
        proof,
      );
    const written = await Promise.all(Array.from({ length: 20 }, (_, n) => write(n)));
    assert.equal(written.filter(Boolean).length, 1);
    assert.equal((await store.listAccounts(null, 100)).length, 4);
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
        proof,
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
  const signInProof = proofOf(product);
  const state = (store: AnyStore, signIn: ExternalSignIn) => store.stateExternalSignIn(signIn, signInProof);
  const take = ({ nonce, ticket }: ExternalSignIn, store: AnyStore, taken: TakenSignIn | null = null) =>
    store.takeTicket(nonce, ticket, taken, event(taken ? 'sign_in' : 'sign_in_refused'));
  /** Ada, who is linked to the product, comes in with a new session. */
  const comingIn = async (store: AnyStore, some: Partial<Session> = {}, replaces: Buffer | null = null) => {
    const { identity, account } = (await store.findIdentity('product', 'ada')) as {
      identity: Identity;
      account: Account;
    };
    const session = sampleSession({ providerId: 'product', external, ...some });
    return {
      provider: product,
      identity,
      account,
      change: null,
      session: { kind: 'begin', session, replaces },
    } as const;
  };
  const linkAda = async (store: AnyStore) => {
    await register(store);
    await store.linkIdentity(identityOf('ada', 'usr_ada'), event('user_linked'));
  };

  withStore('who says it first binds a request; the same may say it anew, and the older ticket dies', async (store) => {
    await register(store);
    const first = sampleExternalSignIn({ profile: { name: 'Ada' } });
    assert.deepEqual(await state(store, first), first);
    const { nonce } = first;
    const other = await state(store, sampleExternalSignIn({ nonce, identityId: 'product:eve' }));
    assert.deepEqual(other, first, 'another person');
    const denied = await state(store, sampleExternalSignIn({ nonce, identityId: null }));
    assert.deepEqual(denied, first, 'a refusal');
    const news = { ticketExpiresAt: NOW + 61_000, amr: ['otp'], profile: { name: null } };
    const again = { ...first, ticket: randomBytes(32), ...news };
    assert.deepEqual(await state(store, again), again);
    assert.deepEqual(
      [await take(first, store), await take(again, store), await take(again, store)],
      [false, true, false],
    );
    const used = await state(store, { ...again, ticket: randomBytes(32) });
    assert.deepEqual(used, { ...again, takenAt: NOW }, 'a used request gets no further ticket');
  });

  withStore('of 100 people who are said at once, one binds a request', async (store) => {
    await register(store);
    const { nonce } = sampleExternalSignIn();
    const all = HUNDRED.map((_, n) => sampleExternalSignIn({ nonce, identityId: `product:${n}` }));
    const found = await Promise.all(all.map((one) => state(store, one)));
    assert.equal(new Set(found.map((one) => one?.identityId)).size, 1);
  });

  withStore('a ticket begins one session, of 100 that show it at once, and ends the one it replaces', async (store) => {
    await linkAda(store);
    const one = sampleExternalSignIn();
    await state(store, one);
    const before = sampleSession();
    await store.addSession(before, sampleAccount().password, null, event('sign_in'));
    const show = async () => {
      const taken = await comingIn(store, {}, before.digest);
      return { took: await take(one, store, taken), session: taken.session.session };
    };
    const shown = await Promise.all(HUNDRED.map(show));
    for (const { took, session } of shown) {
      const found = await store.findSession(session.digest);
      assert.deepEqual(found?.session ?? null, took ? session : null);
    }
    assert.equal(shown.filter(({ took }) => took).length, 1);
    assert.equal(await store.findSession(before.digest), null);
  });

  withStore('a ticket makes the person in the same write, or changes them: all of it, or nothing', async (store) => {
    await register(store);
    const made = { ...person('usr_eve'), name: 'Eve' };
    const change = (name: string, before: Account | null): PersonChange => ({
      ...(before ? { identity: null, before } : { identity: identityOf('eve', 'usr_eve'), before }),
      account: { ...made, name },
      emailKey: null,
      event: event(before ? 'user_updated' : 'user_added'),
    });
    const eve = (change: PersonChange, accountId = 'usr_eve'): TakenSignIn => ({
      provider: product,
      identity: identityOf('eve', 'usr_eve'),
      account: change.account,
      change,
      session: {
        kind: 'begin',
        session: sampleSession({ accountId, providerId: 'product', external }),
        replaces: null,
      },
    });
    const [one, two] = [sampleExternalSignIn(), sampleExternalSignIn()];
    for (const each of [one, two]) await state(store, each);
    assert.equal(await take(one, store, eve(change('Eve', null))), true);
    assert.equal((await store.findIdentity('product', 'eve'))?.account.name, 'Eve');
    assert.equal(await take(two, store, eve(change('Eve', null))), false, 'she is there');
    assert.equal(
      await take(two, store, eve(change('Eva', { ...made, name: 'Other' }))),
      false,
      'she was changed meanwhile',
    );
    assert.equal(await take(one, store, eve(change('Eva', made))), false, 'the ticket is taken');
    assert.equal((await store.findAccount('usr_eve'))?.name, 'Eve', 'what goes with it is undone');
    assert.equal(await take(two, store, eve(change('Eva', made))), true);
    assert.equal((await store.findAccount('usr_eve'))?.name, 'Eva');
  });

  withStore('a session is extended only from what it was', async (store) => {
    await linkAda(store);
    const tickets = [sampleExternalSignIn(), sampleExternalSignIn(), sampleExternalSignIn()] as const;
    for (const each of tickets) await state(store, each);
    const begun = await comingIn(store);
    const { session } = begun.session;
    assert.equal(await take(tickets[0], store, begun), true);
    const to = { ...session, expiresAt: session.expiresAt + 1, external: { ...external, authTime: NOW + 1 } };
    const extending = { ...begun, session: { kind: 'extend', from: session, to } } as const;
    assert.equal(await take(tickets[1], store, extending), true);
    assert.deepEqual((await store.findSession(session.digest))?.session, to);
    assert.equal(await take(tickets[2], store, extending), false, 'it is another by now');
    assert.equal((await store.findExternalSignIn(tickets[2].nonce))?.takenAt, null);
  });

  withStore('nobody comes in whose provider or account is not as it was read', async (store) => {
    await linkAda(store);
    const one = sampleExternalSignIn();
    await state(store, one);
    const ada = await comingIn(store);
    const refused = async (why: string) => {
      assert.equal(await take(one, store, ada), false, why);
      assert.equal(await store.findSession(ada.session.session.digest), null, why);
    };
    const setUp = async (some: Partial<IdentityProvider>) => {
      const before = (await store.findIdentityProvider('product')) ?? assert.fail();
      await store.updateIdentityProvider({ ...product, ...some }, before, event('identity_provider_updated'));
    };
    for (const some of [{ rights: ['users'] as const }, { sessionLifetime: 60 }]) {
      await setUp(some);
      await refused(JSON.stringify(some));
    }
    await setUp({});
    await store.setIdentityProviderStatus('product', 'paused', event('identity_provider_paused'));
    await refused('paused');
    await store.setIdentityProviderStatus('product', 'active', event('identity_provider_resumed'));
    assert.equal(await take(one, store, { ...ada, account: { ...ada.account, id: 'usr_eve' } }), false, 'another');
    await store.setAccountStatus('usr_ada', 'disabled', event('user_disabled'));
    const late = sampleExternalSignIn();
    await state(store, late);
    assert.equal(await take(late, store, ada), false, 'disabled before it was said');
    await store.setAccountStatus('usr_ada', 'active', event('user_enabled'));
    assert.equal(await take(late, store, ada), true, 'and all is as it was');
  });

  const ends: Record<string, (store: AnyStore) => Promise<unknown>> = {
    'end-sessions': (store) => store.endAccountSessions('usr_ada', event('user_sessions_ended')),
    disable: (store) => store.setAccountStatus('usr_ada', 'disabled', event('user_disabled')),
    delete: (store) => store.deleteAccount('usr_ada', event('user_deleted')),
    'a new password': (store) =>
      store.setPassword('usr_ada', { sealedPhc: 'x', keyId: 1 }, false, event('user_password_set')),
    'the end of what is on its way': (store) => store.endTickets('product:ada', NOW, signInProof),
  };
  for (const [what, end] of Object.entries(ends))
    withStore(`what was said of a person before ${what} begins no session, and of others does`, async (store) => {
      await linkAda(store);
      const [one, two] = [sampleExternalSignIn(), sampleExternalSignIn({ identityId: 'product:eve' })];
      for (const each of [one, two]) await state(store, each);
      const ada = await comingIn(store);
      await end(store);
      assert.equal((await store.findExternalSignIn(one.nonce))?.takenAt, NOW);
      await store.setAccountStatus('usr_ada', 'active', event('user_enabled'));
      assert.equal(await take(one, store, ada), false);
      assert.equal(await store.findSession(ada.session.session.digest), null);
      assert.equal((await store.findExternalSignIn(two.nonce))?.takenAt, null);
    });

  withStore(
    'a session that begins while all sessions of its account are ended is ended, or never there',
    async (store) => {
      await linkAda(store);
      const tickets = Array.from({ length: 20 }, () => sampleExternalSignIn());
      for (const each of tickets) await state(store, each);
      const taking = tickets.map(async (each) => {
        const ada = await comingIn(store);
        await take(each, store, ada);
        return ada.session.session.digest;
      });
      const ending = store.endAccountSessions('usr_ada', event('user_sessions_ended'));
      const digests = await Promise.all(taking);
      await ending;
      await store.endAccountSessions('usr_ada', event('user_sessions_ended'));
      for (const digest of digests) assert.equal(await store.findSession(digest), null);
    },
  );
}
