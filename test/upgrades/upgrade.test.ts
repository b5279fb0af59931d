/**
 * Kept databases go on: in this version, and in a later one that is killed twenty times while it upgrades them. Who
 * held something before holds it afterwards.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { MIGRATIONS as OF_POSTGRESQL } from '../../src/storage/postgresql/plain-database.ts';
import { MIGRATIONS as OF_SQLITE } from '../../src/storage/sqlite/plain-database.ts';
import { lots, rounds } from '../instances/effort.ts';
import { Browser } from '../support/browser.ts';
import { runCommand } from '../support/command.ts';
import type { TestConsole } from '../support/console.ts';
import { me, obtainPair, pairOf, refresh, signIn } from '../support/flow.ts';
import { assertGoesOn, browserWith } from '../support/held.ts';
import { assertOperatorsGoOn } from '../support/held-by-operators.ts';
import { startPostgres } from '../support/postgres.ts';
import { postAs } from '../support/standard.ts';
import { storesOfRun } from '../support/stores.ts';
import { IMPORTED } from './fill.ts';
import { type KeptFacts, keptDatabase, keptVersions, restoreText, type StoreName } from './kept.ts';
import { LATER_MIGRATIONS, laterVersion } from './later-version.ts';
import { assertOldAppSignsIn, assertSignInGoesOn, BEGUN, type BegunRow, beginAnew } from './signing-in.ts';
import { startVersion } from './start.ts';

/** `VALETKEY_ROUNDS` makes them more. */
const KILLS = rounds(4);
const SEED = 20_261_124;
const THIS = fileURLToPath(new URL('../..', import.meta.url));
const CHILD = fileURLToPath(new URL('open.child.ts', import.meta.url));

const server = await startPostgres();
after(() => server.remove());
const later = laterVersion({ after });
const expanded = laterVersion({ after }, { expands: true });

/** The databases of PostgreSQL that were made of kept texts, by their version: those of the tests are copies. */
const templates = new Map<string, string>();

async function templateOf(version: string, text: string): Promise<string> {
  const made = templates.get(version);
  if (made) return made;
  const url = await server.createDatabase();
  await restoreText(url, text);
  const name = new URL(url).pathname.slice(1);
  templates.set(version, name);
  return name;
}

/** A kept database in a place of its own. */
type Restored = {
  readonly facts: KeptFacts;
  readonly variables: Readonly<Record<string, string>>;
  /** Changes and reads it while nobody serves it. */
  query<Row extends object>(sql: string): Promise<Row[]>;
};

/** The numbers of the migrations that it has. */
async function applied({ query }: Restored): Promise<number[]> {
  const rows = await query<{ number: number }>('SELECT number FROM migration ORDER BY number');
  return rows.map(({ number }) => number);
}

const restore: Record<StoreName, (t: TestContext, version: string) => Promise<Restored>> = {
  async sqlite(t, version) {
    const { database, facts } = keptDatabase(version, 'sqlite');
    const folder = mkdtempSync(join(tmpdir(), 'valetkey-kept-'));
    // Last of all: no database may vanish before its service has stopped.
    t.after(() => t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })));
    const path = join(folder, 'valetkey.db');
    mkdirSync(folder, { recursive: true });
    writeFileSync(path, database, { mode: 0o600 });
    const query = async <Row>(sql: string) => {
      using opened = new DatabaseSync(path);
      return opened.prepare(sql).all() as Row[];
    };
    return { facts, query, variables: { VALETKEY_DATABASE_URL: `sqlite:${path}`, VALETKEY_KEYS: facts.rootKey } };
  },
  async postgresql(_t, version) {
    const { database, facts } = keptDatabase(version, 'postgresql');
    const url = await server.createDatabase(await templateOf(version, database.toString()));
    const query = <Row extends object>(sql: string) => server.query<Row>(url, sql);
    return { facts, query, variables: { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: facts.rootKey } };
  },
};

/**
 * Has the later version open the database, as a start does before it serves, kills it so long after it said what it will do
 * (ms), and answers what it said.
 */
