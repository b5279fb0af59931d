import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { OpenStreams } from '../../../src/http/api/revocations/open-streams.ts';
import { resourceServers } from '../../../src/http/api/revocations/revocation-feed.ts';

const LIMITS = resourceServers({
  resourceServers: { findResourceServer: async () => null },
  grants: { liveAccess: async () => [] },
}).limits;

type Stream = { readonly listenerId: string };

/** Opens streams one after the other, as far as the limits allow; returns how many, and who lost one by it. */
function open(streams: OpenStreams<Stream>, listenerId: string, count: number) {
  const losers: string[] = [];
  for (let opened = 0; ; opened += 1) {
    if (opened === count || streams.refusal(listenerId)) return { opened, losers };
    const loser = streams.add({ listenerId });
    if (loser) losers.push(loser.listenerId);
  }
}

function counts(streams: OpenStreams<Stream>): Record<string, number> {
  const found: Record<string, number> = {};
  for (const { listenerId } of streams) found[listenerId] = (found[listenerId] ?? 0) + 1;
  return found;
}

test('interface: one resource server has 250 streams at most, and all together a thousand', () => {
  const streams = new OpenStreams<Stream>(LIMITS);
  for (const id of ['a', 'b', 'c', 'd']) assert.deepEqual(open(streams, id, 300), { opened: 250, losers: [] });
  assert.equal(streams.size, 1000);
  assert.equal(streams.refusal('a')?.isOfOne, true);
  assert.match(String(streams.refusal('a')?.detail), /250 .*run another instance/);
});

test('interface: each of the first 62 resource servers can always have 16, at the cost of who has most', () => {
  const streams = new OpenStreams<Stream>(LIMITS);
  for (const id of ['a', 'b', 'c', 'd']) open(streams, id, 250);
  for (let n = 5; n <= 62; n += 1) {
    const { opened, losers } = open(streams, `n${n}`, 20);
    assert.deepEqual([opened, losers.length], [16, 16], `${n}`);
    assert.ok(losers.every((id) => ['a', 'b', 'c', 'd'].includes(id)));
    assert.equal(streams.refusal(`n${n}`)?.isOfOne, false);
    assert.match(String(streams.refusal(`n${n}`)?.detail), /all 1000 .*run another instance/);
  }
  const left = counts(streams);
  assert.equal(streams.size, 1000);
  assert.deepEqual(
    ['a', 'b', 'c', 'd'].map((id) => left[id]),
    [18, 18, 18, 18],
  );
  for (let n = 5; n <= 62; n += 1) assert.equal(left[`n${n}`], 16);
});

test('interface: beyond 62 resource servers each can have an equal share', () => {
  const streams = new OpenStreams<Stream>(LIMITS);
  for (let n = 0; n < 100; n += 1) open(streams, `${n}`, 16);
  for (let n = 0; n < 100; n += 1) open(streams, `${n}`, 10);
  assert.deepEqual(new Set(Object.values(counts(streams))), new Set([10]));
  assert.equal(streams.refusal('0')?.isOfOne, false);
});

test('interface: who has a share is not cut for others, and the newest stream of who has most is', () => {
  const streams = new OpenStreams<Stream>({ ...LIMITS, ofOne: 4, inAll: 6, always: 2 });
  const [first, second, third, fourth] = ['1', '2', '3', '4'].map((name) => ({ listenerId: 'a', name }));
  assert.ok(first && second && third && fourth);
  for (const stream of [first, second, third, fourth]) assert.equal(streams.add(stream), null);
  open(streams, 'b', 2);
  assert.equal(streams.refusal('b')?.isOfOne, false);
  assert.equal(streams.add({ listenerId: 'c' }), fourth);
  assert.equal(streams.add({ listenerId: 'c' }), third);
  for (const id of ['a', 'b', 'c']) assert.equal(streams.refusal(id)?.isOfOne, false);
  streams.delete(third);
  assert.equal(streams.size, 6, 'what has lost its place has none to give back');
  streams.delete(first);
  assert.equal(streams.refusal('b'), null);
  streams.clear();
  assert.deepEqual([streams.size, [...streams].length, streams.refusal('a')], [0, 0, null]);
});

test('interface: whatever opens and closes, no limit is passed, and below a share there is always a place', () => {
  const someLimits = fc.record({
    ofOne: fc.integer({ min: 1, max: 10 }),
    inAll: fc.integer({ min: 1, max: 20 }),
    always: fc.integer({ min: 1, max: 5 }),
  });
  const someStep = fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), opens: fc.boolean() });
  fc.assert(
    fc.property(someLimits, fc.array(someStep, { maxLength: 100 }), (limits, steps) => {
      const streams = new OpenStreams<Stream>({ ...LIMITS, ...limits });
      for (const { id, opens } of steps) {
        const before = counts(streams);
        const has = before[id] ?? 0;
        const share = Math.min(limits.always, Math.floor(limits.inAll / Object.keys({ ...before, [id]: 0 }).length));
        if (!opens) {
          const mine = [...streams].find(({ listenerId }) => listenerId === id);
          if (mine) streams.delete(mine);
        } else if (!streams.refusal(id)) {
          const loser = streams.add({ listenerId: id });
          if (loser) assert.ok((before[loser.listenerId] ?? 0) > share, 'only who has more than the share loses');
        } else assert.ok(has >= Math.min(share, limits.ofOne), 'refused below the share');
        const after = Object.values(counts(streams));
        assert.ok(after.every((count) => count <= limits.ofOne));
        assert.ok(streams.size <= limits.inAll && streams.size === after.reduce((sum, count) => sum + count, 0));
      }
    }),
  );
});
