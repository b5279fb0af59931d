/** What the image and compose.yaml are made of: images by digest, those of the release or newer ones, which are learnt once and then stay. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { type TestContext, test } from 'node:test';

const read = (file: string) => readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
/** An image by its digest, which a variable may replace by another digest. */
const BY_DIGEST = /^[a-z0-9./-]+@(sha256:[0-9a-f]{64}|\$\{[A-Z]+_DIGEST(:-sha256:[0-9a-f]{64})?\})$/;

test('design: every image that is not built here is named by its digest', () => {
  const from = [...read('Dockerfile').matchAll(/^FROM (\S+)/gm)].map(([, image = '']) => image);
  const used = [...read('compose.yaml').matchAll(/^ *image: (\S+)/gm)].map(([, image = '']) => image);
  assert.deepEqual([from.length, used.length, from.at(-1)], [2, 3, 'scratch']);
  const others = used.filter((name) => name !== 'valetkey');
  for (const image of [...from.slice(0, -1), ...others]) assert.match(image, BY_DIGEST);
  const [, digest = ''] = /^ARG NODE_DIGEST=(sha256:[0-9a-f]{64})$/m.exec(read('Dockerfile')) ?? [];
  assert.ok(read('compose.yaml').includes(`args: { NODE_DIGEST: "\${NODE_DIGEST:-${digest}}" }`), 'the same in both');
});

test('operating: the image says what it is and its license', () => {
  const [labels = ''] = /^LABEL (.*\n)+?(?=COPY)/m.exec(read('Dockerfile')) ?? [];
  for (const name of ['title', 'description', 'licenses'])
    assert.match(labels, new RegExp(`org\\.opencontainers\\.image\\.${name}="[^"]+"`));
});

test('operating: docker compose up builds the image of a fresh checkout, and never pulls one of its name', () => {
  assert.match(read('compose.yaml'), /^ *image: valetkey\n.*\n *build:\n *context: \.\n.*\n *pull_policy: build$/m);
  const copied = [
    'package.json',
    'package-lock.json',
    '.npmrc',
    'LICENSE',
    'src',
    'demo',
    'packages/product/src',
    'deploy/make-root.sh',
  ];
  const sent = [...read('.dockerignore').matchAll(/^!(.*)$/gm)].map(([, file]) => file);
  assert.deepEqual(sent, [...copied, 'tools/bill-of-materials.mjs', 'tools/third-party-licenses.mjs']);
});

const DIGESTS = {
  node: `sha256:${'a'.repeat(64)}`,
  postgres: `sha256:${'b'.repeat(64)}`,
  nginx: `sha256:${'c'.repeat(64)}`,
};

/** A folder with `deploy/build-image.sh`, and a program "docker" that says what it was asked. */
function checkout(t: TestContext, { node, postgres, nginx }: typeof DIGESTS) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-images-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['deploy', 'bin']) mkdirSync(join(folder, name));
  copyFileSync(new URL('../../deploy/build-image.sh', import.meta.url), join(folder, 'deploy/build-image.sh'));
  const docker = `#!/bin/sh
echo "$@" >> ${folder}/asked
case "$*" in
  "image inspect "*node:*) echo "mirror.test/other@sha256:0"; echo "node@${node}" ;;
  "image inspect "*postgres:*) echo "docker.io/library/postgres@${postgres}" ;;
  "image inspect "*nginx:*) echo "nginx@${nginx}" ;;
esac
`;
  writeFileSync(join(folder, 'bin/docker'), docker, { mode: 0o755 });
  const env = { PATH: join(folder, 'bin') + delimiter + process.env['PATH'] };
  return {
    build: () => spawnSync('sh', [join(folder, 'deploy/build-image.sh')], { env, encoding: 'utf8' }),
    variables: () => readFileSync(join(folder, '.env'), 'utf8'),
    write: (text: string) => writeFileSync(join(folder, '.env'), text),
    /** What was asked since the last time. */
    asked() {
      const asked = readFileSync(join(folder, 'asked'), 'utf8').trimEnd().split('\n');
      rmSync(join(folder, 'asked'));
      return asked;
    },
  };
}

