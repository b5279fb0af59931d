/** Which commands begin an installation, and that all others refuse where there is none, on both stores. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCommand } from '../support/command.ts';
import { commandsOfProgram } from '../support/commands.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { REDIRECT_URI } from '../support/service.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';

const server = await sharedPostgres();
after(() => server.remove());

const PRODUCT = ['--id', 'product', '--name', 'Photos', '--sign-in-url', 'https://app.example/sign-in'];
/** Commands that begin an installation, with what they need. */
const FOUNDING: readonly (readonly string[])[] = [
  ['database', 'migrate'],
  ['user', 'add', '--email', 'ada@example.com', '--name', 'Ada'],
  ['user', 'import', 'people.jsonl'],
  ['client', 'register', '--name', 'App', '--redirect-uri', REDIRECT_URI],
  ['identity-provider', 'register', ...PRODUCT],
];
/** Commands that open no database of their own, begin an installation as services, or name what they open. */
const OTHERS = ['serve', 'demo', 'scan-rules', 'keys generate', 'database copy', 'doctor'];
/** What other commands need before they open the database: arguments, and required options. */
const NEEDED: Readonly<Record<string, readonly string[]>> = {
  'audit show': ['1'],
  'client update': ['none', '--name', 'Renamed'],
  'database backup': ['backup.db'],
  'database restore': ['--yes'],
  'operator add': ['Ann', '--role', 'read'],
  'operator update': ['Ann', '--role', 'read'],
  'operator key add': ['Ann', '--name', 'portal', '--rights', 'identify'],
  'operator key end': ['Ann', 'opk_none'],
  'grant revoke': ['00000000000000000000000000000000', '--yes'],
  'keys retire': ['00000001'],
  'keys id-tokens replace': ['--now'],
  'identity-provider update': ['product', '--name', 'Renamed'],
  'resource-server update': ['none', '--name', 'Renamed'],
  'user update': ['ada', '--name', 'Renamed'],
  'resource-server register': ['--name', 'API'],
  'scope define': ['read', '--sentence', 'Read'],
  'user link': ['ada', '--provider', 'product', '--subject', '1'],
  'identity-provider end-all': ['product', '--since', '2026-01-01T00:00:00Z', '--yes'],
  'user import': ['people.jsonl', '--dry-run'],
};

for (const store of ['SQLite', 'PostgreSQL'])
  test(`operating: no command but the first of an installation begins one, and that one says so in a line: ${store}`, async (t) => {
    const program = await ProgramOnDisk.make(t);
    const people = join(program.folder, 'people.jsonl');
    writeFileSync(people, JSON.stringify({ email: 'grace@example.com', password_hash: `$2b$10$${'a'.repeat(53)}` }));
    let count = 0;
    const elsewhere = async () => {
      count += 1;
      const folder = join(program.folder, `${count}`);
      mkdirSync(folder);
      const path = join(folder, 'data/valetkey.db');
      const url = store === 'SQLite' ? `sqlite:${path}` : await server.createDatabase('template0');
      const keysFile = store === 'SQLite' ? join(folder, 'data/keys') : join(folder, 'keys');
      if (store !== 'SQLite') await runCommand(['keys', 'generate', '--file', keysFile], program.variables);
      return { folder, VALETKEY_DATABASE_URL: url, VALETKEY_KEYS_FILE: keysFile };
    };
    const given = (words: readonly string[]) => words.map((word) => (word === 'people.jsonl' ? people : word));

    const { folder, ...nowhere } = await elsewhere();
    const before = readdirSync(folder);
    const known = [...(await commandsOfProgram()).entries()];
    const names = FOUNDING.map(([group, name]) => `${group} ${name}`);
    const refused = known.filter(([name]) => !OTHERS.includes(name) && (NEEDED[name] || !names.includes(name)));
    assert.ok(refused.length > 40, 'they are all of the program');
    for (const [name, options] of refused) {
      const yes = options.includes('--yes') ? ['--yes'] : [];
      const run = (rest: readonly string[]) =>
        runCommand(
          [...name.split(' '), ...given(rest), ...yes],
          { ...program.variables, ...nowhere },
          'a long password\n',
        );
      const found = await run(NEEDED[name] ?? []);
      const { code, stderr } = found.code === 2 ? await run(['none']) : found;
      assert.match(
        stderr,
        /^valetkey: there is no (database at|installation in) .*: "serve" makes one, or check/,
        name,
      );
      assert.equal(code, 1, name);
    }
    assert.deepEqual(readdirSync(folder), before, 'nothing was made');
    if (store !== 'SQLite')
      assert.deepEqual(
        await server.query(nowhere.VALETKEY_DATABASE_URL, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'"),
        [],
      );

    for (const words of FOUNDING) {
      const { folder: _, ...at } = await elsewhere();
      const { code, stderr } = await program.run(given(words), at);
      assert.equal(code, 0, `${words.join(' ')}: ${stderr}`);
      const said =
        /^valetkey: a new installation begins in (.*) \([0-9a-f]{32}\): if you expected an earlier one there, check VALETKEY_DATABASE_URL$/gm;
      const places = [...stderr.matchAll(said)].map(([, place]) => place);
      const place =
        store === 'SQLite'
          ? at.VALETKEY_DATABASE_URL.slice('sqlite:'.length)
          : 'the database that VALETKEY_DATABASE_URL names';
      assert.deepEqual(places, [place], stderr);
      const again = await program.run(['user', 'add', '--email', 'bob@example.com', '--name', 'Bob'], at);
      assert.doesNotMatch(again.stderr, /a new installation/);
    }
  });
