/** The timer that records checkpoints of the audit trail and says them in the log: its clock is advanced by the test. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { findCheckpoints, isSigned } from '../../src/oauth/trail/audit-checkpoint.ts';
import { AuditTrail } from '../../src/operator/trail/audit-trail.ts';
import { TrailCheckpoints } from '../../src/operator/trail/trail-checkpoints.ts';
import { makeLogger } from '../../src/process/log.ts';
import { readableLines } from '../../src/process/readable-lines.ts';
import { keyring, NOW } from '../oauth/samples.ts';
import { runCommand } from '../support/command.ts';
import { addUser, startTestService } from '../support/service.ts';
import { event, openAsService, operator, temporaryPath } from '../support/storage.ts';

const FIVE_MINUTES = 300_000;
const DAY = 86_400_000;

/** A trail, its checkpoints, and a clock that rings when it is advanced. */
async function timed(t: TestContext, retention: number | null = null) {
  const clock = { now: NOW };
  const { store, installation, close } = await openAsService(':memory:', { now: () => clock.now });
  t.after(() => close());
  const trail = new AuditTrail({ store, keyring, installation: installation.id, now: () => clock.now });
  const [told, failed]: string[][] = [[], []];
  let due: { readonly at: number; readonly act: () => void } | null = null;
  const checkpoints = new TrailCheckpoints({
    ...{ trail, retention, actor: operator, cleanUpTime: async () => clock.now, now: () => clock.now },
    later: (act, ms) => {
      due = { at: clock.now + ms, act };
      return () => {
        due = null;
      };
    },
    told: (checkpoint) => void told?.push(checkpoint),
    failed: ({ message }) => void failed?.push(message),
  });
  /** Moves the clock on, and waits until what that set off has ended. */
  const advance = async (ms: number) => {
    clock.now += ms;
    if (!due || due.at > clock.now) return;
    due.act();
    for (let turns = 0; turns < 50; turns += 1) await new Promise(setImmediate);
  };
  const happen = () => store.recordDenial(event('consent_denied', { at: clock.now }));
  return {
    store,
    trail,
    checkpoints,
    told: told ?? [],
    failed: failed ?? [],
    advance,
    happen,
    isDue: () => due !== null,
  };
}

test('operating: every five minutes in which something happened a signed checkpoint is recorded and told, and at the stop', async (t) => {
  const { store, trail, checkpoints, told, advance, happen, isDue } = await timed(t);
  await advance(FIVE_MINUTES);
  assert.deepEqual(told, [], 'nothing happened');
  await happen();
  await advance(FIVE_MINUTES - 1);
  assert.deepEqual(told, [], 'it is not time yet');
  await advance(1);
  assert.equal(told.length, 1);
  const [first = assert.fail()] = findCheckpoints(told[0] ?? '');
  assert.deepEqual([first.upTo, first.events, isSigned(keyring, first)], [1, 1, true]);
  assert.equal((await store.listAuditEvents({ limit: 1 }))[0]?.detail, told[0], 'and it stands in the trail');
  await advance(FIVE_MINUTES);
  assert.equal(told.length, 1, 'nothing happened but a checkpoint');
  await happen();
  await checkpoints.stop();
  assert.equal(told.length, 2);
  assert.equal(isDue(), false);
  const { wrong, checkpoints: compared } = await trail.verify(findCheckpoints(told.join(' ')));
  assert.deepEqual([wrong, compared], [0, 4], 'two that were kept, two in the trail');
});

test('operating: a checkpoint that could not be made is told of, and made the next time', async (t) => {
  const { store, checkpoints, told, failed, advance, happen } = await timed(t);
  await happen();
  const record = t.mock.method(store, 'recordOfTrail', async () => {
    throw new Error('the disk is full');
  });
  await advance(FIVE_MINUTES);
  assert.deepEqual([told, failed], [[], ['the disk is full']]);
  assert.equal(checkpoints.verifiedAt, NOW, 'the figure stands still, by which an alert tells it');
  record.mock.restore();
  await advance(FIVE_MINUTES);
  assert.equal(told.length, 1);
  assert.equal(checkpoints.verifiedAt, NOW + 2 * FIVE_MINUTES);
  await advance(FIVE_MINUTES);
  assert.equal(checkpoints.verifiedAt, NOW + 3 * FIVE_MINUTES, 'also where nothing happened');
});