async function openAndKill({ facts, variables }: Restored, delay: number): Promise<string> {
  const child = spawn(process.execPath, [CHILD, later, String(facts.held.now)], {
    env: { ...process.env, NODE_COMPILE_CACHE: join(later, '.cache'), ...variables },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let said = '';
  const announced = new Promise<void>((resolve) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if (/is brought from|^open$/m.test(said)) resolve();
    });
  });
  await Promise.race([announced, ended]);
  await Promise.race([sleep(delay), ended]);
  child.kill('SIGKILL');
  await ended;
  return said;
}

/** The kept provider is a way to sign in: else its calls are refused. */
const METHODS = { VALETKEY_SIGN_IN_METHODS: 'password,product' };

/** Asserts that each token, session, key, passkey and link of a kept database works. */
async function assertAllGoesOn(
  service: TestConsole,
  { held, byOperators, kid, signIn: signedIn }: KeptFacts,
): Promise<void> {
  assert.equal((await service.installation.signingKeys.signing())?.kid, kid, 'the same key signs ID tokens');
  if (signedIn) await assertSignInGoesOn(service, kid, signedIn);
  await assertOperatorsGoOn(service, byOperators);
  await assertGoesOn(service, held);
  // The start wraps the hashes that wait for it.
  while ((await service.installation.imports.status()).unwrapped > 0) await sleep(20);
  for (const [email, { password }] of Object.entries(IMPORTED))
    assert.equal((await signIn(service, new Browser(), email, password)).status, 303, email);
}

/** Starts versions of the program on a kept database, one after the other. */
async function runs<Folders extends string[]>(
  { held }: KeptFacts,
  variables: Restored['variables'],
  ...folders: Folders
): Promise<{ [At in keyof Folders]: TestConsole }> {
  const started: TestConsole[] = [];
  for (const folder of folders)
    started.push(await startVersion(folder, held.now, { ...variables, ...METHODS }, () => {}));
  return started as { [At in keyof Folders]: TestConsole };
}

