// Holds the layers of docs/architecture.md by reading the source as text. Each rule carries an example that breaks it, so
// that a rule which no longer finds anything fails too. (Types and lint hold the rest: no enum, no parameter properties.)
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path/posix';
import { test } from 'node:test';

type Source = { readonly path: string; readonly text: string; readonly code: string };
type Rule = { readonly says: string; readonly finds: (source: Source) => string[]; readonly example: [string, string] };

const source = (path: string, text: string): Source => ({ path, text, code: withoutComments(text) });
const sources = globSync('src/**/*.ts').map((path) => source(path, readFileSync(path, 'utf8')));

const FOLDER = 'src/process/folder.ts';
const DISTRIBUTION = 'src/process/distribution.ts';
const POSTGRESQL_URL = 'src/process/postgresql-url.ts';
const INSTALLATION_ERROR = 'src/process/installation-error.ts';

/** What the files of a floor may import: packages by name, `src/…` by folder or file; after `type ` its types alone. */
const floors: Readonly<Record<string, readonly string[]>> = {
  'src/oauth/clients/client-assertion.ts': ['node:crypto', 'jose', 'src/oauth/'],
  'src/oauth/guessing/networks.ts': ['ipaddr.js'],
  'src/oauth/': ['node:crypto', 'node:zlib', 'node:buffer'],
  'src/operator/access/webauthn.ts': ['@simplewebauthn/server', 'src/operator/access/'],
  'src/operator/': ['node:crypto', 'src/oauth/', 'src/accounts/'],
  'src/accounts/': ['node:crypto', 'node:util', '@node-rs/argon2', '@node-rs/bcrypt', 'src/oauth/'],
  'src/process/log.ts': ['node:', 'pino', 'src/process/'],
  'src/process/readable-lines.ts': ['type pino'],
  'src/process/gathered-lines.ts': ['node:fs', 'type pino'],
  'src/process/outbound.ts': ['node:', 'ipaddr.js', 'src/process/'],
  'src/process/': ['node:'],
  'src/settings/': ['node:', 'src/oauth/', 'src/process/'],
  // It tells which version refuses a database.
  'src/storage/schema/migrate.ts': ['package.json', 'src/storage/', INSTALLATION_ERROR],
  'src/storage/': [
    'node:',
    'pg',
    'src/oauth/',
    'src/accounts/',
    'src/operator/hand-over/',
    'src/operator/access/',
    FOLDER,
    INSTALLATION_ERROR,
    DISTRIBUTION,
    POSTGRESQL_URL,
  ],
  'src/metrics/': ['node:', 'prom-client', 'type src/', INSTALLATION_ERROR, DISTRIBUTION],
  'src/backup/': ['node:', 'src/process/'],
  'src/pages/': ['type src/oauth/', 'type src/accounts/'],
  'src/http/': [
    'node:',
    'fastify',
    '@fastify/',
    'src/oauth/',
    'src/accounts/',
    'src/operator/',
    'src/pages/',
    INSTALLATION_ERROR,
    DISTRIBUTION,
  ],
  'src/cli/': [
    'node:',
    'commander',
    'package.json',
    'src/oauth/',
    'src/operator/',
    'src/accounts/',
    'src/settings/duration.ts',
    'type src/backup/backup.ts',
    INSTALLATION_ERROR,
  ],
  'src/main.ts': [''],
  'src/wiring/': [''],
  'src/doctor/': [
    'type node:',
    INSTALLATION_ERROR,
    'src/oauth/store.ts',
    'src/oauth/keys/doctor-pass.ts',
    'src/oauth/keys/root-key.ts',
    'src/operator/products-and-apis/certificate-remedy.ts',
    'type src/',
  ],
};

