// The console of the demonstration: a year of made-up history, and an address that signs an operator in.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { APPS, STORIES } from '../../demo/operator/cast.ts';
import { DAY, HOUR, SetClock } from '../../demo/operator/clock.ts';
import { beginningOf } from '../../demo/operator/history.ts';
import { writeHistory } from '../../demo/operator/year.ts';
import { startService } from '../../src/main.ts';
import { FAILURES_KEPT } from '../../src/oauth/activity/app-failure.ts';
import { makeLogger } from '../../src/process/log.ts';
import { readConfiguration } from '../../src/settings/configuration.ts';
import { Browser } from '../support/browser.ts';
import { freePort } from '../support/service.ts';
import { finish, startDemo } from './run-demo.ts';

test('the demo for operators prints a one-time address that signs in, lists the apps, and its trail verifies', async (t) => {
  const run = startDemo(t, '--operator');
  const [greeting] = await once(run.child.stdout, 'data');
  const url =
    /^ +Open +(http:\/\/localhost:\d+\/sign-in\?token=\S+)\n +App +http:\/\/127/m.exec(String(greeting))?.[1] ?? '';
  const { origin } = new URL(url);
  const browser = new Browser();
  assert.match((await browser.get(url)).body, /Robin Castellanos/);
  assert.equal((await browser.post(url, {}, { Origin: origin })).status, 303);
  const { body } = await browser.get(`${origin}/apps`);
  for (const { name } of [...APPS, { name: 'Postcards' }]) assert.ok(body.includes(name), name);
  assert.equal((await new Browser().post(url, {}, { Origin: origin })).status, 400);

  const post = async (path: string, fields = {}) =>
    (await browser.post(origin + path, fields, { Origin: origin })).body;
  const leaked = /^ +Leaked +(vk_rt_\S+)$/m.exec(String(greeting))?.[1] ?? '';
  assert.match(await post('/leaked', { credential: leaked }), new RegExp(`${STORIES.leaked}[^]*/revoke-grant"`));
  assert.match(await post('/products/tintype/test'), /All checks passed/);
  assert.match(await post('/products/bluebird/test'), /\d of \d checks failed/);
  const health = (await browser.get(`${origin}/health`)).body.replace(/<[^>]*>/g, ' ');
  assert.match(health, /Last backup\s+Problem\s+[34] days old \(limit: 48 h\)/);
  assert.match(health, /Root key [0-9a-f]{8} is in use and 39[89] days old: due soon/);

  const [directory = ''] = readdirSync(run.temporary);
  const place = join(run.temporary, directory);
  const [database = ''] = readdirSync(place).filter((name) => name.endsWith('.db'));
  const env = {
    ...process.env,
    VALETKEY_DATABASE_URL: `sqlite:${join(place, database)}`,
    VALETKEY_KEYS_FILE: join(place, database.replace('demo', 'keys').replace('.db', '')),
  };
  const { stdout } = await promisify(execFile)(process.execPath, ['src/main.ts', 'audit', 'verify'], { env });
  assert.match(stdout, /^The audit trail is intact: \d{4} events .* compared with \d\d checkpoints/);
  run.child.kill('SIGTERM');
  assert.equal((await finish(run)).code, 0);
  assert.deepEqual(readdirSync(run.temporary), []);
});

test('the console, and the demos without it, exclude each other', async (t) => {
  for (const other of ['--headless', '--product']) {
    const { code, stderr } = await finish(startDemo(t, '--operator', other));
    assert.equal(code, 2);
    assert.match(stderr, new RegExp(`'--operator' cannot be used with option '${other}'`));
  }
});