test('operating: the timer takes away what is older than the retention, up to a checkpoint, and what is left can be verified', async (t) => {
  const { store, trail, advance, happen } = await timed(t, 30 * DAY);
  await happen();
  await advance(FIVE_MINUTES);
  await advance(29 * DAY);
  await happen();
  await advance(FIVE_MINUTES);
  const all = async () => (await store.listAuditEvents({ limit: 100 })).map(({ action }) => action).reverse();
  assert.deepEqual(await all(), ['consent_denied', 'audit_checkpoint', 'consent_denied', 'audit_checkpoint']);
  await advance(2 * DAY);
  assert.deepEqual(await all(), ['audit_checkpoint', 'consent_denied', 'audit_checkpoint', 'audit_shortened']);
  assert.equal((await trail.verify([])).wrong, 0);
});

test('operating: the checkpoint in the log of a service is one that "audit verify" takes', async (t) => {
  const path = temporaryPath(t);
  const at = {
    VALETKEY_DATABASE_URL: `sqlite:${path}`,
    VALETKEY_KEYS_FILE: `${path}.keys`,
    VALETKEY_LOG_LEVEL: 'fatal',
  };
  const service = await startTestService(t, at);
  await addUser(service);
  await service.stop();
  const [line = assert.fail(service.log.join('\n'))] = service.log.filter((each) => each.includes('has a checkpoint'));
  const { code, stdout } = await runCommand(['audit', 'verify', '--checkpoint', line, '--json'], at);
  assert.equal(code, 0, stdout);
  assert.equal(JSON.parse(stdout).checkpoints, 2, 'that of the log, and the same in the trail');
});

test('a checkpoint that a stranger writes into the log is none: it keeps nobody from comparing with the log', async (t) => {
  const service = await startTestService(t);
  const forged = `valetkey-checkpoint.1.abcd.5.5.${'a'.repeat(64)}.1.deadbeef.${'A'.repeat(86)}`;
  assert.equal(findCheckpoints(forged).length, 1, 'it is written as one');
  const strange = ['', '"', ' ', '\n', '\t', '=', ' checkpoint=', ':', '.'].map(
    (end) => `https://a.example/${end}${forged}`,
  );
  for (const clientId of [forged, `app_${forged}`, ...strange]) {
    const body = new URLSearchParams({ client_id: clientId, client_secret: 'x', grant_type: 'refresh_token' });
    for (const path of ['/oauth2/token', '/oauth2/par'])
      await fetch(service.appUrl + path, { method: 'POST', body, headers: { 'user-agent': 'x', 'x-request-id': 'x' } });
    await fetch(`${service.appUrl}/oauth2/authorize?${new URLSearchParams({ client_id: clientId })}`);
  }
  const log = service.log.join('');
  assert.ok(log.includes(forged), 'the log has it');
  const people: string[] = [];
  const destination = readableLines({ write: (line: string) => void people.push(line) });
  for (const line of service.log) destination.write(line);
  assert.deepEqual([findCheckpoints(log), findCheckpoints(people.join(''))], [[], []]);
});

test('a checkpoint is found in a line of the log, as JSON and for people', () => {
  const checkpoint = `valetkey-checkpoint.1.abcd.5.5.${'a'.repeat(64)}.1.deadbeef.${'A'.repeat(86)}`;
  const json: string[] = [];
  makeLogger({ write: (line: string) => void json.push(line) }, () => 0).always({ checkpoint, msg: 'a sentence' });
  const people: string[] = [];
  readableLines({ write: (line: string) => void people.push(line) }).write(json.join(''));
  for (const lines of [json, people, [`{"log":${JSON.stringify(json.join(''))}}`]])
    assert.deepEqual(
      findCheckpoints(lines.join('')).map(({ text }) => text),
      [checkpoint],
      lines.join(''),
    );
});
