/** Hand-overs: at most one address of a registration is open, and it makes one secret. */
import assert from 'node:assert/strict';
import { readMembers, textIn } from '../../../src/oauth/trail/event-members.ts';
import {
  HAND_OVER_LIFETIME_MS,
  type HandOver,
  type HandOverSubject,
  makeHandOver,
} from '../../../src/operator/hand-over/hand-over.ts';
import { event, NOW, sampleClient, sampleProvider, sampleResourceServer, sampleSecret } from '../../support/storage.ts';
import { type AnyStore, HUNDRED, type WithStore, winners } from './any-store.ts';

const FROM = '192.0.2.0/24';

/** Registers one of each kind, without a secret. */
async function subjects(store: AnyStore): Promise<HandOverSubject[]> {
  const client = sampleClient({ id: 'app_new', secrets: [] });
  const server = sampleResourceServer({ id: 'rs_new', secrets: [] });
  const provider = sampleProvider({ id: 'new', secrets: [] });
  await store.registerClient(client, event('client_registered'));
  await store.registerResourceServer(server, event('resource_server_registered'));
  await store.registerIdentityProvider(provider, event('identity_provider_registered'));
  return [
    { kind: 'client', row: client },
    { kind: 'resource_server', row: server },
    { kind: 'identity_provider', row: provider },
  ];
}

async function make(store: AnyStore, subject: HandOverSubject, at = NOW): Promise<HandOver> {
  const { handOver } = makeHandOver({ kind: subject.kind, id: subject.row.id }, 'root', at);
  assert.equal(await store.addHandOver(handOver, subject, { ...event('hand_over_made'), at }), true);
  return handOver;
}

const use = (store: AnyStore, handOver: HandOver, subject: HandOverSubject, at = NOW + 5, secret = sampleSecret()) =>
  store.useHandOver(handOver, subject, { secret, from: FROM }, { ...event('hand_over_fetched'), at });

async function read(store: AnyStore, { kind, row: { id } }: HandOverSubject) {
  if (kind === 'client') return store.findClient(id);
  return kind === 'resource_server' ? store.findResourceServer(id) : store.findIdentityProvider(id);
}

const actions = async (store: AnyStore, limit = 3) =>
  (await store.listAuditEvents({ limit })).map(({ action, detail }) =>
    detail ? `${action}: ${textIn(readMembers(detail), 'reason')}` : action,
  );

