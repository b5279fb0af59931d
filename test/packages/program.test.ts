/** The npm package of the program: built, packed, installed from its file in an empty folder, and run there. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { BILL_OF_MATERIALS, writeBillOfMaterials } from '../../tools/bill-of-materials.mjs';
import { buildProgram, pack } from '../../tools/package.mjs';
import { THIRD_PARTY_LICENSES } from '../../tools/third-party-licenses.mjs';
import { freePort } from '../support/service.ts';

/** Maximum size of the file (bytes). It is 895 KiB now. */
const MAX_SIZE = 910 * 1024;

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'valetkey-package-'));
after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
const built = join(folder, 'built');
buildProgram(built);
const packed = pack(built, folder);
const files: string[] = packed.files.map(({ path }: { path: string }) => path);
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

/** What the documents have an operator take from deploy/, but for the scripts of a checkout. */
const documents = globSync(['docs/*.md', 'docs/operating/*.md'], { cwd: root }).map((path) =>
  readFileSync(join(root, path), 'utf8'),
);
const named = documents.join().match(/(?<=\.\.\/|\/opt\/valetkey\/)deploy\/[\w.*/-]+/g) ?? [];
const DEPLOYED = globSync([...named, ...named.map((path) => `${path}/*`)], { cwd: root }).filter(
  (path) => !path.endsWith('.sh') && statSync(join(root, path)).isFile(),
);

/** An empty folder where the file is installed as npm does it. */
const place = join(folder, 'place');
mkdirSync(place);
// What the tests were started by is of no concern there; what npm has in its cache need not come again.
const environment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(npm_|VALETKEY_)/i.test(name)),
);
const run = (program: string, ...words: string[]) =>
  promisify(execFile)(program, words, { cwd: place, env: environment });
await run('npm', 'install', join(folder, packed.filename), '--prefer-offline', '--no-audit', '--no-fund');

test('the package holds what the program runs from, and nothing else', () => {
  const ofItself = files.filter((path) => !/^(src|demo|packages\/product\/src)\/.*\.js$/.test(path)).sort();
  const data = globSync(['src/**/*.{json,sql}', 'demo/**/*.svg'], { cwd: root });
  const beside = [
    'CHANGELOG.md',
    'LICENSE',
    'README.md',
    'command.cjs',
    'npm-shrinkwrap.json',
    'package.json',
    BILL_OF_MATERIALS,
    THIRD_PARTY_LICENSES,
  ];
  assert.deepEqual(ofItself, [...data, ...DEPLOYED, ...beside].sort());
  for (const path of files.filter((path) => path.endsWith('.js')))
    assert.ok(globSync(path.replace(/\.js$/, '.ts'), { cwd: root }).length === 1, path);
  for (const thread of globSync('src/**/*-thread.ts', { cwd: root }))
    assert.ok(files.includes(thread.replace(/ts$/, 'js')), `${thread} is started by its name, which no import tells`);
  assert.ok(!files.some((path) => path.startsWith('demo/cluster')), 'what only a checkout runs');
  assert.ok(packed.size < MAX_SIZE, `${packed.size} bytes`);
  assert.equal(pack(built, folder).integrity, packed.integrity, 'the same folder gives the same file');
});