test('operating: the first build writes the digests down, and every other takes those and asks nobody', (t) => {
  const { build, variables, write, asked } = checkout(t, DIGESTS);
  write('APP_HOST=auth.example.com'); // without a line feed at its end
  const lines = Object.entries(DIGESTS).map(([name, digest]) => `${name.toUpperCase()}_DIGEST=${digest}\n`);
  const first = build();
  assert.equal(first.status, 0, first.stderr);
  assert.equal(variables(), `APP_HOST=auth.example.com\n${lines.join('')}`);
  const building = `build --build-arg NODE_DIGEST=${DIGESTS.node} --tag valetkey .`;
  const pulled = asked();
  assert.deepEqual([pulled.filter((words) => words.startsWith('pull ')).length, pulled.at(-1)], [3, building]);
  assert.equal(build().status, 0);
  assert.deepEqual(asked(), [building]);
  write(lines.slice(1).join(''));
  assert.equal(build().status, 0);
  assert.equal(variables(), [...lines.slice(1), lines[0]].join(''), 'a line that is removed is learnt anew');
});

test('operating: where no digest can be learnt, nothing is written and nothing built', (t) => {
  const { build, variables, asked } = checkout(t, { ...DIGESTS, postgres: 'sha256:' });
  const { status, stderr } = build();
  assert.equal(status, 1);
  assert.match(stderr, /^no digest of postgres:18 can be learnt: .*POSTGRES_DIGEST=sha256:.* in \.env\n$/);
  assert.equal(variables(), `NODE_DIGEST=${DIGESTS.node}\n`);
  assert.ok(asked().every((words) => !words.startsWith('build ')));
});

test('operating: without its secrets compose says to run deploy/make-secrets.sh, which makes them once, and whole', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-secrets-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['deploy', 'bin']) mkdirSync(join(folder, name));
  copyFileSync(new URL('../../deploy/make-secrets.sh', import.meta.url), join(folder, 'deploy/make-secrets.sh'));
  const docker = (keys: string) =>
    writeFileSync(join(folder, 'bin/docker'), `#!/bin/sh\n[ "$1" = build ] || ${keys}\n`, { mode: 0o755 });
  const env = { PATH: join(folder, 'bin') + delimiter + process.env['PATH'] };
  const make = () => spawnSync('sh', [join(folder, 'deploy/make-secrets.sh')], { env, encoding: 'utf8' });
  const compose = read('compose.yaml');
  // Compose puts variables in as a shell does, from the environment and from .env.
  const [, user = ''] = /^ *user: (".*")$/m.exec(compose) ?? [];
  const userOf = () =>
    spawnSync('sh', ['-c', `[ ! -f .env ] || . ./.env; echo ${user}`], { cwd: folder, encoding: 'utf8' });
  assert.match(userOf().stderr, /SERVICE_USER: .*run deploy\/make-secrets\.sh first/);

  writeFileSync(join(folder, '.env'), 'APP_HOST=auth.example.com');
  docker('exit 1');
  assert.notEqual(make().status, 0);
  assert.notEqual(userOf().status, 0, 'not while they are not there');
  docker('echo vk_rk_made');
  const { status, stderr } = make();
  assert.equal(status, 0, stderr);
  assert.match(userOf().stdout, /^[1-9]\d*:\d+\n$/);
  const files = [...compose.matchAll(/\{ file: secrets\/(\S+) \}/g)].map(([, name]) => name);
  assert.deepEqual(readdirSync(join(folder, 'secrets')).sort(), files.sort());
  assert.equal(readFileSync(join(folder, 'secrets/keys'), 'utf8'), 'vk_rk_made\n');
  for (const name of files) assert.equal(statSync(join(folder, 'secrets', String(name))).mode & 0o077, 0, name);
  const { mtimeMs } = statSync(join(folder, 'secrets/keys'));
  assert.match(make().stdout, /already, which stay as they are/);
  assert.equal(statSync(join(folder, 'secrets/keys')).mtimeMs, mtimeMs);
});