/** Hand-overs. */
export function handOvers(withStore: WithStore): void {
  withStore('a hand-over comes back as it was made, and adds one secret, once', async (store) => {
    for (const subject of await subjects(store)) {
      const name = { kind: subject.kind, id: subject.row.id };
      assert.equal(await store.findNewestHandOver(name), null);
      const made = await make(store, subject);
      assert.deepEqual(await store.findHandOver(made.digest), made);
      assert.deepEqual(await store.findNewestHandOver(name), made);
      const secret = sampleSecret();
      assert.equal(await use(store, made, subject, NOW + 5, secret), true);
      assert.deepEqual(await store.findHandOver(made.digest), { ...made, fetchedAt: NOW + 5, fetchedFrom: FROM });
      assert.deepEqual(await read(store, subject), { ...subject.row, secrets: [secret] });
      assert.deepEqual(await actions(store, 2), ['hand_over_fetched', 'hand_over_made']);
      const after = { ...subject, row: (await read(store, subject)) as never };
      assert.equal(await use(store, made, after), false);
      assert.deepEqual((await read(store, subject))?.secrets, [secret]);
    }
    assert.equal(await store.findHandOver(Buffer.alloc(32)), null);
  });

  withStore('a registration that is handed over is written with its address, or not at all', async (store) => {
    for (const subject of await subjects(store)) {
      const row = { ...subject.row, id: `${subject.row.id}2` };
      const both = { kind: subject.kind, row } as HandOverSubject;
      const { handOver } = makeHandOver({ kind: subject.kind, id: row.id }, 'root', NOW);
      const registered = () =>
        store.registerHandedOver(handOver, both, event('client_registered'), event('hand_over_made'));
      assert.equal(await registered(), true);
      assert.deepEqual([await read(store, both), await store.findHandOver(handOver.digest)], [row, handOver]);
      assert.deepEqual(await actions(store, 2), ['hand_over_made', 'client_registered']);

      assert.equal(await registered(), false, 'the id exists');
      const other = { ...both, row: { ...row, id: `${row.id}3` } } as HandOverSubject;
      const [one, two] = [event('client_registered'), event('hand_over_made')];
      // The second write fails: the digest exists.
      await assert.rejects(store.registerHandedOver(handOver, other, one, two));
      assert.deepEqual(await read(store, other), null);
      assert.deepEqual(await actions(store, 2), ['hand_over_made', 'client_registered'], 'no event of it');
    }
  });

  withStore('what has no secret gets none', async (store) => {
    const subject: HandOverSubject = {
      kind: 'client',
      row: sampleClient({ id: 'app_phone', type: 'public', secrets: [] }),
    };
    await store.registerClient(subject.row as never, event('client_registered'));
    const made = await make(store, subject);
    const used = await store.useHandOver(made, subject, { secret: null, from: FROM }, event('hand_over_fetched'));
    assert.equal(used, true);
    assert.deepEqual(await read(store, subject), subject.row);
  });

  withStore('of 100 who use a hand-over at once, one makes a secret', async (store) => {
    for (const subject of await subjects(store)) {
      const made = await make(store, subject);
      const tried = HUNDRED.map(() => sampleSecret());
      const attempts = tried.map((secret) => use(store, made, subject, NOW + 5, secret));
      assert.equal(await winners(attempts), 1);
      const first = (await Promise.all(attempts)).indexOf(true);
      assert.deepEqual((await read(store, subject))?.secrets, [tried[first]]);
    }
    assert.equal((await store.listAuditEvents({ action: 'hand_over_fetched', limit: 10 })).length, 3);
  });

  withStore('a newer hand-over ends the one before it; of 100 made at once, one is open', async (store) => {
    for (const subject of await subjects(store)) {
      const first = await make(store, subject);
      const second = await make(store, subject, NOW + 1);
      assert.deepEqual(await store.findHandOver(first.digest), { ...first, endedAt: NOW + 1, endedWhy: 'replaced' });
      assert.deepEqual(await actions(store, 2), ['hand_over_made', 'hand_over_ended: replaced']);
      assert.equal(await use(store, first, subject), false);
      const many = await Promise.all(HUNDRED.map((_, n) => make(store, subject, NOW + n)));
      const found = await Promise.all([second, ...many].map(({ digest }) => store.findHandOver(digest)));
      assert.equal(found.filter((each) => each?.endedAt === null).length, 1);
    }
  });

  withStore('a hand-over is good until it expires, and one that has expired is not ended', async (store) => {
    const [subject] = (await subjects(store)) as [HandOverSubject];
    const made = await make(store, subject);
    assert.equal(await use(store, made, subject, NOW + HAND_OVER_LIFETIME_MS), false);
    const later = NOW + HAND_OVER_LIFETIME_MS;
    await make(store, subject, later);
    assert.deepEqual(await store.findHandOver(made.digest), made);
    assert.deepEqual(await actions(store, 2), ['hand_over_made', 'hand_over_made']);
    const other = await make(store, subject, later + 1);
    assert.equal(await use(store, other, subject, later + HAND_OVER_LIFETIME_MS), true);
  });

  withStore('a change of secrets, a pause and a deletion end an open hand-over, with an event', async (store) => {
    const [client, server, provider] = (await subjects(store)) as [HandOverSubject, HandOverSubject, HandOverSubject];
    const at = NOW + 3;
    const ends: [HandOverSubject, string, () => Promise<boolean>][] = [
      [
        client,
        'secret changed',
        () => store.replaceClientSecrets(client.row as never, [], { ...event('client_secret_rotated'), at }),
      ],
      [
        server,
        'secret changed',
        () =>
          store.replaceResourceServerSecrets(server.row as never, [], {
            ...event('resource_server_secret_rotated'),
            at,
          }),
      ],
      [
        provider,
        'secret changed',
        () =>
          store.replaceIdentityProviderSecrets(provider.row as never, [], {
            ...event('identity_provider_secret_rotated'),
            at,
          }),
      ],
      [client, 'paused', () => store.setClientStatus(client.row.id, 'paused', { ...event('client_paused'), at })],
      [
        provider,
        'paused',
        () => store.setIdentityProviderStatus(provider.row.id, 'paused', { ...event('identity_provider_paused'), at }),
      ],
    ];
    for (const [subject, endedWhy, end] of ends) {
      const made = await make(store, subject);
      assert.equal(await end(), true);
      assert.deepEqual(await store.findHandOver(made.digest), { ...made, endedAt: at, endedWhy });
      assert.match((await actions(store, 2)).join(', '), new RegExp(`hand_over_ended: ${endedWhy}`));
    }
    await store.setClientStatus(client.row.id, 'active', event('client_resumed'));
    await store.setIdentityProviderStatus(provider.row.id, 'active', event('identity_provider_resumed'));
    const deletions: [HandOverSubject, () => Promise<boolean>][] = [
      [client, () => store.deleteClient(client.row.id, event('client_deleted'))],
      [server, () => store.deleteResourceServer(server.row.id, event('resource_server_deleted'))],
      [provider, () => store.deleteIdentityProvider(provider.row.id, event('identity_provider_deleted'))],
    ];
    for (const [subject, remove] of deletions) {
      const made = await make(store, subject);
      assert.equal(await remove(), true);
      assert.equal(await store.findHandOver(made.digest), null);
      assert.match((await actions(store, 2)).join(', '), /hand_over_ended: deleted/);
    }
  });

  withStore('what ends no open hand-over records no end of one', async (store) => {
    const [subject] = (await subjects(store)) as [HandOverSubject];
    const made = await make(store, subject);
    await use(store, made, subject);
    const last = await store.lastAuditSequence();
    assert.equal(await store.setClientStatus(subject.row.id, 'paused', event('client_paused')), true);
    assert.equal(await store.lastAuditSequence(), last + 1);
    assert.equal((await store.findHandOver(made.digest))?.endedAt, null);
  });
}
