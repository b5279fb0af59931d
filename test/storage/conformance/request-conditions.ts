/** Conditions of operators' requests: `Idempotency-Key` and `If-Match`. */
import assert from 'node:assert/strict';
import { hash, randomBytes } from 'node:crypto';
import type { Session } from '../../../src/accounts/people/session.ts';
import {
  ChangedSince,
  DoneBefore,
  IDEMPOTENCY_KEY_MS,
  type OnceOnly,
  type RequestConditions,
  type Unchanged,
} from '../../../src/oauth/trail/request-conditions.ts';
import { sampleAddress, sampleOperator } from '../../support/operators.ts';
import {
  basisOf,
  event,
  NOW,
  operator,
  sampleAccount,
  sampleClient,
  sampleGrant,
  sampleProvider,
  sampleResourceServer,
  sampleSession,
} from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore } from './any-store.ts';

const digestOf = (text: string) => hash('sha256', text, 'buffer');
const once: OnceOnly = { digest: digestOf('key'), request: digestOf('body'), at: NOW };
const asked = (conditions: RequestConditions) => ({ actor: { ...operator, conditions } });
const register = (store: AnyStore, id: string, conditions: RequestConditions) =>
  store.registerClient(sampleClient({ id }), event('client_registered', { clientId: id, ...asked(conditions) }));

