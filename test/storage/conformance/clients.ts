/** Clients, their assertions, and the audit trail. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import type { Client } from '../../../src/oauth/clients/client.ts';
import type { AssertionUse, UsedAssertion } from '../../../src/oauth/clients/client-assertion.ts';
import type { ClientOrder } from '../../../src/oauth/clients/client-store.ts';
import {
  event,
  NOW,
  sampleAccount,
  sampleClient,
  sampleResourceServer,
  sampleSecret,
  sampleSession,
} from '../../support/storage.ts';
import { type AnyStore, find, HUNDRED, isAlive, issue, type WithStore, winners } from './any-store.ts';

/** Clients. */
export function clients(withStore: WithStore): void {
  const one = async (store: AnyStore) => {
    const client = await store.findClient('app_one');
    assert.ok(client);
    return client;
  };

  withStore('a client comes back as it was registered; clients are listed oldest first', async (store) => {
    const two = sampleClient({ id: 'app_two', type: 'public', secrets: [], createdAt: NOW - 1, requirePkce: true });
    await store.registerClient(two, event('client_registered'));
    assert.deepEqual(await store.findClient('app_two'), two);
    const usual = sampleClient({ createdAt: NOW });
    assert.deepEqual({ ...(await one(store)), secrets: [] }, { ...usual, secrets: [] });
    assert.deepEqual(
      (await store.listClients(null, 10)).map(({ id }) => id),
      ['app_two', 'app_one'],
    );
    assert.equal(await store.findClient('app_none'), null);
    for (const id of ['app_one', 'app_two']) {
      assert.equal(await store.hasClients(), true);
      await store.deleteClient(id, event('client_deleted'));
    }
    assert.equal(await store.hasClients(), false);
  });

  withStore(
    'clients are listed page by page, also those of one moment, and are found by names that look alike',
    async (store) => {
      const names = ['Éclair', 'e\u0301clair', 'Other', 'ÉCLAIR', 'éclair  '];
      for (const [n, name] of names.entries())
        await store.registerClient(sampleClient({ id: `app_x${n}`, name, secrets: [] }), event('client_registered'));
      const pages: string[] = [];
      for (let after = null as Client | null; ; ) {
        const page = await store.listClients(after, 2);
        pages.push(...page.map(({ id }) => id));
        after = page.at(-1) ?? null;
        if (page.length < 2) break;
      }
      assert.deepEqual(pages, ['app_one', 'app_x0', 'app_x1', 'app_x2', 'app_x3', 'app_x4']);
      for (const [order, ids] of Object.entries({
        newest: ['app_x4', 'app_x3', 'app_x2', 'app_x1', 'app_x0', 'app_one'],
        name: ['app_one', 'app_x2', 'app_x0', 'app_x1', 'app_x3', 'app_x4'],
      }) as [ClientOrder, string[]][]) {
        const found: string[] = [];
        for (let after = null as Client | null; found.length < 6; ) {
          const page = await store.listClients(after, 2, { order });
          found.push(...page.map(({ id }) => id));
          after = page.at(-1) ?? assert.fail(order);
        }
        assert.deepEqual(found, ids, order);
      }
      assert.deepEqual([await store.countClients({}, 9), await store.countClients({}, 4)], [6, 4]);
      assert.equal(await store.countClients({ text: 'CLAIR' }, 9), 4);
      const idsOf = async (name: string, limit = 10) => (await store.listClientsNamed(name, limit)).map(({ id }) => id);
      assert.deepEqual(await idsOf('ÉCLAIR'), ['app_x3', 'app_x0', 'app_x1']);
      assert.deepEqual(await idsOf('ÉCLAIR', 1), ['app_x3'], 'the very name comes first');
      const first = (await store.findClient('app_x0')) ?? assert.fail();
      await store.updateClient({ ...first, name: 'Other' }, first, event('client_updated'));
      assert.deepEqual(await idsOf('Éclair'), ['app_x1', 'app_x3']);
      assert.deepEqual(await idsOf('other'), ['app_x0', 'app_x2']);
      assert.ok((await store.listClientsNamed('Other', 9)).every((client) => !('nameKey' in client)));
    },
  );

  withStore(
    'a client of a metadata document has its address for an id, and an id is registered once',
    async (store) => {
      const id = 'https://agent.example/oauth/'.padEnd(255, 'a');
      const documented = sampleClient({ id, type: 'public', secrets: [], documentSha256: 'ab'.repeat(32) });
      assert.equal(await store.hasDocumentClient(), false);
      assert.equal(await store.registerClient(documented, event('client_registered')), true);
      assert.deepEqual(await store.findClient(id), documented);
      assert.equal(await store.hasDocumentClient(), true);
      const events = (await store.listAuditEvents({ limit: 100 })).length;
      assert.equal(await store.registerClient({ ...documented, name: 'Two' }, event('client_registered')), false);
      assert.deepEqual(await store.findClient(id), documented);
      assert.equal((await store.listAuditEvents({ limit: 100 })).length, events, 'the loser leaves no event');
      await store.setClientStatus(id, 'paused', event('client_paused'));
      assert.equal(await store.hasDocumentClient(), false, 'the only one is paused');
      await store.setClientStatus(id, 'active', event('client_resumed'));
      assert.equal(await store.hasDocumentClient(), true);
      await store.deleteClient(id, event('client_deleted'));
      assert.equal(await store.hasDocumentClient(), false);
    },
  );

  withStore('a client at which users sign in is found, be it active or paused', async (store) => {
    const client = sampleClient();
    await store.registerClient(client, event('client_registered'));
    assert.equal(await store.hasSignInClient(), false);
    await store.updateClient({ ...client, signIn: true }, client, event('client_updated'));
    await store.setClientStatus(client.id, 'paused', event('client_paused'));
    assert.equal(await store.hasSignInClient(), true);
    await store.deleteClient(client.id, event('client_deleted'));
    assert.equal(await store.hasSignInClient(), false);
  });

  withStore('keys, consent, devices and optional scopes come back as they were registered', async (store) => {
    const keys = [
      { kty: 'EC', crv: 'P-256', x: 'x', y: 'y', kid: 'é "quoted"', use: 'sig', alg: 'ES256' },
      { kty: 'OKP', crv: 'Ed25519', x: 'x' },
    ];
    const scopes = [
      { name: 'a', sentence: null, optional: true },
      { name: 'b', sentence: 'ب', optional: false },
    ];
    for (const consent of ['ask', 'remember', 'skip'] as const) {
      const some = {
        id: `app_${consent}`,
        keys,
        scopes,
        consent,
        deviceFlow: true,
        redirectUris: [],
        secrets: [],
        assertionAudience: 'issuer' as const,
        seesExternalId: true,
        signIn: true,
        defaultResource: 'https://letters.test',
      };
      await store.registerClient(sampleClient(some), event('client_registered'));
      assert.deepEqual(await store.findClient(some.id), sampleClient(some));
    }
  });

  withStore('a default resource is listed, once, for as long as a client has it', async (store) => {
    assert.deepEqual(await store.listDefaultResources(), []);
    const some = { defaultResource: 'https://letters.test' };
    const [two, three] = [sampleClient({ id: 'app_two', ...some }), sampleClient({ id: 'app_three', ...some })];
    for (const client of [two, three]) await store.registerClient(client, event('client_registered'));
    assert.deepEqual(await store.listDefaultResources(), ['https://letters.test']);
    await store.updateClient({ ...two, defaultResource: null }, two, event('client_updated'));
    assert.deepEqual(await store.listDefaultResources(), ['https://letters.test'], 'another has it still');
    await store.deleteClient(three.id, event('client_deleted'));
    assert.deepEqual(await store.listDefaultResources(), []);
  });

  withStore('an update writes what an operator may change and nothing else', async (store) => {
    const before = await one(store);
    const changed = {
      name: 'Uno',
      publisher: 'Uno Ltd',
      homepage: 'https://uno.test/',
      privacyPage: 'https://uno.test/privacy',
      contact: 'hi@uno.test',
      isChecked: true,
      personFields: ['email'] as const,
      redirectUris: ['https://uno.test/'],
      scopes: [],
      defaultResource: 'https://letters.test',
      requirePkce: true,
      refreshOverlap: 0,
      keys: [{ kty: 'OKP', crv: 'Ed25519', x: 'x' }],
      consent: 'remember' as const,
      deviceFlow: true,
      assertionAudience: 'issuer' as const,
      seesExternalId: true,
      signIn: true,
    };
    const asked = { ...before, ...changed, epoch: 9, status: 'paused' as const, secrets: [] };
    assert.equal(await store.updateClient(asked, before, event('client_updated')), true);
    assert.deepEqual(await one(store), { ...before, ...changed });
    assert.equal(await store.updateClient({ ...asked, id: 'app_none' }, asked, event('client_updated')), false);
  });

  withStore('secrets are replaced only if they are as expected: of 100 at once, one wins', async (store) => {
    const before = await one(store);
    const { secrets } = before;
    const replacements = HUNDRED.map(() => [sampleSecret(), ...secrets]);
    const attempts = replacements.map((wanted) =>
      store.replaceClientSecrets(before, wanted, event('client_secret_rotated')),
    );
    assert.equal(await winners(attempts), 1);
    const stored = (await one(store)).secrets;
    assert.deepEqual(stored, replacements[(await Promise.all(attempts)).indexOf(true)]);
    assert.equal(
      await store.replaceClientSecrets({ ...before, id: 'app_none' }, [], event('client_secret_rotated')),
      false,
    );
  });

  withStore('agents: a refresh of the document never sets back when keys were asked for or fetched', async (store) => {
    const jwksUri = 'https://agent.example/keys';
    const agent = sampleClient({ id: 'https://agent.example/a', jwksUri, jwksFetchedAt: NOW, jwksAskedAt: NOW });
    await store.registerClient(agent, event('client_registered'));
    // The operator reads the document, and answers after an instance has asked.
    assert.equal(await store.noteKeysAsked({ id: agent.id, jwksUri }, NOW + 1000, 500), true);
    const read = { ...agent, documentSha256: 'ab'.repeat(32), jwksFetchedAt: NOW + 10, jwksAskedAt: NOW + 10 };
    assert.equal(await store.refreshClient(read, agent, event('client_document_refreshed')), true);
    const after = await store.findClient(agent.id);
    assert.deepEqual([after?.jwksFetchedAt, after?.jwksAskedAt], [NOW + 10, NOW + 1000]);
    const moved = { ...read, jwksUri: `${jwksUri}/new`, jwksFetchedAt: NOW + 20, jwksAskedAt: NOW + 20 };
    assert.equal(await store.refreshClient(moved, after as Client, event('client_document_refreshed')), true);
    assert.equal((await store.findClient(agent.id))?.jwksAskedAt, NOW + 20, 'another address was asked then');
  });

  withStore('a pause shows in every grant of the client, and ends none', async (store) => {
    const grant = await issue(store);
    const set = (status: 'active' | 'paused') => store.setClientStatus('app_one', status, event('client_paused'));
    assert.equal(await set('active'), false);
    assert.equal(await set('paused'), true);
    assert.equal((await find(store, grant)).standing.clientPaused, true);
    assert.equal(await isAlive(store, grant), true);
    assert.equal(await set('active'), true);
    assert.equal(await store.setClientStatus('app_none', 'paused', event('client_paused')), false);
  });
}