test('the made-up history has its stories at any time of day', async (t) => {
  const end = Date.UTC(2026, 2, 2, 0, 5); // Five minutes into a Monday.
  const clock = new SetClock(beginningOf(end));
  const warnings: string[] = [];
  const logger = makeLogger({ write: (line: string) => void warnings.push(line) }, Date.now, 'silent');
  const urls = ['APP', 'API', 'OPERATOR'].map(async (name) => [
    `VALETKEY_${name}_URL`,
    `http://localhost:${await freePort()}`,
  ]);
  const variables = { ...Object.fromEntries(await Promise.all(urls)), VALETKEY_DATABASE_URL: 'sqlite::memory:' };
  const { installation, stop } = await startService(readConfiguration(variables), { logger, now: clock.now });
  t.after(stop);
  const about = { name: 'Mira Example', email: 'mira@example.com', username: null, password: 'linen-otter-canal-51' };
  const demo = await installation.accounts.add(about, installation.operator);
  await writeHistory(installation, demo, clock, end);
  assert.equal(clock.now(), end);

  const show = (name: string) => installation.clients.show(name);
  const lastUse = async (secret: { readonly digest: Buffer } | undefined) =>
    (secret && (await installation.secretUses.findSecretUse(secret))) ?? 0;
  const failing = await installation.appActivity.find((await show(STORIES.failing)).id, end - DAY);
  assert.ok(failing.tally.invalidGrant > 100 && failing.tally.invalidClient > 50);
  const { recorded, hours: failingHours } = await installation.appActivity.failures((await show(STORIES.failing)).id);
  assert.equal(recorded.length, FAILURES_KEPT);
  const since = Math.ceil((recorded.at(-1)?.at ?? 0) / HOUR) * HOUR;
  const countedSince = failingHours.filter(({ bucket }) => bucket >= since);
  assert.equal(
    countedSince.reduce((sum, { invalidGrant }) => sum + invalidGrant, 0),
    recorded.filter(({ at }) => at >= since).length,
    'each failure with a reason is recorded',
  );
  const reasons = new Set(failing.failures.map(({ reason }) => reason.slice(0, 20)));
  assert.deepEqual(reasons, new Set(['redirect_uri differs', 'the access that was ']));
  const [newer, older] = (await show(STORIES.twoSecrets)).secrets;
  const unused = end - (await lastUse(older));
  assert.ok(unused > 9 * DAY && unused < 10.5 * DAY, `${unused / DAY} days`);
  assert.ok(end - (await lastUse(newer)) < 3 * DAY);
  const dormant = await show(STORIES.dormant);
  const dormantDays = await installation.appActivity.tallies(dormant.id, 'day', end - 400 * DAY);
  const [lastCounted, lastUsed] = [dormantDays.at(-1)?.bucket ?? 0, await lastUse(dormant.secrets[0])];
  assert.ok(end - lastUsed > 150 * DAY && Math.abs(lastUsed - lastCounted) < DAY, 'last used when last counted');
  assert.equal((await show(STORIES.paused)).status, 'paused');
  const handedOver = await installation.handOvers.newest({ kind: 'client', id: (await show('Marble Exports')).id });
  assert.equal(handedOver?.fetchedFrom, '203.0.113.0/24');

  const events = await installation.audit.listNamedAuditEvents({ limit: 100 });
  const replay = events.find(({ action }) => action === 'refresh_reuse');
  assert.match(replay?.detail ?? '', /203\.0\.113\./);
  assert.equal(replay?.actor.source, '198.51.100.77');
  const { found } = await installation.grants.show(replay?.grantId ?? '');
  assert.equal(found?.grant.revocationReason, 'refresh_reuse');
  const days = await installation.appActivity.tallies((await show('Lumen Calendar')).id, 'day', end - 400 * DAY);
  const hours = await installation.appActivity.tallies((await show('Lumen Calendar')).id, 'hour', end - 48 * HOUR);
  assert.ok(days.length > 390 && hours.length >= 48, `${days.length} days, ${hours.length} hours`);
  assert.equal((await installation.auditTrail.verify([])).wrong, 0);
  assert.deepEqual(warnings, []);
});
