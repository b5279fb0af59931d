/**
 * Lines that are cut before, while or after the server did what it was asked: the instance cannot tell which, asks, and
 * answers what is so, or 503.
 */
import assert from 'node:assert/strict';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { signIn } from '../support/flow.ts';
import type { Lifetime } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { lots, pick, ROUND_MS, rounds, SEED, TIMEOUT } from './effort.ts';
import { type Entry, grantIdOf } from './history.ts';
import { furnish, type LocalInstance, newShared, startInstance, type TestInstallation } from './instances.ts';
import { judge, trial } from './judge.ts';
import { CUTS, type Cut, Line } from './line.ts';
import { REVOCATIONS, SUSPENSIONS } from './revocations.ts';
import { newCode, newPair, outcomes, pairsOf, useEverywhere } from './uses.ts';
import { Watch } from './watch.ts';

/** What changes something, but for use marks. */
const WRITES = /^COMMIT|SET generation|SET revoked_at|INSERT INTO oauth_grant/;
const PEOPLE = 6;

const server = await sharedPostgres();
const ends: (() => Promise<void> | void)[] = [() => server.remove()];
after(async () => {
  for (const end of ends.toReversed()) await end();
});
/** What lives as long as this file, and ends before the server. */
const file: Lifetime = { after: (end) => void ends.push(end) };

/** Three instances, of which the first so many are on lines. */
async function startOnLines(t: Lifetime, count: number, people = 1) {
  const shared = await newShared(server);
  const lines = await Promise.all(Array.from({ length: count }, () => Line.open(t, server.port)));
  const starting = ['a', 'b', 'c'].map((name, index) => {
    const url = lines[index]?.url(shared.VALETKEY_DATABASE_URL) ?? shared.VALETKEY_DATABASE_URL;
    return startInstance(t, name, { ...shared, VALETKEY_DATABASE_URL: url });
  });
  const [a, b, c] = (await Promise.all(starting)) as [LocalInstance, LocalInstance, LocalInstance];
  return { installation: await furnish([a, b, c], c, shared, people), lines, line: lines[0] as Line, a, b, c };
}

/** Cuts a line once, at the next statement that matches. */
function cutOnce(line: Line, cut: Cut, statement: RegExp): void {
  line.cutter = (sql) => {
    if (!statement.test(sql)) return null;
    line.cutter = () => null;
    return cut;
  };
}

async function generationsOf({ shared }: TestInstallation, refreshTokens: readonly string[]): Promise<number[]> {
  const sql = 'SELECT generation FROM oauth_grant WHERE id = ANY ($1) ORDER BY array_position($1, id)';
  const values = [refreshTokens.map(grantIdOf)];
  const rows = await server.query<{ generation: number }>(shared.VALETKEY_DATABASE_URL, sql, values);
  return rows.map(({ generation }) => generation);
}

const one = await startOnLines(file, 1);

for (const cut of CUTS)
  describe(`a line that is cut ${cut}`, { timeout: TIMEOUT }, () => {
    const { installation, line, a, b, c } = one;
    const { recorder } = installation;

    test('Promise 3: a refresh is answered with the one successor, whoever is asked', async () => {
      let { refreshToken } = await newPair(installation);
      for (let round = 1; round <= rounds(2, 0.2); round += 1) {
        cutOnce(line, cut, /SET generation/);
        const cuts = line.cuts;
        const refreshes = [await recorder.refresh(a, refreshToken)];
        assert.equal(line.cuts, cuts + 1);
        for (const at of [b, c, a]) refreshes.push(await recorder.refresh(at, refreshToken));
        assert.equal(new Set(refreshes.map(({ pair }) => JSON.stringify(pair))).size, 1);
        assert.deepEqual(await generationsOf(installation, [refreshToken]), [1 + round]);
        [{ refreshToken } = assert.fail()] = pairsOf(refreshes);
      }
      await judge(installation, server);
    });

    test('Promise 1: an exchange is answered with the pair, and the code is redeemed once', async () => {
      for (let round = rounds(1, 0.2); round > 0; round -= 1) {
        const code = await newCode(installation);
        cutOnce(line, cut, /SET generation/);
        const { pair, detail } = await recorder.exchange(a, code);
        assert.equal((await recorder.check(b, pair?.accessToken ?? assert.fail(detail))).outcome, 'done');
        assert.equal((await recorder.exchange(c, code)).outcome, 'refused');
        const contested = await newCode(installation);
        cutOnce(line, cut, /SET generation/);
        const exchanges = await Promise.all([a, b, a, c].map((at) => recorder.exchange(at, contested)));
        const pairs = [pair as NonNullable<typeof pair>, ...pairsOf(exchanges)];
        assert.deepEqual(await useEverywhere(installation, pairs), ['refused']);
      }
      await judge(installation, server);
    });

    for (const statement of [/SET (revoked_at|epoch|status)/, /^COMMIT/])
      test(`Promise 2: at ${statement}, a revocation is answered when it holds, and is in the trail once`, async () => {
        for (const revoke of Object.values(REVOCATIONS)) {
          const pair = await newPair(installation);
          cutOnce(line, cut, statement);
          const { outcome, detail } = await revoke(installation, a, pair);
          assert.equal(outcome, 'done', detail);
          assert.deepEqual(await useEverywhere(installation, [pair]), ['refused']);
        }
        const { accessToken } = await newPair(installation);
        for (const { suspend, resume } of Object.values(SUSPENSIONS)) {
          cutOnce(line, cut, statement);
          assert.equal((await suspend(installation, a)).outcome, 'done');
          assert.equal((await recorder.check(b, accessToken)).outcome, 'refused');
          cutOnce(line, cut, statement);
          assert.equal((await resume(installation, a)).outcome, 'done');
          assert.equal((await recorder.check(b, accessToken)).outcome, 'done');
        }
        line.cutter = () => null;
        const [{ browser, email }] = installation.people;
        await signIn(b, browser, email);
        await judge(installation, server);
      });
  });