/** The marks of client assertions. */
export function assertions(withStore: WithStore): void {
  const MOST = 100;
  const mark = (name: string, some: Partial<UsedAssertion> = {}): UsedAssertion => ({
    clientId: 'app_one',
    digest: hash('sha256', name, 'buffer'),
    expiresAt: NOW + 60_000,
    ...some,
  });
  const useAll = async (store: AnyStore, marks: readonly UsedAssertion[], most = MOST) => {
    const uses = await Promise.all(marks.map((each) => store.useClientAssertion(each, most)));
    const count = (use: AssertionUse) => uses.filter((each) => each === use).length;
    return { first: count('first'), again: count('again'), full: count('full') };
  };

  withStore('of 100 who use one client assertion at once, one wins, and nobody after it', async (store) => {
    const one = mark('one');
    assert.deepEqual(
      await useAll(
        store,
        HUNDRED.map(() => one),
      ),
      { first: 1, again: 99, full: 0 },
    );
    assert.equal(await store.useClientAssertion({ ...one }, MOST), 'again');
    assert.equal(await store.useClientAssertion({ ...one, expiresAt: NOW + 600_000 }, MOST), 'again');
    assert.equal(await store.useClientAssertion(mark('two'), MOST), 'first');
  });

  withStore('a hundred client assertions at once are each good', async (store) => {
    const all = HUNDRED.map((_, n) => mark(`${n}`));
    assert.deepEqual(await useAll(store, all), { first: 100, again: 0, full: 0 });
  });

  withStore(
    'a client never has more marks than it may, however many it uses at once, and others have theirs',
    async (store) => {
      const all = HUNDRED.map((_, n) => mark(`${n}`));
      const others = HUNDRED.map((_, n) => mark(`other ${n}`, { clientId: 'app_two' }));
      const [ofOne, ofTwo] = await Promise.all([useAll(store, all, 30), useAll(store, others, 200)]);
      assert.deepEqual(ofOne, { first: 30, again: 0, full: 70 });
      assert.deepEqual(ofTwo, { first: 100, again: 0, full: 0 });
      assert.deepEqual(
        await useAll(store, all, 30),
        { first: 0, again: 30, full: 70 },
        'a replay is told from a full table',
      );
      assert.deepEqual(
        await useAll(store, all, 31),
        { first: 1, again: 30, full: 69 },
        'a refused one was not used up',
      );
    },
  );

  withStore('a mark is no event, and needs no client that is there', async (store) => {
    const before = await store.lastAuditSequence();
    await store.deleteClient('app_one', event('client_deleted'));
    assert.equal(await store.useClientAssertion(mark('one', { expiresAt: NOW }), MOST), 'first');
    assert.equal(await store.lastAuditSequence(), before + 1);
  });
}

