/** Races over three instances: what holds on one holds across all of them, at once. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { PATIENT_FOR_ROWS } from '../support/postgres.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { lots, pick, rounds, SEED, TIMEOUT } from './effort.ts';
import { grantIdOf, TOLD_WITHIN_MS } from './history.ts';
import { startThree } from './instances.ts';
import { judge } from './judge.ts';
import { REVOCATIONS, type Revoke, SUSPENSIONS } from './revocations.ts';
import { atOnce, newCode, newPair, outcomes, pairsOf, useEverywhere } from './uses.ts';

const AT_ONCE = 50;
const server = await sharedPostgres();
after(() => server.remove());

describe(`three instances on one database (seed ${SEED})`, { timeout: TIMEOUT }, () => {
  test('Promise 1: of 50 exchanges of one code exactly one succeeds, and the others end the grant', async (t) => {
    const installation = await startThree(t, server, 1, PATIENT_FOR_ROWS);
    const { instances, recorder } = installation;
    for (let round = rounds(6); round > 0; round -= 1) {
      const code = await newCode(installation);
      const exchanges = await atOnce(AT_ONCE, instances, (at) => recorder.exchange(at, code));
      assert.equal(pairsOf(exchanges).length, 1);
      assert.equal(exchanges.filter(({ outcome }) => outcome === 'refused').length, AT_ONCE - 1);
      assert.deepEqual(await useEverywhere(installation, pairsOf(exchanges)), ['refused']);
    }
    await judge(installation, server);
  });

  test('Promise 3: 50 refreshes at once make one successor, and all are answered with it', async (t) => {
    const installation = await startThree(t, server, 1, PATIENT_FOR_ROWS);
    const { instances, recorder } = installation;
    let pair = await newPair(installation);
    for (let round = rounds(6); round > 0; round -= 1) {
      const refreshes = await atOnce(AT_ONCE, instances, (at) => recorder.refresh(at, pair.refreshToken));
      assert.equal(new Set(refreshes.map((entry) => JSON.stringify(entry.pair))).size, 1);
      pair = refreshes[0]?.pair ?? assert.fail('a pair');
      assert.deepEqual(outcomes(await atOnce(3, instances, (at) => recorder.check(at, pair.accessToken))), ['done']);
    }
    await judge(installation, server);
  });

  test('Promise 2: whoever revokes, at whichever instance, while others refresh: then nothing works anywhere', async (t) => {
    const installation = await startThree(t, server, 1, PATIENT_FOR_ROWS);
    const { instances, recorder } = installation;
    const program = await ProgramOnDisk.make(t);
    const stops = instances.map((at) => recorder.listen(at));
    const draw = lots(SEED);
    for (let round = rounds(2); round > 0; round -= 1)
      for (const revoke of [...Object.values(REVOCATIONS), byCommand(program)]) {
        const first = await newPair(installation);
        const refreshing = atOnce(12, instances, (at) => recorder.refresh(at, first.refreshToken));
        await sleep(draw(8));
        const { outcome, detail } = await revoke(installation, pick(draw, instances), first);
        assert.equal(outcome, 'done', detail);
        const pairs = [first, ...pairsOf(await refreshing)];
        assert.deepEqual(await useEverywhere(installation, pairs), ['refused']);
      }
    await sleep(TOLD_WITHIN_MS);
    await Promise.all(stops.map((stop) => stop()));
    await judge(installation, server);
  });

  test('Promise 2: the next check on every other instance sees a paused client, and a disabled account', async (t) => {
    const installation = await startThree(t, server, 1, PATIENT_FOR_ROWS);
    const { instances, recorder } = installation;
    const { accessToken } = await newPair(installation);
    const draw = lots(SEED);
    for (let round = rounds(3); round > 0; round -= 1)
      for (const { suspend, resume } of Object.values(SUSPENSIONS)) {
        const at = pick(draw, instances);
        const others = instances.filter((other) => other !== at);
        const checking = atOnce(30, instances, async (one) => {
          await sleep(draw(20));
          return recorder.check(one, accessToken);
        });
        assert.equal((await suspend(installation, at)).outcome, 'done');
        assert.deepEqual(outcomes(await atOnce(4, others, (one) => recorder.check(one, accessToken))), ['refused']);
        await checking;
        assert.equal((await resume(installation, pick(draw, others))).outcome, 'done');
        assert.deepEqual(outcomes(await atOnce(6, instances, (one) => recorder.check(one, accessToken))), ['done']);
      }
    await judge(installation, server);
  });
});

/** The operator revokes by a command, in a process of its own. */
function byCommand(program: ProgramOnDisk): Revoke {
  return ({ recorder, shared }, _at, { refreshToken }) => {
    const grantId = grantIdOf(refreshToken);
    return recorder.act({ name: 'command' }, 'revoke', { grantId }, async () => {
      const { code, stderr } = await program.run(['grant', 'revoke', grantId, '--yes'], {
        ...shared,
        VALETKEY_KEYS_FILE: '',
      });
      assert.equal(code, 0, stderr);
    });
  };
}
