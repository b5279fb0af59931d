/** Lists by keys: each page bounded, and every row reached once while others come and go. */
import assert from 'node:assert/strict';
import { emailKey } from '../../../src/accounts/people/account.ts';
import { emptyTally } from '../../../src/oauth/activity/app-tally.ts';
import { type Grant, grantIdText } from '../../../src/oauth/grants/grant.ts';
import type { EventAsked } from '../../../src/operator/lists/event-pages.ts';
import { type AskedPage, type ListPage, Lists } from '../../../src/operator/lists/lists.ts';
import { keyring } from '../../oauth/samples.ts';
import { event, HOUR, NOW, registerProduct, sampleAccount, sampleClient, sampleGrant } from '../../support/storage.ts';
import { type AnyStore, issue, type WithStore } from './any-store.ts';

const DAY = 24 * HOUR;

/** Lists over a store; `stopwatch` tells each page how long it took so far (ms). */
function listsOf(store: AnyStore, stopwatch = () => 0) {
  return new Lists({ store, keyring, now: () => NOW, stopwatch });
}

type Read<Item> = (page: AskedPage) => Promise<ListPage<Item> | null>;

/** The keys of all pages of a list; between two pages something else happens. */
async function walkOf<Item>(
  read: Read<Item>,
  keyOf: (item: Item) => string | number,
  limit: number,
  between: (page: number) => Promise<unknown> = async () => {},
) {
  const keys: (string | number)[] = [];
  let after: string | undefined;
  for (let page = 0; ; page += 1) {
    const result = await read({ limit, after });
    assert.ok(result, 'the cursor of one page is good for the next');
    assert.ok(result.items.length <= limit);
    keys.push(...result.items.map(keyOf));
    if (result.next === null) return keys;
    after = result.next;
    await between(page);
  }
}

/** Requires that all keys that stay are there once, and nothing else twice. */
function requireOnce(found: readonly (string | number)[], staying: readonly (string | number)[]): void {
  assert.equal(new Set(found).size, found.length, 'a row came twice');
  assert.deepEqual(
    staying.filter((key) => !found.includes(key)),
    [],
    'a row was left out',
  );
}

const apps = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, n) => `app_${String(from + n).padStart(3, '0')}`);
const register = (store: AnyStore, id: string, createdAt = NOW) =>
  store.registerClient(
    sampleClient({ id, name: `Shop ${id}`, createdAt }),
    event('client_registered', { clientId: id }),
  );
const addAll = async (store: AnyStore, ids: readonly string[]) => {
  for (const id of ids) await register(store, id, NOW + (ids.indexOf(id) % 3));
};