describe('a line that is gone', { timeout: TIMEOUT, concurrency: true }, () => {
  for (const cut of CUTS)
    test(`after it was cut ${cut}, all is answered 503, and what is asked elsewhere is answered with what is so`, async (t) => {
      const { installation, line, a, b, c } = await startOnLines(t, 1);
      const { recorder } = installation;
      for (let round = rounds(1, 0.05); round > 0; round -= 1) {
        const pairs = [await newPair(installation), await newPair(installation), await newPair(installation)];
        const codes = [await newCode(installation), await newCode(installation)];
        const refreshTokens = pairs.map(({ refreshToken }) => refreshToken);
        line.breaksWithCut = true;
        cutOnce(line, cut, WRITES);
        const asked = await Promise.all<Entry>([
          ...refreshTokens.map((token) => recorder.refresh(a, token)),
          ...codes.map((code) => recorder.exchange(a, code)),
        ]);
        // Those that share the statement that was cut; on a busy machine one may have been answered before.
        assert.ok(outcomes(asked).includes('unavailable'));
        assert.deepEqual(
          outcomes(asked).filter((outcome) => outcome !== 'unavailable' && outcome !== 'done'),
          [],
        );
        assert.equal((await fetch(`${a.appUrl}/healthz`)).status, 200);
        while ((await fetch(`${a.appUrl}/readyz`)).status !== 503) await sleep(20);
        t.diagnostic(`generations behind the cut: ${await generationsOf(installation, refreshTokens)}`);
        const refreshes = await Promise.all(refreshTokens.map((token) => recorder.refresh(b, token)));
        assert.deepEqual(await generationsOf(installation, refreshTokens), [2, 2, 2]);
        const unanswered = codes.filter((_, n) => asked[refreshTokens.length + n]?.outcome === 'unavailable');
        for (const code of unanswered) await recorder.exchange(c, code);
        await mend(line, a);
        assert.deepEqual(await useEverywhere(installation, pairsOf(refreshes)), ['done']);
      }
      await judge(installation, server);
    });

  test('a line that goes dead and says so to nobody: 503 in the end, and a good line is taken as soon as there is one', async (t) => {
    const { installation, line, a, b } = await startOnLines(t, 1);
    const { recorder } = installation;
    const { accessToken, refreshToken } = await newPair(installation, a);
    line.goDead();
    const asked = await Promise.all<Entry>([
      recorder.check(a, accessToken),
      recorder.introspect(a, accessToken),
      recorder.refresh(a, refreshToken),
    ]);
    assert.deepEqual(outcomes(asked), ['unavailable']);
    const slowest = Math.max(...asked.map(({ started, ended }) => ended - started));
    t.diagnostic(`the slowest answer on a dead line took ${slowest.toFixed(0)} ms`);
    assert.equal((await recorder.refresh(b, refreshToken)).outcome, 'done');
    await mend(line, a);
    assert.equal((await recorder.refresh(a, refreshToken)).outcome, 'done');
    await judge(installation, server);
  });
});

describe(`lines that are cut again and again, under load (seed ${SEED})`, { timeout: TIMEOUT }, () => {
  test('cost no answered token', async (t: TestContext) => {
    const { installation, lines } = await startOnLines(t, 3, PEOPLE);
    const draw = lots(SEED);
    for (const line of lines) line.cutter = (sql) => (draw(WRITES.test(sql) ? 8 : 40) === 0 ? pick(draw, CUTS) : null);
    const figures = await trial(installation, server, () => sleep(rounds(5) * ROUND_MS));
    t.diagnostic(`${lines.map(({ cuts }) => cuts)} cuts: ${figures}`);
  });
});

/** Makes a line good, and waits until its instance has seen it. */
async function mend(line: Line, at: LocalInstance): Promise<void> {
  line.breaksWithCut = false;
  line.mend();
  const watch = new Watch([at]);
  await watch.until('ready');
  await watch.stop();
}
