/** What a start and a restore make of keys and instances of before, on both stores. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { after, test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { PATIENT } from '../support/postgres.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { Clock, startTestService } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const server = await sharedPostgres();
after(() => server.remove());

for (const store of ['SQLite', 'PostgreSQL']) {
  const installation = async (t: Parameters<typeof ProgramOnDisk.make>[0]) => {
    const program = await ProgramOnDisk.make(t);
    const path = join(program.folder, 'data/valetkey.db');
    const url = store === 'SQLite' ? `sqlite:${path}` : await server.createDatabase();
    const keysFile = join(program.folder, 'data/keys');
    const at = { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS_FILE: keysFile };
    const run = async (words: string[], variables: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await runCommand(words, { ...at, ...variables });
      assert.equal(code, 0, stderr);
      return stdout;
    };
    await run(['keys', 'generate', '--file', keysFile]);
    await run(['database', 'migrate']);
    return { program, path, url, at, run };
  };

  test(`operating: a restore to before a rotation says which key issues again, and any other says nothing: ${store}`, async (t) => {
    const { program, url, run } = await installation(t);
    const file = join(program.folder, 'backup.db');
    // PostgreSQL has its own ways: a copy of the whole database is one.
    const copy = store === 'SQLite' ? url : await server.createDatabase(new URL(url).pathname.slice(1));
    if (store === 'SQLite') await run(['database', 'backup', file]);
    const restore = (...words: string[]) =>
      run(['database', 'restore', ...(store === 'SQLite' ? [file] : []), ...words, '--yes'], {
        VALETKEY_DATABASE_URL: copy,
      });
    assert.doesNotMatch(await restore(), /issues with/);
    const { key_id: newer, earlier_key_id: earlier } = JSON.parse(await run(['keys', 'rotate', '--json']));
    assert.match(
      await restore(),
      new RegExp(`issues with root key ${earlier}, not with the newer ${newer}.*"keys rotate"`),
    );
    const { root_keys: keys } = JSON.parse(await restore('--json'));
    assert.deepEqual(keys, { issues_with: earlier, unused: newer });
  });

  test(`operating: the instances that are noted do not grow with starts: ${store}`, async (t) => {
    const { path, url, at } = await installation(t);
    const clock = new Clock();
    const noted = async () => {
      if (store !== 'SQLite') return (await server.query(url, 'SELECT id FROM serving_instance')).length;
      const database = new DatabaseSync(path, { readOnly: true });
      const rows = database.prepare('SELECT id FROM serving_instance').all();
      database.close();
      return rows.length;
    };
    for (let start = 0; start < 3; start += 1) {
      const service = await startTestService(t, at, clock, PATIENT);
      assert.equal(await noted(), 1);
      const other = store === 'SQLite' ? null : await startTestService(t, at, clock, PATIENT);
      assert.equal(await noted(), store === 'SQLite' ? 1 : 2, 'one that runs stays');
      await other?.stop();
      await service.stop();
    }
  });
}