/** Events, beside their effects. */
export function trail(withStore: WithStore): void {
  const read = { name: 'read', sentences: { en: 'Read' }, effect: null, createdAt: NOW };

  withStore('an event comes back as it was recorded, newest first, by filter and up to a limit', async (store) => {
    const denial = event('consent_denied', {
      actor: { kind: 'user', id: 'usr_ada', source: '192.0.2.1', requestId: 'r1', by: 'opk_one' },
      clientId: 'app_one',
      resourceOwnerId: 'usr_ada',
      grantId: 'g',
      detail: 'd',
    });
    await store.recordDenial(denial);
    await store.recordDenial({ ...denial, clientId: 'app_two' });
    const [second, first] = await store.listAuditEvents({ limit: 2 });
    assert.deepEqual(first, { ...denial, endedAccess: null, sequence: (second?.sequence as number) - 1 });
    const count = async (filter: object) => (await store.listAuditEvents({ limit: 100, ...filter })).length;
    assert.equal(await count({ clientId: 'app_two' }), 1);
    assert.deepEqual([await count({ actorBy: 'opk_one' }), await count({ actorBy: 'opk_two' })], [2, 0]);
    assert.equal(await count({ resourceOwnerId: 'usr_ada', action: 'consent_denied' }), 2);
    assert.equal(await count({ action: 'consent_denied', clientId: 'app_none' }), 0);
  });

  withStore('events are found by number, grant and time, also after a step of the clock, with names', async (store) => {
    const hour = 3_600_000;
    const about = { clientId: 'app_one', resourceOwnerId: 'usr_ada', grantId: 'g1' };
    const recorded = [
      { ...event('consent_denied', about), at: NOW - 60 * hour },
      { ...event('consent_denied', { ...about, grantId: 'g2' }), at: NOW + 2 * hour },
      { ...event('consent_denied', { clientId: 'rs_one', resourceOwnerId: 'usr_gone' }), at: NOW - hour },
    ];
    await store.registerResourceServer(sampleResourceServer(), event('resource_server_registered'));
    for (const each of recorded) await store.recordDenial(each);
    const list = async (filter: object) =>
      (await store.listNamedAuditEvents({ action: 'consent_denied', limit: 9, ...filter })).map(({ at }) => at - NOW);
    assert.deepEqual(await list({}), [-hour, 2 * hour, -60 * hour]);
    assert.deepEqual(await list({ since: NOW }), [2 * hour], 'the clock stepped back after it');
    assert.deepEqual(await list({ since: NOW - 60 * hour }), [-hour, 2 * hour, -60 * hour]);
    assert.deepEqual(await list({ grantId: 'g1' }), [-60 * hour]);
    assert.deepEqual(await list({ grantId: 'g1', since: NOW }), []);
    const [ofApi, ofApp] = await store.listNamedAuditEvents({ action: 'consent_denied', limit: 2 });
    assert.deepEqual([ofApi?.clientName, ofApi?.resourceOwner], [sampleResourceServer().name, null]);
    const { id, email, name } = sampleAccount();
    assert.deepEqual([ofApp?.clientName, ofApp?.resourceOwner], [sampleClient().name, { id, email, name }]);
    const sequence = ofApp?.sequence as number;
    assert.deepEqual(await store.listNamedAuditEvents({ sequence, limit: 9 }), [ofApp]);
  });

  withStore('what comes after a place in the trail comes in its order, up to a limit, and once', async (store) => {
    const start = await store.lastAuditSequence();
    assert.deepEqual(await store.listAuditEventsAfter(start, 10), []);
    await Promise.all(HUNDRED.map((_, n) => store.recordDenial(event('consent_denied', { detail: `${n}` }))));
    assert.equal(await store.lastAuditSequence(), start + 100);
    const all = await store.listAuditEventsAfter(start, 1000);
    assert.deepEqual(
      all.map(({ sequence }) => sequence),
      HUNDRED.map((_, n) => start + n + 1),
    );
    assert.deepEqual(all.toReversed(), await store.listAuditEvents({ action: 'consent_denied', limit: 1000 }));
    const pages: string[] = [];
    for (let sequence = start; ; ) {
      const page = await store.listAuditEventsAfter(sequence, 7);
      pages.push(...page.map(({ detail }) => detail as string));
      assert.ok(page.length <= 7);
      if (page.length === 0) break;
      sequence = page.at(-1)?.sequence ?? sequence;
    }
    assert.deepEqual(
      pages,
      all.map(({ detail }) => detail),
    );
    assert.equal((await store.listAuditEventsAfter(0, 1000)).length, start + 100);
  });

  withStore('an event is there exactly when its effect is (I7)', async (store) => {
    const grant = await issue(store);
    await store.registerResourceServer(sampleResourceServer(), event('resource_server_registered'));
    await store.defineScope(read, null, event('scope_defined'));
    const effects: [string, () => Promise<unknown>][] = [
      ['grant_revoked', () => store.revokeGrant(grant.id, 'user', event('grant_revoked'))],
      ['client_paused', () => store.setClientStatus('app_one', 'paused', event('client_paused'))],
      ['client_deleted', () => store.deleteClient('app_one', event('client_deleted'))],
      ['resource_server_deleted', () => store.deleteResourceServer('rs_one', event('resource_server_deleted'))],
      ['scope_deleted', () => store.deleteScope('read', event('scope_deleted'))],
      ['user_disabled', () => store.setAccountStatus('usr_ada', 'disabled', event('user_disabled'))],
      ['user_deleted', () => store.deleteAccount('usr_ada', event('user_deleted'))],
    ];
    for (const [action, act] of effects) {
      await act();
      await act();
      assert.deepEqual(
        (await actions(store)).filter((recorded) => recorded === action),
        [action],
      );
    }
    const before = await actions(store);
    await store.addSession(sampleSession(), sampleAccount().password, null, event('sign_in'));
    await store.updateClient(sampleClient(), sampleClient(), event('client_updated'));
    await store.revokeGrantsOfClient('usr_ada', 'app_one', event('grant_revoked'));
    await store.updateResourceServer(sampleResourceServer(), sampleResourceServer(), event('resource_server_updated'));
    await store.replaceResourceServerSecrets(sampleResourceServer(), [], event('resource_server_secret_rotated'));
    await store.defineScope(read, read, event('scope_defined'));
    assert.deepEqual(await actions(store), before);
  });
}

async function actions(store: AnyStore): Promise<string[]> {
  return (await store.listAuditEvents({ limit: 1000 })).map(({ action }) => action);
}