/** Lists. */
export function lists(withStore: WithStore): void {
  withStore('cursors reach every app once while apps come and go, all and those of a name or state', async (store) => {
    const staying = apps(0, 30);
    await addAll(store, [...staying, ...apps(100, 120)]);
    for (const asked of [{}, { name: 'shop' }, { status: 'active' as const }]) {
      let n = 0;
      const found = await walkOf(
        (page) => listsOf(store).clients(asked, page),
        ({ client }) => client.id,
        9,
        async () => {
          n += 1;
          await Promise.all([
            store.deleteClient(`app_${100 + n}`, event('client_deleted')),
            register(store, `app_b${Object.keys(asked).length}${n}`, NOW - 5),
            register(store, `app_z${JSON.stringify(asked).length}${n}`, NOW + 50),
          ]);
        },
      );
      requireOnce(found, staying);
    }
  });

  withStore('apps are found by id, any part of the name, state, last use and failures', async (store) => {
    await store.registerClient(
      sampleClient({ id: 'https://app.test/?a=b', name: 'Éclair', secrets: [] }),
      event('client_registered'),
    );
    await store.registerClient(
      sampleClient({
        id: 'app_old',
        name: 'ÉCLAIR two, 100%',
        status: 'paused',
        secrets: [],
        createdAt: NOW - 9 * DAY,
      }),
      event('client_registered'),
    );
    await store.addActivity({ clientId: 'app_old', at: NOW, tally: { ...emptyTally(), other: 1 }, failures: [] }, NOW);
    const found = (asked: object) =>
      walkOf(
        (page) => listsOf(store).clients(asked, page),
        ({ client }) => client.id,
        2,
      );
    assert.deepEqual(await found({ id: 'https://app.test/?a=b' }), ['https://app.test/?a=b']);
    assert.deepEqual(await found({ id: 'app_old', status: 'active' }), []);
    assert.deepEqual(await found({ name: 'éC' }), ['app_old', 'https://app.test/?a=b'], 'in any case, oldest first');
    assert.deepEqual(await found({ name: 'LAIR  t' }), ['app_old'], 'any part, however it is spaced');
    assert.deepEqual(await found({ name: '100%' }), ['app_old'], 'each character stands for itself');
    assert.deepEqual(await found({ name: 'é%r' }), []);
    assert.deepEqual(await found({ name: 'éclair_' }), []);
    assert.deepEqual(await found({ name: 'clair', status: 'paused' }), ['app_old']);
    assert.deepEqual(await found({ id: 'app_old', name: 'two' }), ['app_old']);
    assert.deepEqual(await found({ id: 'app_old', name: 'one' }), []);
    assert.deepEqual(await found({ unusedSince: NOW - DAY }), ['app_old']);
    assert.deepEqual(await found({ failingSince: NOW }), ['app_old']);
    assert.deepEqual(await found({ failingSince: NOW, name: 'two', status: 'paused' }), ['app_old']);
    assert.deepEqual(await found({ failingSince: NOW, id: 'app_one' }), []);
    assert.deepEqual(await found({ failingSince: NOW, id: 'app_old' }), ['app_old']);
    assert.deepEqual(await found({ failingSince: NOW - 399 * DAY }), ['app_old'], 'of the day');
    assert.deepEqual(await found({ failingSince: NOW + HOUR }), [], 'of an hour that ended');
    assert.deepEqual(await found({}), ['app_old', 'app_one', 'https://app.test/?a=b']);
  });

  withStore('apps that fail are listed with the most failures first, and no app comes twice', async (store) => {
    const today = NOW - (NOW % DAY);
    const ids = apps(0, 12);
    await addAll(store, ids);
    const fail = (clientId: string, other: number, at = today) =>
      store.addActivity({ clientId, at, tally: { ...emptyTally(), other, checks: 9 }, failures: [] }, at);
    for (const [n, id] of ids.entries()) await fail(id, 1 + (n % 5));
    await fail('app_000', 50, today - 1);
    await fail('app_one', 1000, today - DAY - 1);
    const asked = { since: today - DAY };
    const read = (page: AskedPage) => listsOf(store).failingClients(asked, page);
    const all = await walkOf(read, ({ client, failures }) => `${client.id} ${failures}`, 5);
    assert.deepEqual(all.slice(0, 4), ['app_000 51', 'app_004 5', 'app_009 5', 'app_003 4']);
    assert.deepEqual(all.length, 12, 'those that failed earlier are left out');
    const found = await walkOf(
      read,
      ({ client }) => client.id,
      5,
      async (page) => {
        if (page > 0) return;
        await fail('app_004', 7); // It was listed already.
        await fail('app_001', 1); // It is still to come.
        await store.deleteClient('app_011', event('client_deleted', { clientId: 'app_011' }));
      },
    );
    requireOnce(
      found,
      ids.filter((id) => id !== 'app_011'),
    );
    const named = await walkOf(
      (page) => listsOf(store).failingClients({ ...asked, text: 'P_00' }, page),
      ({ client }) => client.id,
      3,
    );
    assert.deepEqual(named.slice(0, 3), ['app_000', 'app_004', 'app_009']);
    assert.equal(named.length, 10);
  });

  withStore(
    'a search for a request looks at a bounded part of events and failures, and goes on from there',
    async (store) => {
      const requestId = '0123456789ab';
      const actor = { kind: 'user', id: 'usr_1', source: '127.0.0.1', requestId } as const;
      await store.recordDenial(event('consent_denied', { actor }));
      for (let n = 0; n < 600; n += 1) await store.recordDenial(event('consent_denied', { at: NOW + n }));
      await addAll(store, apps(0, 4));
      for (const [n, clientId] of apps(0, 4).entries()) {
        const failures = Array.from({ length: 150 }, (_, at) => ({
          ...({ clientId, at: NOW - at, endpoint: 'token', error: 'invalid_grant', reason: 'x' } as const),
          ...{ network: '192.0.2.0/24', grantId: null, requestId: n === 3 && at === 0 ? requestId : `${n} ${at}` },
        }));
        await store.addActivity({ clientId, at: NOW, tally: { ...emptyTally(), invalidGrant: 150 }, failures }, NOW);
      }
      let time = 0;
      const lists = listsOf(store, () => (time += 60_000));
      const first = (await lists.request(requestId, undefined)) ?? assert.fail();
      assert.deepEqual([first.events, first.failures, first.hasAllFailures], [[], [], false]);
      assert.ok((first.eventsSince ?? 0) > NOW, 'it says since when it looked');
      const second = (await lists.request(requestId, String(first.next))) ?? assert.fail();
      assert.deepEqual(
        second.events.map((each) => each.actor.requestId),
        [requestId],
      );
      assert.deepEqual(
        second.failures.map((each) => [each.clientId, each.requestId]),
        [['app_003', requestId]],
      );
      assert.deepEqual([second.eventsSince, second.hasAllFailures, second.next], [null, true, null]);
      assert.equal(await lists.request('0123456789ac', String(first.next)), null, 'a cursor is bound to its request');
      const whole = (await listsOf(store).request(requestId, undefined)) ?? assert.fail();
      assert.deepEqual([whole.events.length, whole.failures.length, whole.next], [1, 1, null]);
    },
  );

  withStore('of 60 apps that fail equally often, and of those of a name, none is lost between pages', async (store) => {
    const ids = apps(0, 60);
    await addAll(store, ids);
    for (const clientId of ids)
      await store.addActivity({ clientId, at: NOW, tally: { ...emptyTally(), other: 2 }, failures: [] }, NOW);
    for (const [name, expected] of [
      [undefined, ids],
      ['p_03', apps(30, 40)],
    ] as const) {
      const found = await walkOf(
        (page) => listsOf(store).failingClients({ since: NOW, ...(name && { text: name }) }, page),
        ({ client }) => client.id,
        7,
      );
      assert.deepEqual(found, expected);
    }
  });

  withStore('the people of an app are those with a live grant, among its newest grants', async (store) => {
    await addAll(store, ['app_mail', 'app_none']);
    const grants: Grant[] = [];
    for (let n = 0; n < 3; n += 1) grants.push(await issue(store, { clientId: 'app_mail' }));
    await store.addAccount(
      sampleAccount({ id: 'usr_bob', email: 'bob@example.com', username: null }),
      'bob@example.com',
      event('user_added'),
    );
    const bobs = await issue(store, { clientId: 'app_mail', resourceOwnerId: 'usr_bob' });
    const people = (id: string) => listsOf(store).peopleOf(id);
    assert.deepEqual(await people('app_mail'), { people: 2, more: false }, 'grants that are not redeemed yet count');
    assert.deepEqual(await people('app_none'), { people: 0, more: false });
    await store.revokeGrant(bobs.id, 'operator', event('grant_revoked', { clientId: 'app_mail' }));
    assert.deepEqual(await people('app_mail'), { people: 1, more: false });
    await Promise.all(Array.from({ length: 98 }, () => issue(store, { clientId: 'app_mail' })));
    assert.deepEqual(await people('app_mail'), { people: 1, more: true });
    await store.revokeClientGrants('app_mail', event('client_grants_revoked', { clientId: 'app_mail' }));
    assert.deepEqual(await people('app_mail'), { people: 0, more: true });
  });

  withStore(
    'cursors reach every person once while people come and go, and each is found by what is exact',
    async (store) => {
      await registerProduct(store);
      const id = (n: number) => `usr_${String(n).padStart(3, '0')}`;
      const add = (n: number, username: string | null = null) => {
        const shared = { email: 'shared@example.com', password: null, passwordSetAt: null, createdAt: NOW + (n % 2) };
        const account = { ...sampleAccount(), ...shared, id: id(n), username };
        const identity = { id: `product:p${n}`, providerId: 'product', accountId: id(n), createdAt: NOW };
        return store.addAccountWithIdentity(identity, account, 'shared@example.com', event('user_added'));
      };
      for (let n = 0; n < 40; n += 1) await add(n, n % 2 === 0 ? 'even' : null);
      const staying = Array.from({ length: 30 }, (_, n) => id(n));
      let coming = 100;
      for (const asked of [{}, { email: 'Shared@Example.com' }]) {
        let going = 30 + 5 * Object.keys(asked).length;
        const found = await walkOf(
          (page) => listsOf(store).users(asked, page),
          ({ account }) => account.id,
          7,
          async () => {
            coming += 1;
            if (going < 40) await Promise.all([store.deleteAccount(id(going++), event('user_deleted')), add(coming)]);
          },
        );
        requireOnce(found, staying);
      }
      const one = (asked: object) =>
        walkOf(
          (page) => listsOf(store).users(asked, page),
          ({ account }) => account.id,
          50,
        );
      assert.deepEqual(await one({ id: 'usr_ada' }), ['usr_ada']);
      assert.deepEqual(await one({ identity: { providerId: 'product', subject: 'p3' } }), [id(3)]);
      assert.deepEqual(await one({ identity: { providerId: 'product', subject: 'p' } }), []);
      assert.equal((await one({ username: 'even' })).length, 15);
      assert.deepEqual(await one({ email: 'ada@example.com', username: 'ada' }), ['usr_ada']);
      assert.deepEqual(await one({ id: 'usr_ada', username: 'else' }), []);
    },
  );

  withStore('people are found by the beginning of a user name or an email address, each once', async (store) => {
    await registerProduct(store);
    const add = (id: string, email: string | null, username: string | null) => {
      const account = { ...sampleAccount(), id, email, username, password: null, passwordSetAt: null };
      const identity = { id: `product:${id}`, providerId: 'product', accountId: id, createdAt: NOW };
      return store.addAccountWithIdentity(identity, account, email && emailKey(email), event('user_added'));
    };
    await add('usr_1', 'ÉVE@example.com', 'eve');
    await add('usr_2', 'éve.l@example.com', null);
    await add('usr_3', 'evelyn@example.com', 'bob');
    await add('usr_4', null, 'evelyn');
    await add('usr_5', 'eve@example.com', 'evening');
    await add('usr_6', 'x@example.com', 'Eve');
    await add('usr_7', 'eve@example.com', null);
    const found = (beginning: string, limit = 2) =>
      walkOf(
        (page) => listsOf(store).people({ beginning }, page),
        ({ account }) => account.id,
        limit,
      );
    for (const limit of [1, 2, 50])
      assert.deepEqual(await found('eve', limit), ['usr_1', 'usr_4', 'usr_5', 'usr_7', 'usr_3'], String(limit));
    assert.deepEqual(await found('E\u0301VE'), ['usr_2', 'usr_1'], 'an address is compared as at a sign-in');
    assert.deepEqual(await found('Eve'), ['usr_6', 'usr_5', 'usr_7', 'usr_3'], 'a user name byte by byte');
    for (const none of ['eve%', 'eve_', 'yn@', 'evelyn@example.com '])
      assert.deepEqual(await found(none), none.endsWith(' ') ? ['usr_3'] : []);
    const many = Array.from({ length: 600 }, (_, n) => add(`usr_n${n}`, `many${n}@example.com`, `many${n}`));
    await Promise.all(many);
    const all = await found('many', 200);
    assert.deepEqual([all.length, new Set(all).size], [600, 600], 'beyond one window');
  });

  withStore(
    'cursors reach every grant once while grants come and go, of an app, a person, both and all',
    async (store) => {
      for (const clientId of ['app_a', 'app_b']) await register(store, clientId);
      const ids: string[] = [];
      for (let n = 0; n < 45; n += 1) {
        const grant = sampleGrant({
          clientId: ['app_a', 'app_b', 'app_one'][n % 3] as string,
          generation: n % 2,
          expiresAt: NOW + HOUR,
        });
        await store.issueGrant(grant, event('consent_allowed', { clientId: grant.clientId }));
        ids.push(grantIdText(grant.id));
      }
      const [going, staying] = [ids.slice(0, 6), ids.slice(6)];
      const of = { clientId: 'app_a' };
      const person = { resourceOwnerId: 'usr_ada' };
      for (const asked of [{}, of, person, { ...of, ...person }]) {
        const found = await walkOf(
          (page) => listsOf(store).grants(asked, page),
          ({ grant }) => grantIdText(grant.id),
          9,
          async () => {
            const gone = going.pop();
            if (gone)
              await store.revokeGrant(Buffer.from(gone.replaceAll('-', ''), 'hex'), 'operator', event('grant_revoked'));
            await issue(store, { clientId: 'app_a' });
          },
        );
        requireOnce(
          found,
          staying.filter((_, n) => !('clientId' in asked) || (n + 6) % 3 === 0),
        );
      }
      const count = async (asked: object) =>
        (
          await walkOf(
            (page) => listsOf(store).grants(asked, page),
            ({ grant }) => grantIdText(grant.id),
            9,
          )
        ).length;
      const [all, issued, active] = [
        await count({}),
        await count({ status: 'issued' }),
        await count({ status: 'active' }),
      ];
      assert.equal(await count({ status: 'revoked' }), all - issued - active);
      assert.equal(active > 0 && issued > 0 && all > issued + active, true);
      await store.deleteClient('app_one', event('client_deleted'));
      assert.equal(await count({ clientId: 'app_one' }), 0, 'of an app that was deleted');
      assert.equal(await count({ resourceOwnerId: 'usr_nobody' }), 0);
    },
  );

  withStore('cursors reach every event once while events come, newest and oldest first', async (store) => {
    const of = (n: number) => ({
      ...event(n % 5 === 0 ? 'sign_in' : 'consent_denied', {
        clientId: n % 2 === 0 ? 'app_one' : null,
        resourceOwnerId: n % 3 === 0 ? 'usr_ada' : null,
        grantId: n % 7 === 0 ? 'g7' : null,
        actor: {
          kind: n % 11 === 0 ? 'operator' : 'user',
          id: n % 11 === 0 ? 'opr_eve' : 'usr_eve',
          source: null,
          requestId: null,
        },
      }),
      at: NOW + n * HOUR,
    });
    const before = await store.lastAuditSequence();
    for (let n = 1; n <= 90; n += 1) await store.recordDenial(of(n));
    const place = (n: number) => before + n;
    const expected = (which: (n: number) => boolean) => Array.from({ length: 90 }, (_, n) => n + 1).filter(which);
    const filters: [Omit<EventAsked, 'order'>, (n: number) => boolean][] = [
      [{}, () => true],
      [{ clientId: 'app_one', since: NOW + 1 }, (n) => n % 2 === 0],
      [{ resourceOwnerId: 'usr_ada' }, (n) => n % 3 === 0],
      [{ changesOf: 'app_one' }, (n) => n % 2 === 0 && n % 3 !== 0],
      [{ changesOf: 'app_one', action: 'sign_in' }, (n) => n % 10 === 0 && n % 3 !== 0],
      [{ grantId: 'g7' }, (n) => n % 7 === 0],
      [{ operatorId: 'opr_eve' }, (n) => n % 11 === 0],
      [{ action: 'sign_in' }, (n) => n % 5 === 0],
      [{ actions: ['sign_in', 'sign_out'] }, (n) => n % 5 === 0],
      [{ byOperators: true }, (n) => n % 11 === 0],
      [{ byOperators: true, actions: ['consent_denied'], resourceOwnerId: 'usr_ada' }, (n) => n % 33 === 0],
      [{ byOperators: true, clientId: 'app_one' }, (n) => n % 22 === 0],
      [{ clientId: 'app_one', resourceOwnerId: 'usr_ada', action: 'sign_in' }, (n) => n % 30 === 0],
      [{ since: NOW + 20 * HOUR, until: NOW + 70 * HOUR }, (n) => n >= 20 && n < 70],
      [{ since: NOW + 60 * HOUR }, (n) => n >= 60],
      [{ until: NOW + 30 * HOUR, action: 'sign_in' }, (n) => n < 30 && n % 5 === 0],
    ];
    for (const order of ['newest', 'oldest'] as const)
      for (const [filter, which] of filters) {
        const numbers = expected(which).map(place);
        const found = await walkOf(
          (page) => listsOf(store).events({ ...filter, order }, page),
          ({ sequence }) => sequence,
          9,
          async () => void (await store.recordDenial({ ...of(1), at: NOW + 200 * HOUR })),
        );
        requireOnce(found, numbers);
        const sorted = found.toSorted((one, other) => Number(one) - Number(other));
        assert.deepEqual(found, order === 'newest' ? sorted.reverse() : sorted);
        assert.deepEqual(
          found.filter((sequence) => Number(sequence) > before && Number(sequence) <= place(90)).length,
          numbers.length,
          JSON.stringify(filter),
        );
      }
  });

  withStore('events of a time are found although the clock stepped back', async (store) => {
    const before = await store.lastAuditSequence();
    const times = [0, 10, 20, -3, 30, 40, 18, 50, 60].map((hours) => NOW + 100 * DAY + hours * HOUR);
    for (const at of times) await store.recordDenial({ ...event('consent_denied'), at });
    const [since, until] = [NOW + 100 * DAY + 15 * HOUR, NOW + 100 * DAY + 45 * HOUR];
    const wanted = times.flatMap((at, n) => (at >= since && at < until ? [before + n + 1] : []));
    for (const order of ['newest', 'oldest'] as const) {
      const found = await walkOf(
        (page) => listsOf(store).events({ since, until, order }, page),
        ({ sequence }) => sequence,
        2,
      );
      assert.deepEqual(found.toSorted(), wanted);
    }
    assert.equal(await store.findAuditPlace(NOW + 1000 * DAY), before + times.length + 1);
  });

  withStore(
    'a page with few matches reads no more than its time: it may be empty, and the next goes on',
    async (store) => {
      await Promise.all(Array.from({ length: 1100 }, () => store.recordDenial(event('consent_denied'))));
      let ms = 0;
      const slow = listsOf(store, () => (ms += 50));
      const asked = { action: 'client_registered', until: NOW + 1, order: 'newest' } as const;
      const first = await slow.events(asked, { limit: 10, after: undefined });
      assert.deepEqual(first?.items, []);
      assert.ok(first?.next);
      const found = await walkOf(
        (page) => slow.events(asked, page),
        ({ sequence }) => sequence,
        10,
      );
      assert.ok(found.length > 0, 'the sample client was registered before all of them');
    },
  );

  withStore('a cursor is good for its list and its filter alone, and for a day', async (store) => {
    await addAll(store, apps(0, 4));
    const first = await listsOf(store).clients({}, { limit: 1, after: undefined });
    const after = first?.next ?? '';
    const page = { limit: 1, after };
    assert.ok(await listsOf(store).clients({}, page));
    assert.equal(await listsOf(store).clients({ status: 'active' }, page), null);
    assert.equal(await listsOf(store).resourceServers(page), null);
    assert.equal(await listsOf(store).clients({}, { limit: 1, after: `${after}A` }), null);
    const tomorrow = new Lists({ store, keyring, now: () => NOW + DAY, stopwatch: () => 0 });
    assert.equal(await tomorrow.clients({}, page), null);
  });
}