/** `Idempotency-Key` and `If-Match`. */
export function requestConditions(withStore: WithStore): void {
  withStore('a key is recorded with what it made, and makes nothing again', async (store) => {
    assert.equal(await store.findMade(once.digest), null);
    assert.equal(await register(store, 'app_first', { once }), true);
    assert.deepEqual(await store.findMade(once.digest), { ...once, made: 'app_first' });
    await assert.rejects(register(store, 'app_second', { once }), DoneBefore);
    assert.equal(await store.findClient('app_second'), null, 'its rows are rolled back with it');
    assert.equal((await store.listAuditEvents({ clientId: 'app_second', limit: 10 })).length, 0);
  });

  withStore('of 100 requests with one key at once, one makes something', async (store) => {
    const outcomes = await Promise.allSettled(HUNDRED.map((_, n) => register(store, `app_${n}`, { once })));
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1);
    for (const outcome of outcomes) if (outcome.status === 'rejected') assert.ok(outcome.reason instanceof DoneBefore);
    const made = await store.findMade(once.digest);
    const found = await Promise.all(HUNDRED.map((_, n) => store.findClient(`app_${n}`)));
    assert.deepEqual(
      found.filter((client) => client !== null).map(({ id }) => id),
      [made?.made],
    );
  });

  withStore('an act that does nothing records no key', async (store) => {
    assert.equal(await register(store, 'app_one', { once }), false, 'there is one with this id');
    assert.equal(await store.findMade(once.digest), null);
  });

  withStore(`a key is good again after ${IDEMPOTENCY_KEY_MS / 3_600_000} hours, and not before`, async (store) => {
    await register(store, 'app_first', { once });
    const later = (ms: number) => ({ once: { ...once, at: NOW + ms } });
    await assert.rejects(register(store, 'app_second', later(IDEMPOTENCY_KEY_MS - 1)), DoneBefore);
    assert.equal(await register(store, 'app_second', later(IDEMPOTENCY_KEY_MS)), true);
    assert.equal((await store.findMade(once.digest))?.made, 'app_second');
  });

  withStore('an invited user is what the key made', async (store) => {
    const account = { ...sampleAccount({ id: 'usr_new', username: null }), password: null };
    const added = event('user_added', { resourceOwnerId: account.id, ...asked({ once }) });
    assert.equal(await store.addAccount(account, 'new@example.com', added), null);
    assert.equal((await store.findMade(once.digest))?.made, 'usr_new');
  });

  const [client, server, provider] = [sampleClient(), sampleResourceServer(), sampleProvider()];
  const scope = { name: 'read', sentences: { en: 'Read' }, effect: null, createdAt: NOW };
  const account = sampleAccount();
  const ann = sampleOperator();
  /** Each noun's earlier row, its change, and an act that demands the earlier row. */
  const nouns: Readonly<
    Record<Unchanged['noun'], [row: object, change: (store: AnyStore) => Promise<unknown>, act: Conditional]>
  > = {
    client: [
      client,
      (store) => store.replaceClientSecrets(client, [], event('client_secret_retired')),
      (store, conditions) => store.setClientStatus(client.id, 'paused', event('client_paused', conditions)),
    ],
    resource_server: [
      server,
      (store) => store.replaceResourceServerSecrets(server, [], event('resource_server_secret_retired')),
      (store, conditions) =>
        store.updateResourceServer({ ...server, name: 'Other' }, server, event('resource_server_updated', conditions)),
    ],
    identity_provider: [
      provider,
      (store) => store.setIdentityProviderStatus(provider.id, 'paused', event('identity_provider_paused')),
      (store, conditions) =>
        store.updateIdentityProvider(
          { ...provider, name: 'Other' },
          provider,
          event('identity_provider_updated', conditions),
        ),
    ],
    scope: [
      scope,
      (store) => store.defineScope({ ...scope, effect: 'reads' }, scope, event('scope_defined')),
      (store, conditions) => store.deleteScope(scope.name, event('scope_deleted', conditions)),
    ],
    user: [
      account,
      (store) => store.revokeAccountGrants(account.id, event('user_grants_revoked')),
      (store, conditions) => store.setAccountStatus(account.id, 'disabled', event('user_disabled', conditions)),
    ],
    operator: [
      ann,
      (store) => store.endOperatorSessions(ann.id, event('operator_sessions_ended')),
      (store, conditions) => store.resetOperator(sampleAddress(), event('operator_reset', conditions)),
    ],
  };
  for (const [noun, [row, change, act]] of Object.entries(nouns)) {
    const conditions = asked({ unchanged: { noun: noun as Unchanged['noun'], row } });
    const withRows = async (store: AnyStore) => {
      await store.deleteClient(client.id, event('client_deleted'));
      await store.registerClient(client, event('client_registered'));
      await store.registerResourceServer(server, event('resource_server_registered'));
      await store.registerIdentityProvider(provider, event('identity_provider_registered'));
      await store.defineScope(scope, null, event('scope_defined'));
      await store.addOperator(ann, null, event('operator_added'));
    };
    withStore(`RFC 9110 §13.1.1: a ${noun} that is as it was is changed`, async (store) => {
      await withRows(store);
      assert.equal(await act(store, conditions), true);
    });
    withStore(`RFC 9110 §13.1.1: a ${noun} that changed in anything since is left as it is`, async (store) => {
      await withRows(store);
      await change(store);
      await assert.rejects(act(store, conditions), ChangedSince);
    });
  }

  /** A person who is signed in since `NOW`, and what happens to them; all begins at `at`, which is the time of a page. */
  const at = NOW + 1;
  const seenPerson = async (store: AnyStore) => {
    const id = `usr_${randomBytes(8).toString('hex')}`;
    const row = sampleAccount({ id, email: `${id}@example.com`, username: null });
    await store.addAccount(row, `${id}@example.com`, event('user_added'));
    const [session, newSession] = [NOW, at].map((createdAt) => sampleSession({ accountId: id, createdAt }));
    if (!session || !newSession) throw new Error();
    const begin = (some: Session) => store.addSession(some, row.password, null, event('sign_in'));
    await begin(session);
    const epochs = (await store.findEpochs(client.id, id)) ?? assert.fail();
    const grant = sampleGrant({ resourceOwnerId: id, clientId: client.id, epochs, grantedAt: at });
    return {
      id,
      signIn: () => begin(newSession),
      signOut: () => store.endSession(newSession.digest, event('sign_out')),
      allow: () => store.issueGrant(grant, event('consent_allowed'), basisOf(session.digest)),
      delete: (seenAt: number) =>
        store.deleteAccount(id, event('user_deleted', asked({ unchanged: { noun: 'user', row, seenAt } }))),
    };
  };

  withStore('a person whose sessions and grants are older than a page is deleted by it', async (store) => {
    const person = await seenPerson(store);
    assert.deepEqual([await person.signIn(), await person.allow()], [true, true]);
    assert.equal(await person.delete(at + 1), true);
  });

  withStore('a person who signed in since a page is not deleted by it', async (store) => {
    const person = await seenPerson(store);
    await person.signIn();
    await assert.rejects(person.delete(at), ChangedSince);
    await person.signOut();
    assert.equal(await person.delete(at), true);
  });

  withStore('a person who allowed an app since a page is not deleted by it', async (store) => {
    const person = await seenPerson(store);
    await person.allow();
    await assert.rejects(person.delete(at), ChangedSince);
    assert.notEqual(await store.findAccount(person.id), null);
  });

  for (const act of ['signIn', 'allow'] as const)
    withStore(`of ${act} and a deletion by the page before it, at once, one happens`, async (store) => {
      for (let n = 0; n < 40; n += 1) {
        const person = await seenPerson(store);
        const deletes = () => person.delete(at).catch((error) => error instanceof ChangedSince && false);
        const both = await Promise.all(n % 2 === 0 ? [person[act](), deletes()] : [deletes(), person[act]()]);
        assert.deepEqual(both.toSorted(), [false, true]);
      }
    });

  withStore('times of key fetches are no change of a client', async (store) => {
    const stored = (await store.findClient('app_one')) ?? client;
    const conditions = asked({ unchanged: { noun: 'client', row: { ...stored, jwksFetchedAt: 1, jwksAskedAt: 1 } } });
    assert.equal(await store.setClientStatus('app_one', 'paused', event('client_paused', conditions)), true);
  });
}

type Conditional = (store: AnyStore, conditions: ReturnType<typeof asked>) => Promise<unknown>;