const rules: readonly Rule[] = [
  {
    says: 'a floor imports only from those below it: hand it what it needs from src/main.ts',
    finds: ({ path, code }) => {
      const floor = Object.keys(floors).find((start) => path.startsWith(start)) ?? '';
      const allowed = [...(floors[floor] ?? []), floor];
      return imports(path, code)
        .filter(({ from, typeOnly }) => {
          const inside = (start: string) =>
            start.endsWith('/') || start.endsWith(':') ? from.startsWith(start) : from === start;
          return !allowed.some(
            (entry) => entry === '' || inside(entry) || (typeOnly && inside(entry.replace('type ', ''))),
          );
        })
        .map(({ from }) => `imports ${from}`);
    },
    example: ['src/oauth/grants/grant.ts', "import { readFile } from 'node:fs';"],
  },
  {
    says: 'SQL stands under src/storage: give the store a verb for it',
    finds: outside(
      'src/storage/',
      /\b(SELECT\s[^;`]*?\sFROM|INSERT\s+(OR\s+\w+\s+)?INTO|UPDATE\s+\w+\s+SET|DELETE\s+FROM)\s/,
    ),
    example: ['src/http/api/me.ts', "db.prepare('SELECT a FROM b ')"],
  },
  {
    says: 'the environment and the clock are read in src/main.ts alone: take the value or the clock as a parameter',
    finds: outside('src/main.ts', /\bprocess\.env\b|\bDate\.now\b|\bnew Date(\(\)|;)/),
    example: ['src/oauth/grants/grant.ts', 'const now = Date.now();'],
  },
  {
    says: 'chance comes from node:crypto: use randomBytes or randomInt',
    finds: outside('nowhere', /\bMath\.random\b/),
    example: ['src/main.ts', 'Math.random()'],
  },
  {
    says: 'the JSON of a thing is made under src/operator/json, once for commands and an API: print what stands there',
    finds: ({ path, code }) =>
      /^src\/(cli|http\/operator)\//.test(path)
        ? [...code.matchAll(/\b(created|granted|signed_in|last_used)_at: \w+Time\(/g)].map(([match]) => match)
        : [],
    example: ['src/cli/apps/client-view.ts', 'const json = { created_at: isoTime(client.createdAt) };'],
  },
  {
    says: 'an actor comes with each act, so that one instance serves many: keep none of a caller in a field',
    // A command has one operator, whom src/cli/command/context.ts names; a process that acts by itself is an `actor` among its parts.
    finds: outside(
      'src/cli/command/context.ts',
      /#\w+: Actor\b|constructor\([^)]*: Actor\b|readonly operator: Actor\b/,
    ),
    example: ['src/operator/products-and-apis/scope-registry.ts', 'constructor(store: ScopeStore, operator: Actor) {}'],
  },
  {
    says: 'what Node.js does not document is used in one file: add it to src/http/connection/node-internals.ts',
    finds: outside('src/http/connection/node-internals.ts', /\.listeners\(|\b_handle\b|\bhttpAllowHalfOpen\b/),
    example: ['src/http/connection/pipeline.ts', "const [parse] = socket.listeners('data');"],
  },
  {
    says: 'a file is named after what it holds: find the thing in it and name the file so',
    finds: ({ path }) =>
      path.split('/').filter((part) => /^(.+-)?(utils?|helpers?|common|shared|index|managers?)(\.ts)?$/.test(part)),
    example: ['src/http/form-utils.ts', ''],
  },
  {
    says: 'what is exported says in a /** … */ right before it what it is for',
    finds: ({ text }) => {
      const lines = text.split('\n');
      return lines.filter((line, at) => {
        const name = /^export (?:abstract |async )?(?:function|class|interface|type|const(?=.*=>)) (\w+)/.exec(
          line,
        )?.[1];
        const before = lines[at - 1] ?? '';
        const overload = before.startsWith(`export function ${name}(`);
        return name !== undefined && !overload && !before.trimEnd().endsWith('*/');
      });
    },
    example: ['src/oauth/tokens/pkce.ts', '// a challenge\nexport function challenge() {}'],
  },
];

test('a docstring begins with a noun or a verb: "Returns true if …", "Maximum size in bytes"', () => {
  const headless = ({ path, text }: Source) =>
    [...text.matchAll(/\/\*\*\s+(?:\* )?((?:What|Whether|Who|Whom|Whose|Whoever|Where|That)\b.*)/g)].map(
      ([, line]) => `${path}: ${line}`,
    );
  for (const comment of ['/** Whether it holds. */', '/**\n * What is left out.\n */', '/** Who signed in. */'])
    assert.equal(headless(source('src/http/api/me.ts', comment)).length, 1, 'the rule does not find its own example');
  const outside = globSync(['packages/{verify,product}/src/*.ts', 'demo/**/*.ts']);
  const read = [...sources, ...outside.map((path) => source(path, readFileSync(path, 'utf8')))];
  const found = read.flatMap(headless);
  assert.deepEqual(found, [], found.join('\n'));
});

for (const { says, finds, example } of rules) {
  test(says, () => {
    assert.notDeepEqual(finds(source(...example)), [], 'the rule does not find its own example');
    const found = sources.flatMap((file) => finds(file).map((what) => `${file.path}: ${what}`));
    assert.deepEqual(found, [], `${says}\n${found.join('\n')}`);
  });
}

test('no file imports itself by way of others, be it for a type: move what both need to a file of its own', () => {
  const example = new Map([
    ['a.ts', ['b.ts']],
    ['b.ts', ['c.ts', 'd.ts']],
    ['c.ts', ['a.ts']],
    ['d.ts', []],
  ]);
  assert.deepEqual(circlesIn(example), ['a.ts → b.ts → c.ts → a.ts'], 'the rule does not find its own example');
  const found = circlesIn(
    new Map(sources.map(({ path, code }) => [path, imports(path, code).map(({ from }) => from)])),
  );
  assert.deepEqual(found, [], found.join('\n'));
});

test('no file of the project names a package registry or a place on this machine: write it relative or leave it out', (t) => {
  const places = [`registry.${'npmjs'}.org`, `registry.${'yarnpkg'}.com`, `"${'resolved'}": "http`, process.cwd()];
  let files: string[];
  try {
    const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    files = execFileSync('git', list, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).split('\0');
  } catch {
    return t.skip('there is no git, or this is no checkout of it: nobody knows which files belong to the project');
  }
  const here = new Set(globSync(files.filter(Boolean)));
  assert.ok(here.has('package.json'));
  const found = [...here].flatMap((path) => {
    const text = readFileSync(path, 'utf8');
    return places.filter((place) => text.includes(place)).map((place) => `${path} names ${place}`);
  });
  assert.deepEqual(found, [], found.join('\n'));
});

/** Maximum lines of a source file, but for tables, of which each line is looked up and none followed. */
const MAX_LINES = 400;
const TABLES = ['src/pages/messages/'];

test(`a file that somebody follows has ${MAX_LINES} lines at most: split it by what it does`, () => {
  const isTable = (path: string) => TABLES.some((table) => path.startsWith(table));
  const tooLong = (files: readonly Source[]) =>
    files.filter(({ path, text }) => !isTable(path) && text.split('\n').length - 1 > MAX_LINES).map(({ path }) => path);
  assert.deepEqual(tooLong([source('src/long.ts', '\n'.repeat(MAX_LINES + 1))]), ['src/long.ts']);
  assert.deepEqual(tooLong(sources), []);
});

/**
 * The floors, from the ground up, and the rooms of each, from the ground up: '' has the files that lie on the floor itself. Each
 * imports from itself and those before it.
 */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  'src/process/': [''],
  'src/oauth/': [
    ...['', 'keys', 'guessing', 'grants', 'activity', 'trail', 'installation'],
    ...['clients', 'openid', 'resource-servers', 'tokens', 'protocol', 'device', 'connected-apps'],
  ],
  'src/accounts/': ['', 'guessing', 'people', 'passwords', 'sign-in', 'providers', 'import'],
  'src/operator/': [
    ...['', 'secrets', 'lists', 'hand-over', 'registration', 'root-keys', 'access', 'leaks'],
    ...['products-and-apis', 'fields', 'trail', 'apps', 'installation', 'json'],
  ],
  'src/settings/': [''],
  'src/backup/': [''],
  'src/storage/': [
    ...['statements', 'late-writes', 'tables/installation', 'tables/trail', 'tables/operators', 'tables/registrations'],
    ...['tables/accounts', 'tables/grants', 'tables/backups', 'tables', 'schema', 'opening', 'clean-up', 'copying'],
    ...['sqlite/file', 'sqlite/statements', 'sqlite/store', 'sqlite'],
    ...['postgresql/connection', 'postgresql/statements', 'postgresql/store', 'postgresql', ''],
  ],
  'src/pages/': [
    ...['html', 'messages', 'layout', '', 'consent', 'account', 'sign-in', 'developers', 'operator'],
    ...['operator/sign-in', 'operator/events', 'operator/apps', 'operator/now', 'operator/operators'],
    ...['operator/registrations', 'operator/search', 'operator/people', 'operator/leaked'],
  ],
  'src/http/': [
    ...['answer', 'service', 'request', 'checks', 'json', 'connection', 'api', 'api/revocations', 'provider'],
    ...['browser/session', 'browser', 'browser/sign-in', 'browser/authorize', 'browser/account', 'browser/device'],
    ...['operator/api', 'operator/changes', 'operator/console', 'operator/console/sign-in'],
    ...['operator/console/operators', 'operator/console/apps', 'operator/console/people'],
    ...['operator/console/registrations', 'operator/console/now', 'operator/console/investigation', 'operator', ''],
  ],
  'src/cli/': [
    ...[
      'output',
      'command',
      'input',
      'registrations',
      'trail',
      'grants',
      'apps',
      'products-and-apis',
      'people',
      'operators',
    ],
    ...['service', ''],
  ],
  'src/metrics/': [''],
  'src/doctor/': [''],
  'src/wiring/': [''],
  'src/': [''],
};

test('a room imports from itself and those before it, also types: move down what both need, or up what needs both', () => {
  const order = Object.entries(ROOMS).flatMap(([floor, rooms]) => rooms.map((room) => join(floor, room, '/')));
  const height = (file: string) => order.indexOf(`${dirname(file)}/`);
  const uphill = (path: string, code: string) => [
    ...(height(path) < 0 ? ['lies in no room of the list'] : []),
    ...imports(path, code)
      .filter(({ from }) => from.startsWith('src/') && height(from) > height(path))
      .map(({ from }) => `imports ${from}`),
  ];
  const example = "import type { Client } from '../clients/client.ts';";
  assert.deepEqual(uphill('src/oauth/keys/secret.ts', example), ['imports src/oauth/clients/client.ts']);
  assert.deepEqual(uphill('src/operator/apps/a.ts', "import '../../http/server.ts';"), ['imports src/http/server.ts']);
  assert.deepEqual(uphill('src/oauth/cellar/secret.ts', ''), ['lies in no room of the list']);
  const found = sources.flatMap(({ path, code }) => uphill(path, code).map((what) => `${path} ${what}`));
  assert.deepEqual(found, [], found.join('\n'));
});

test('no folder imports itself by way of others, be it for a type (demo/ is one): move a file to the room of its users', () => {
  const folderOf = (path: string) => (path.startsWith('demo/') ? 'demo' : dirname(path));
  const circlesOf = (files: readonly Source[]) => {
    const byFolder = Map.groupBy(files, ({ path }) => folderOf(path));
    return circlesIn(
      new Map(
        [...byFolder].map(([folder, inside]) => {
          const all = inside.flatMap(({ path, code }) => imports(path, code).map(({ from }) => folderOf(from)));
          return [folder, [...new Set(all)].filter((other) => other !== folder)];
        }),
      ),
    );
  };
  const example = [
    source('src/main.ts', "const demo = await import('../demo/demo.ts');"),
    source('demo/operator/stage.ts', "import type { RunningService } from '../../src/main.ts';"),
  ];
  assert.deepEqual(circlesOf(example), ['src → demo → src'], 'the rule does not find its own example');
  const demo = globSync('demo/**/*.ts').map((path) => source(path, readFileSync(path, 'utf8')));
  const found = circlesOf([...sources, ...demo]);
  assert.deepEqual(found, [], found.join('\n'));
});

/** Maximum number of branches (conditions and loops) in a file that wires. */
const MAX_BRANCHES = 12;

test(`src/main.ts and src/wiring/ wire, with ${MAX_BRANCHES} branches a file at most: move what decides or computes to the room it belongs to`, () => {
  const deciding = (files: readonly Source[]) =>
    files
      .filter(({ path }) => ['src', 'src/wiring'].includes(dirname(path)))
      .map(
        ({ path, code }) => [path, [...code.matchAll(/\b(?:if|for|for await|while|switch) \(|\s\? /g)].length] as const,
      )
      .filter(([, branches]) => branches > MAX_BRANCHES);
  const example = source('src/wiring/a.ts', 'if (one) two(three ? four : five);\n'.repeat(MAX_BRANCHES / 2 + 1));
  assert.deepEqual(deciding([example]), [['src/wiring/a.ts', MAX_BRANCHES + 2]]);
  assert.deepEqual(deciding(sources), []);
});

/** Maximum number of files in a folder of src. */
const MAX_FILES = 20;

test(`a folder of src has ${MAX_FILES} files of its own at most: make a room of the part that stands by itself`, () => {
  const full = (paths: readonly string[]) =>
    [...Map.groupBy(paths, (path) => dirname(path))]
      .filter(([, files]) => files.length > MAX_FILES)
      .map(([folder]) => folder);
  const example = Array.from({ length: MAX_FILES + 1 }, (_, number) => `src/cli/apps/${number}.ts`);
  assert.deepEqual(full(example), ['src/cli/apps']);
  assert.deepEqual(full(sources.map(({ path }) => path)), []);
});

/** The circles that a walk along the imports meets, each from the file where it was met first. */
function circlesIn(imported: ReadonlyMap<string, readonly string[]>): string[] {
  const circles: string[] = [];
  const done = new Set<string>();
  const walk = (file: string, path: readonly string[]): void => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (path.includes(file) || done.has(file)) return;
    for (const next of imported.get(file) ?? []) walk(next, [...path, file]);
    done.add(file);
  };
  for (const file of imported.keys()) walk(file, []);
  return circles;
}

/** Finds a pattern in the code of all files but those that start so. */
function outside(allowed: string, pattern: RegExp): Rule['finds'] {
  return ({ path, code }) =>
    path.startsWith(allowed) ? [] : [...code.matchAll(new RegExp(pattern, 'g'))].map(([match]) => match);
}

/** Where a file imports from: packages as written, files from the root of the project. */
function imports(path: string, code: string): { from: string; typeOnly: boolean }[] {
  const statements = code.matchAll(
    /^(?:import|export)\s+(type\s)?(?:[^'";]*?\sfrom\s+)?'([^']+)'|\bimport\(\s*'([^']+)'/gm,
  );
  return [...statements].map(([, type, named, called]) => {
    const from = named ?? called ?? '';
    return { from: from.startsWith('.') ? join(dirname(path), from) : from, typeOnly: type !== undefined };
  });
}

/** Empties the comments, so that a rule may be explained in the words that it forbids. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm, '');
}