test('its manifest says what it needs and which command it has, runs no script and exports nothing', () => {
  const manifest = readJson(built, 'package.json');
  const { name, version, license, engines, dependencies, homepage, repository, bugs } = readJson(root, 'package.json');
  assert.deepEqual(manifest.bin, { valetkey: 'command.cjs' });
  for (const [field, value] of Object.entries({
    name,
    version,
    license,
    engines,
    dependencies,
    homepage,
    repository,
    bugs,
  }))
    assert.deepEqual(manifest[field], value, field);
  for (const field of ['scripts', 'devDependencies', 'private', 'main'])
    assert.equal(manifest[field], undefined, field);
  assert.match(readFileSync(join(built, 'command.cjs'), 'utf8'), /^#!\/usr\/bin\/env node\n/);
});

test('it pins each package that it runs with to the one that is tested, and lists all of them', () => {
  const pinned: Record<string, { version: string; integrity: string; dev?: boolean }> = readJson(
    built,
    'npm-shrinkwrap.json',
  ).packages;
  const { packages: locked } = readJson(root, 'package-lock.json');
  const paths = Object.keys(pinned).filter((path) => path !== '');
  assert.ok(paths.includes('node_modules/fastify') && !paths.includes('node_modules/typescript'));
  for (const path of paths) {
    assert.deepEqual([pinned[path]?.version, pinned[path]?.integrity], [locked[path].version, locked[path].integrity]);
    assert.equal(pinned[path]?.dev, undefined, path);
  }
  const bill = readJson(built, BILL_OF_MATERIALS);
  assert.deepEqual([bill.bomFormat, bill.metadata.component.name], ['CycloneDX', 'valetkey']);
  type Component = { purl: string; hashes: object[]; licenses: object[] };
  for (const { purl, hashes, licenses } of bill.components as Component[])
    assert.ok(hashes.length > 0 && licenses.length > 0, purl);
  const listed = new Set(bill.components.map(({ purl }: Component) => decodeURIComponent(purl)));
  const named = (path: string) => path.split('node_modules/').at(-1);
  assert.deepEqual(listed, new Set(paths.map((path) => `pkg:npm/${named(path)}@${pinned[path]?.version}`)));
  const before = readFileSync(join(built, BILL_OF_MATERIALS), 'utf8');
  writeBillOfMaterials(built);
  assert.equal(readFileSync(join(built, BILL_OF_MATERIALS), 'utf8'), before, 'the same each time');
});

test('an old Node.js is told in one sentence which one is needed, by a command that it can read', async () => {
  const older = `Object.defineProperty(process, 'versions', { value: { node: '20.11.1' } })`;
  const flags = ['--import', `data:text/javascript,${encodeURIComponent(older)}`];
  await assert.rejects(run(process.execPath, ...flags, join(built, 'command.cjs'), '--version'), {
    code: 1,
    stdout: '',
    stderr: 'valetkey: Valetkey needs Node.js 24.15 or later; this is 20.11.1.\n',
  });
  // Nothing newer than ECMAScript 2015, except for the import of the program.
  assert.doesNotMatch(readFileSync(join(built, 'command.cjs'), 'utf8'), /\b(?:async|await)\b|\?\.|\?\?|\*\*|\.\.\./);
});

test('no message names a file that the package lacks', () => {
  const NAMED = /(?<![\w/.@-])(?:docs|packages|test|tools|examples|deploy|demo|src)\/[\w./-]*\.\w+/g;
  const named = files
    .filter((path) => path.endsWith('.js'))
    .flatMap((path) => {
      const code = readFileSync(join(built, path), 'utf8').replace(/^\s*(?:\/\*.*|\*.*|\/\/.*)$/gm, '');
      return [...code.matchAll(NAMED)].map(([file]) => `${path}: ${file}`);
    });
  assert.deepEqual(
    named.filter((each) => !files.includes(each.split(': ')[1] ?? '')),
    [],
  );
});

/** What npx runs, without the second that npx itself takes. */
const COMMAND = 'node_modules/.bin/valetkey';

test('from an empty folder "npx valetkey demo" walks the whole flow, and leaves nothing there', async () => {
  const before = readdirSync(place);
  for (const [program, ...words] of [
    ['npx', 'valetkey', 'demo', '--headless'],
    [COMMAND, 'demo', '--headless', '--product'],
  ] as const) {
    const { stdout } = await run(program, ...words);
    assert.match(stdout, /^All \d+ steps went as expected/m);
  }
  assert.deepEqual(readdirSync(place), before);
});

test('from an empty folder "npx valetkey serve" begins an installation, which the other commands find', async (t) => {
  const [appPort, apiPort] = [await freePort(), await freePort()];
  const urls = { VALETKEY_APP_URL: `http://127.0.0.1:${appPort}`, VALETKEY_API_URL: `http://127.0.0.1:${apiPort}` };
  const env = { ...environment, ...urls };
  const serving = spawn('npx', ['valetkey', 'serve'], { cwd: place, env, detached: true });
  const end = (signal: NodeJS.Signals) => process.kill(-(serving.pid as number), signal);
  // npx itself may be gone before the service is.
  const ended = once(serving, 'close');
  t.after(() => serving.exitCode ?? serving.signalCode ?? end('SIGKILL'));
  let log = '';
  serving.stderr.on('data', (chunk) => {
    log += chunk;
  });
  const printed = await untilAnswering(serving);
  assert.match(printed, /^ {2}npx valetkey user add --email /m, 'what to do next, as it is called here');
  const commands = [
    ['npx', 'valetkey', 'user', 'add', '--email', 'ada@example.com', '--name', 'Ada'],
    [COMMAND, 'client', 'register', '--name', 'Postcards', '--redirect-uri', 'http://127.0.0.1:8080/callback'],
    [COMMAND, 'database', 'check'],
  ] as const;
  for (const [program, ...words] of commands) await promisify(execFile)(program, words, { cwd: place, env });
  assert.equal((await fetch(`${urls.VALETKEY_APP_URL}/readyz`)).status, 200);
  assert.equal((await fetch(`${urls.VALETKEY_APP_URL}/developers`)).status, 200);
  end('SIGTERM');
  await ended;
  assert.match(log, /"msg":"stopping"/);
  assert.doesNotMatch(log, /"level":"(warn|error|fatal)"/);
  for (const file of ['keys', 'valetkey.db'])
    assert.equal((statSync(join(place, 'data', file)).mode & 0o777).toString(8), '600', file);
  const list = await run(COMMAND, 'user', 'list', '--json');
  assert.equal(JSON.parse(list.stdout).length, 1);
});

test('where the file is unpacked, "npm ci" installs the pinned packages, and the program runs', async () => {
  const release = join(folder, 'release');
  mkdirSync(release);
  await run('tar', '-xzf', join(folder, packed.filename), '--strip-components=1', '-C', release);
  await promisify(execFile)('npm', ['ci', '--prefer-offline', '--no-audit', '--no-fund'], {
    cwd: release,
    env: environment,
  });
  const units = DEPLOYED.map((path) => readFileSync(join(release, path), 'utf8')).join('\n');
  const started = [...units.matchAll(/^ExecStart=.* \/opt\/valetkey\/(\S+)/gm)].map(([, path = '']) => path);
  const main = 'src/main.js';
  assert.deepEqual(started, [main, main], 'the service, and its backup');
  const { stdout } = await run(process.execPath, join(release, main), 'demo', '--headless', '--json');
  assert.equal(JSON.parse(stdout).ok, true);
});

test('nothing of it can be imported', async () => {
  for (const name of ['valetkey', 'valetkey/src/main.js'])
    await assert.rejects(
      run(process.execPath, '--input-type=module', '-e', `await import('${name}')`),
      /ERR_PACKAGE_PATH_NOT_EXPORTED/,
    );
});

/** What a service prints until both addresses answer, with what to do next. */
async function untilAnswering({ stdout }: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of stdout ?? []) {
    printed += chunk;
    if (/client register .*\n$/.test(printed)) break;
  }
  return printed;
}