for (const [, store] of storesOfRun<StoreName>({ SQLite: 'sqlite', PostgreSQL: 'postgresql' })) {
  const known = store === 'sqlite' ? OF_SQLITE : OF_POSTGRESQL;
  /** The numbers of this version's own migrations after those of a database that has so many. */
  const ownSince = (applied: number) => known.slice(applied).map(({ number }) => number);

  for (const version of keptVersions())
    describe(`${store}, a database of ${version}`, { concurrency: false }, () => {
      test('goes on in this version', async (t) => {
        const { facts, variables } = await restore[store](t, version);
        const service = await startVersion(THIS, facts.held.now, { ...variables, ...METHODS }, () => {});
        t.after(() => service.stop());
        await assertAllGoesOn(service, facts);
      });

      for (const [what, folder] of [
        ['this version', THIS],
        ['a later version', later],
      ] as const)
        test(`OpenID Connect: ${what} redeems a code of a sign-in from before, and signs users in at its app, by the kept keys`, async (t) => {
          const { facts, variables, query } = await restore[store](t, version);
          const { now, cookies } = facts.held;
          for (const sql of beginAnew(now)) await query(sql);
          const [begun] = await query<BegunRow>(BEGUN);
          const service = await startVersion(folder, now, { ...variables, ...METHODS }, () => {});
          t.after(() => service.stop());
          await assertOldAppSignsIn(service, facts, begun ?? assert.fail(), browserWith(cookies));
        });

      test(`goes on in a later version that was killed ${KILLS} times while it upgraded it (seed ${SEED})`, async (t) => {
        const random = lots(SEED);
        let restored = await restore[store](t, version);
        const before = await applied(restored);
        const toDo = [...ownSince(before.length), ...LATER_MIGRATIONS];
        const outcomes = new Set<number>();
        // The delays close in on the moments of the commits, however fast the machine is.
        for (let [kills, most] = [0, 300]; kills < KILLS || (outcomes.size < 2 && kills < 60); kills += 1) {
          const said = await openAndKill(restored, random(most));
          const done = (await applied(restored)).length - before.length;
          assert.ok(done === toDo.length || /is brought from/.test(said), 'a start says what it will do first');
          outcomes.add(done);
          most *= done === toDo.length ? 0.7 : 1.3;
          if (done === toDo.length && (kills < KILLS - 1 || outcomes.size < 2))
            restored = await restore[store](t, version);
        }
        assert.ok(outcomes.size > 1, `some kills came before a commit, and some after: ${[...outcomes]}`);
        const service = await startVersion(
          later,
          restored.facts.held.now,
          { ...restored.variables, ...METHODS },
          () => {},
        );
        t.after(() => service.stop());
        assert.deepEqual(await applied(restored), [...before, ...toDo]);
        await assertAllGoesOn(service, restored.facts);
      });

      test('goes on in this version after a later one that only expands the schema served it: the way back', async (t) => {
        const { facts, variables } = await restore[store](t, version);
        const [first] = await runs(facts, variables, expanded);
        const pair = await obtainPair(first, browserWith(facts.held.cookies), facts.held.app);
        await first.stop();
        const [service] = await runs(facts, variables, THIS);
        t.after(() => service.stop());
        assert.equal((await me(service, pair.accessToken)).status, 200);
        await assertAllGoesOn(service, facts);
      });

      // One process serves SQLite.
      if (store === 'postgresql')
        test('is served by this version and a later one side by side, which see what the other does', async (t) => {
          const { facts, variables } = await restore[store](t, version);
          const [older, newer] = await runs(facts, variables, THIS, expanded);
          t.after(() => newer.stop());
          const { app, cookies } = facts.held;
          const given = await obtainPair(older, browserWith(cookies), app);
          const next = pairOf(await refresh(newer, app, given.refreshToken));
          assert.equal((await me(older, next.accessToken)).status, 200, 'the older one knows a token of the newer');
          const last = pairOf(await refresh(older, app, next.refreshToken));
          assert.equal((await me(newer, last.accessToken)).status, 200);
          await older.stop();
          const [again] = await runs(facts, variables, THIS);
          t.after(() => again.stop());
          assert.equal((await postAs(newer, app, 'revoke', { token: last.refreshToken })).status, 200);
          for (const service of [again, newer])
            assert.ok(
              (await me(service, last.accessToken)).status >= 400,
              'a revocation by the newer one holds at both',
            );
          await assertAllGoesOn(again, facts);
        });

      test('is upgraded by a start that says so, and refused by the version before from then on', async (t) => {
        const { facts, variables } = await restore[store](t, version);
        const log: { level: string; msg: string }[] = [];
        const write = (line: string) => void log.push(JSON.parse(line));
        const service = await startVersion(later, facts.held.now, variables, write);
        await service.stop();
        const [will, done] = log.filter(({ msg }) => msg.startsWith('the database is'));
        const from = facts.migrations.at(-1);
        const [anew, more] = LATER_MIGRATIONS;
        assert.equal(will?.level, 'warn');
        assert.ok(
          will.msg.startsWith(`the database is brought from migration ${from?.number} (${from?.name}) to ${more}. `),
          will.msg,
        );
        assert.ok(
          will.msg.includes(
            `${anew} (later): Grants may end for one more reason. ${more} (expand-more): Room for what comes later. `,
          ),
          will.msg,
        );
        assert.match(will.msg, / It has \d+ accounts, \d+ apps, /);
        assert.match(will.msg, /the version before does not start on it afterwards, and the way back is the backup/);
        assert.equal(done?.msg, `the database is at migration ${more}: the upgrade is done`);
        const again: string[] = [];
        await (await startVersion(later, facts.held.now, variables, (line) => again.push(line))).stop();
        assert.ok(!again.some((line) => line.includes('the database is')), 'said once');
        const { code, stderr } = await runCommand(['user', 'list'], variables);
        assert.equal(code, 1);
        assert.match(
          stderr,
          /made by a newer version of Valetkey \(migration \d+, later\): install that version .* backup/,
        );
      });
    });
}
