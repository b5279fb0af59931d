/** A root key takes over although whatever works on it is killed at every step, on both stores: nothing is refused meanwhile. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, describe, type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Browser } from '../support/browser.ts';
import { runCommand } from '../support/command.ts';
import { COMPILED } from '../support/compiled.ts';
import { me, obtainPair, pairOf, refresh, signedInBrowser, signIn } from '../support/flow.ts';
import { PATIENT } from '../support/postgres.ts';
import { addClient, addUser, freePort, startTestService, type TestService } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { temporaryPath } from '../support/storage.ts';

const server = await sharedPostgres();
after(() => server.remove());

const [MAIN, KILLED_AT] = ['../../src/main.ts', './killed-at.child.ts'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string];
const PEOPLE = ['ada@example.com', 'bob@example.com', 'eve@example.com'];

type When = 'before' | 'after';
type Listed = { readonly key_id: string; readonly status: string; readonly passwords: number };

for (const store of ['SQLite', 'PostgreSQL'])
  describe(`security OP-11: ${store}`, () => {
    /** An installation with people, all of whose passwords and tokens rest on its first key. */
    async function installation(t: TestContext) {
      const path = temporaryPath(t);
      const keysFile = join(dirname(dirname(path)), 'keys/keys');
      const url = store === 'SQLite' ? `sqlite:${path}` : await server.createDatabase();
      const at = { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS_FILE: keysFile };
      const run = (words: string[]) => runCommand([...words, '--json'], at);
      const json = async (words: string[]) => {
        const { code, stdout, stderr } = await run(words);
        assert.equal(code, 0, stderr);
        return JSON.parse(stdout);
      };
      await json(['keys', 'generate', '--file', keysFile]);
      const serve = (clock?: TestService['clock']) => startTestService(t, at, clock, PATIENT);
      /** Runs the program until it kills itself at a step. */
      const killed = async (words: string[], step: RegExp, when: When) => {
        const [app, api] = [await freePort(), await freePort()];
        const env = {
          ...{ PATH: process.env['PATH'], ...COMPILED, ...at, KILLED_AT: step.source, KILLED_WHEN: when },
          ...{ VALETKEY_APP_URL: `http://127.0.0.1:${app}`, VALETKEY_API_URL: `http://127.0.0.1:${api}` },
        };
        const child = spawn(process.execPath, ['--import', KILLED_AT, MAIN, ...words], { env, stdio: 'ignore' });
        const [code, signal] = await once(child, 'exit');
        assert.deepEqual([code, signal], [null, 'SIGKILL'], `it did not come ${when} ${step}`);
      };
      const list = async () => (await json(['keys', 'list'])) as Listed[];
      const statuses = async () => (await list()).map(({ status }) => status).toSorted();
      const keysInFile = () => readFileSync(keysFile, 'utf8').match(/^vk_rk_/gm)?.length;
      const sql = async (change: string) => {
        if (store !== 'SQLite') return void (await server.query(url, change));
        const database = new DatabaseSync(path);
        database.exec(change);
        database.close();
      };
      return { folder: dirname(keysFile), serve, json, run, killed, list, statuses, keysInFile, sql };
    }

    test('a rotation that is killed at any step goes on at the next, with the same key; no start and no request is refused', async (t) => {
      const { folder, serve, killed, json, statuses, keysInFile } = await installation(t);
      let service = await serve();
      await addUser(service);
      const client = await addClient(service);
      let pair = await obtainPair(service, await signedInBrowser(service), client);
      const waiting = ['announced', 'current'];
      // In between comes the key's canary, which whatever opens the database next makes: here the start.
      const steps: [step: RegExp, when: When, keys: number, statuses: string[]][] = [
        [/rename/, 'before', 1, ['current']],
        [/rename/, 'after', 2, waiting],
        [/SET next_key_id =/, 'after', 2, waiting],
        [/SET current_key_id =/, 'before', 2, waiting],
        [/SET current_key_id =/, 'after', 2, ['current', 'earlier']],
      ];
      for (const [step, when, keys, expected] of steps) {
        await killed(['keys', 'rotate'], step, when);
        assert.equal(keysInFile(), keys, `${when} ${step}`);
        const old = pair;
        pair = pairOf(await refresh(service, client, pair.refreshToken));
        await service.stop();
        service = await serve(service.clock);
        for (const { accessToken } of [old, pair]) assert.equal((await me(service, accessToken)).status, 200);
        pair = pairOf(await refresh(service, client, pair.refreshToken));
        assert.equal((await signIn(service, new Browser())).status, 303);
        assert.deepEqual(await statuses(), expected, `${when} ${step}`);
      }
      assert.deepEqual(readdirSync(folder), ['keys'], 'drafts, which hold keys, are gone');
      const { key_id: third } = await json(['keys', 'rotate']);
      assert.ok(third);
      assert.deepEqual(await statuses(), ['current', 'earlier', 'earlier'], 'the next rotation is another one');
    });

    test('a service that is killed after each password that it seals anew goes on with the next; each is good meanwhile', async (t) => {
      const { serve, killed, json, list } = await installation(t);
      const first = await serve();
      for (const email of PEOPLE) await addUser(first, email);
      await first.stop();
      const { earlier_key_id: earlier } = await json(['keys', 'rotate']);
      const left = async () => (await list()).find(({ key_id }) => key_id === earlier)?.passwords;
      assert.equal(await left(), PEOPLE.length);
      for (const before of [3, 2]) {
        await killed(['serve'], /UPDATE account SET password/, 'after');
        const now = await left();
        assert.ok(now !== undefined && now < before, `${now} passwords are left`);
      }
      const service = await serve(first.clock);
      for (const email of PEOPLE) assert.equal((await signIn(service, new Browser(), email)).status, 303);
      while ((await left()) !== 0) await sleep(50);
      for (const email of PEOPLE) assert.equal((await signIn(service, new Browser(), email)).status, 303);
    });

    test('a key whose retirement is killed is retired, and taken out of the keys file, by the same command', async (t) => {
      const { folder, serve, killed, json, run, statuses, keysInFile, sql } = await installation(t);
      await (await serve()).stop();
      const { earlier_key_id: earlier } = await json(['keys', 'rotate']);
      await sql('UPDATE root_key SET superseded_at = 1 WHERE superseded_at IS NOT NULL');
      const retire = ['keys', 'retire', earlier, '--yes'];
      for (const [step, when, expected] of [
        [/SET retired_at =/, 'before', ['current', 'earlier']],
        [/SET retired_at =/, 'after', ['current', 'retired']],
        [/rename/, 'before', ['current', 'retired']],
      ] as [RegExp, When, string[]][]) {
        await killed(retire, step, when);
        assert.deepEqual(await statuses(), expected);
        assert.equal(keysInFile(), 2);
      }
      assert.equal((await json(retire)).status, 'retired');
      assert.equal(keysInFile(), 1);
      assert.match((await run(retire)).stderr, /was retired before/);
      const service = await serve();
      assert.deepEqual(readdirSync(folder), ['keys']);
      await service.stop();
      assert.equal((await json(['audit', 'verify'])).ok, true);
    });
  });
