/** Streams of revocations that begin while others do, or go on: none misses anything, and nobody asks in vain. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ResourceServerStore } from '../../../src/oauth/resource-servers/resource-server-store.ts';
import type { AuditStore } from '../../../src/oauth/trail/audit-store.ts';
import { asJson, assertRefused } from '../../support/flow.ts';
import { RevocationStream } from '../../support/revocation-stream.ts';
import { addClient, startTestService } from '../../support/service.ts';
import { addResourceServer, basic } from '../../support/standard.ts';

/** A service whose store answers some of the questions with which a stream begins when the test says so. */
async function setUp(t: TestContext) {
  const service = await startTestService(t);
  const api = await addResourceServer(service);
  const { clientId } = await addClient(service);
  const store = service.installation.audit as AuditStore & ResourceServerStore;
  const [places, proofs] = [new HeldAnswers(store, 'lastAuditSequence'), new HeldAnswers(store, 'findResourceServer')];
  return { service, api, clientId, places, proofs, open: () => RevocationStream.open(t, service, api) };
}

/** The answers of one verb of a store, of which some wait. They are what is so when they are given. */
class HeldAnswers<Verb extends string> {
  readonly #held = new Map<number, PromiseWithResolvers<void>>();
  readonly #begun: (() => void)[] = [];
  asked = 0;

  constructor(store: { [verb in Verb]: (...parameters: never[]) => Promise<unknown> }, verb: Verb) {
    const answer = store[verb].bind(store);
    const held = async (...parameters: never[]) => {
      this.asked += 1;
      for (const begun of this.#begun) begun();
      await this.#held.get(this.asked)?.promise;
      return answer(...parameters);
    };
    store[verb] = held as typeof answer;
  }

  /** Holds the answer to a question, by its number; what is answered lets it go. */
  hold(number: number): () => void {
    const held = Promise.withResolvers<void>();
    this.#held.set(number, held);
    return held.resolve;
  }

  /** Resolves when so many questions were asked. */
  until(number: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const look = () => this.asked >= number && resolve();
    this.#begun.push(look);
    look();
    return promise;
  }
}

test('Promise 2: a stream misses nothing that is told while another begins, which found a later place', async (t) => {
  const { service, clientId, places, proofs, open } = await setUp(t);
  const proveFirst = proofs.hold(2); // The first one knows its place, and proves itself once more.
  const first = open();
  await proofs.until(2);
  const placeOther = places.hold(2);
  const other = open();
  await places.until(2);
  proveFirst();
  const told = await first;
  await service.installation.clients.pause(clientId, service.installation.operator);
  placeOther();
  await told.next('revoked', { client_id: clientId });
  await other;
});

test('Promise 2: streams that begin while one is finding its place share what it finds', async (t) => {
  const { places, proofs, open, service, clientId } = await setUp(t);
  const place = places.hold(1);
  const streams = [open(), open(), open()];
  await proofs.until(3);
  await nextTurn(); // All three have proved themselves.
  place();
  const told = await Promise.all(streams);
  assert.equal(places.asked, 1);
  await service.installation.clients.pause(clientId, service.installation.operator);
  for (const stream of told) await stream.next('revoked', { client_id: clientId });
});

test('a stream that begins while others are open waits for no query of the trail', async (t) => {
  const { places, open } = await setUp(t);
  await open();
  const place = places.hold(2);
  await Promise.race([open(), places.until(2)]);
  assert.equal(places.asked, 1);
  place(); // The stop asks, too.
});

test('Promise 2: a resource server that goes while its stream begins gets no stream', async (t) => {
  const { service, api, places } = await setUp(t);
  const place = places.hold(1);
  const answer = fetch(`${service.appUrl}/oauth2/revocations`, { headers: basic(api.id, api.secret) });
  await places.until(1);
  await service.installation.resourceServers.delete(api.id, service.installation.operator);
  place();
  assertRefused(await asJson(await answer), 401, 'invalid_client');
});
