import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { authorizeUrl, exchange, me, obtainPair, pairOf, refresh, signIn } from '../support/flow.ts';
import { inhabited } from '../support/inhabited.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { RevocationStream } from '../support/revocation-stream.ts';
import { freePort, REDIRECT_URI } from '../support/service.ts';
import { introspect } from '../support/standard.ts';

function modes(folder: string): Record<string, string> {
  const names = ['', ...readdirSync(folder)];
  return Object.fromEntries(names.map((name) => [name, (statSync(join(folder, name)).mode & 0o777).toString(8)]));
}

describe('the program as a process', { concurrency: true }, () => {
  test('interface §3: serve prints both addresses once they answer, and ends with 0 at SIGTERM and SIGINT', async (t) => {
    const program = await ProgramOnDisk.make(t);
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const { child, printed, ended } = await program.serve();
      child.kill(signal); // At once: nobody has to wait before stopping it.
      assert.ok(printed.startsWith(`app ${program.appUrl}\napi ${program.apiUrl}\n`), printed);
      const { code, stderr } = await ended;
      assert.equal(code, 0, stderr);
      for (const line of stderr.trim().split('\n')) JSON.parse(line);
      assert.ok(!stderr.includes('Deprecat'), stderr);
    }
    const operatorUrl = `http://localhost:${await freePort()}`;
    const { child, printed } = await program.serve({
      VALETKEY_PRODUCT_NAME: 'Acme',
      VALETKEY_OPERATOR_URL: operatorUrl,
    });
    assert.ok(printed.includes(`\noperator ${operatorUrl}\n`), printed);
    assert.match(printed, /user add .*\n.*client register /, 'what to do next');
    child.kill('SIGKILL');
  });

  test('interface §3: one stop that arrives twice, as to a whole process group, is one stop', async (t) => {
    const program = await ProgramOnDisk.make(t);
    const { child, ended } = await program.serve();
    child.kill('SIGTERM');
    child.kill('SIGINT');
    assert.equal((await ended).code, 0);
  });

  test('interface §3: a second instance on the same port or database is refused in a sentence, and the first goes on', async (t) => {
    const [program, other] = [await ProgramOnDisk.make(t), await ProgramOnDisk.make(t)];
    await program.serve();
    const { VALETKEY_APP_URL, VALETKEY_API_URL, ...rest } = program.variables;
    for (const [taken, sentence] of [
      [{ VALETKEY_APP_URL }, /^valetkey: 127\.0\.0\.1:\d+ is in use: .*VALETKEY_APP_LISTEN.*\n$/],
      [{ VALETKEY_API_URL }, /^valetkey: 127\.0\.0\.1:\d+ is in use: .*VALETKEY_API_LISTEN.*\n$/],
      [
        { VALETKEY_OPERATOR_URL: VALETKEY_APP_URL?.replace('127.0.0.1', 'localhost') ?? '' },
        /^valetkey: localhost:\d+ is in use: .*VALETKEY_OPERATOR_LISTEN \(or the URL\)\n$/,
      ],
      [rest, /^valetkey: another service has the database .* already: .*\n$/],
    ] as const) {
      const { code, stdout, stderr } = await other.run(['serve'], taken as Record<string, string>);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(
        stderr
          .split('\n')
          .filter((line) => !line.startsWith('{'))
          .join('\n'),
        sentence,
      );
    }
    assert.equal((await fetch(`${program.appUrl}/readyz`)).status, 200);
  });

  test('interface §3: a secret that could not be written out is told of in a sentence, and is no success', () => {
    const full = openSync('/dev/full', 'w');
    const { status, stderr } = spawnSync(process.execPath, ['src/main.ts', 'keys', 'generate'], {
      stdio: ['ignore', full, 'pipe'],
      encoding: 'utf8',
    });
    closeSync(full);
    assert.equal(status, 1);
    assert.match(stderr, /^valetkey: the output could not be written \(ENOSPC\): .*\n$/m);
    assert.doesNotMatch(stderr, /\n {4}at /);
  });

  test('interface §3: bad configuration is refused with every mistake at once, and nothing is made', async (t) => {
    const program = await ProgramOnDisk.make(t);
    const { code, stdout, stderr } = await program.run(['serve'], {
      VALETKEY_APP_URL: 'http://auth.example',
      VALETKEY_API_URL: 'https://user@api.example/path',
      VALETKEY_APP_LISTEN: 'localhost',
      VALETKEY_DATABASE_URL: 'mysql://x',
      VALETKEY_CODE_TTL: '601',
      VALETKEY_TRUSTED_PROXIES: 'proxy.example',
      VALETKEY_TOKEN_PREFIX: 'VK',
      VALETKEY_MISSPELT: 'x',
    });
    assert.deepEqual([code, stdout], [1, '']);
    const named = [...stderr.matchAll(/^- (VALETKEY_[A-Z_]+): /gm)].map(([, name]) => name);
    assert.deepEqual(named, [
      'VALETKEY_MISSPELT',
      'VALETKEY_APP_URL',
      'VALETKEY_API_URL',
      'VALETKEY_APP_LISTEN',
      'VALETKEY_DATABASE_URL',
      'VALETKEY_TRUSTED_PROXIES',
      'VALETKEY_CODE_TTL',
      'VALETKEY_TOKEN_PREFIX',
    ]);
    assert.deepEqual(readdirSync(program.folder), []);
  });

  test('ASVS 13.3.1: keys that are missing, open to others, broken or of another database are refused; nothing changes', async (t) => {
    const program = await ProgramOnDisk.make(t);
    const { child, ended } = await program.serve();
    child.kill('SIGTERM');
    assert.equal((await ended).code, 0);
    const [keys, database] = [join(program.folder, 'data/keys'), join(program.folder, 'data/valetkey.db')];
    const [before, text] = [readFileSync(database), readFileSync(keys, 'utf8')];
    const other = String((await program.json(['keys', 'generate']))['key']);
    const refused: [prepare: () => void, sentence: RegExp, variables?: Record<string, string>][] = [
      [() => renameSync(keys, `${keys}.away`), /keys file .* is missing, but the database .* exists/],
      [
        () => renameSync(`${keys}.away`, keys),
        /made with other keys/,
        { VALETKEY_KEYS: other, VALETKEY_KEYS_FILE: '' },
      ],
      [() => chmodSync(keys, 0o644), /others can read the keys file .*chmod 600/],
      [() => chmodSync(keys, 0o600), /both set/, { VALETKEY_KEYS: other }],
      [() => writeFileSync(keys, other), /made with other keys/],
      [() => writeFileSync(keys, text.replace(/^(vk_rk_.*).{3}$/m, '$1')), /incomplete or damaged/],
      [() => writeFileSync(keys, ''), /holds no root key/],
    ];
    for (const [prepare, sentence, variables = {}] of refused) {
      prepare();
      const { code, stderr } = await program.command(['serve'], variables);
      assert.equal(code, 1, `${sentence}`);
      assert.match(stderr, sentence);
      assert.ok(!stderr.includes(other) && !stderr.includes(String(text.split('\n')[1])), 'no key is repeated');
      assert.ok(readFileSync(database).equals(before), 'the database is as it was');
    }
    writeFileSync(keys, text);
    (await program.serve()).child.kill('SIGTERM');
  });

  test('ASVS 13.3.1: whatever the umask, only the owner can read what the program writes', async (t) => {
    const program = await ProgramOnDisk.make(t);
    const umask = process.umask(0);
    const starting = program.serve();
    process.umask(umask);
    await starting;
    const { '': folder, ...files } = modes(join(program.folder, 'data'));
    assert.equal(folder, '700');
    assert.ok(Object.keys(files).length >= 4);
    for (const [name, mode] of Object.entries(files)) assert.equal(mode, '600', name);
  });

  test('ASVS 13.2.3: there is no account and no key that everybody knows', async (t) => {
    const [one, two] = [await ProgramOnDisk.make(t), await ProgramOnDisk.make(t)];
    await Promise.all([one.serve(), two.serve()]);
    assert.deepEqual([await one.json(['user', 'list']), await one.json(['client', 'list'])], [[], []]);
    const [a, b] = [one, two].map(({ folder }) => readFileSync(join(folder, 'data/keys'), 'utf8'));
    assert.notEqual(a, b);
  });
});

describe('operator and service side by side', { concurrency: true }, () => {
  const acts: [command: (ids: Record<string, string>) => string[], after: number][] = [
    [({ client }) => ['client', 'pause', String(client)], 200],
    [({ grant }) => ['grant', 'revoke', String(grant), '--yes'], 401],
    [() => ['user', 'disable', 'ada@example.com'], 200],
    [({ client }) => ['client', 'revoke-grants', String(client), '--yes'], 401],
  ];
  const undo = { pause: ['client', 'resume'], disable: ['user', 'enable'] } as Record<string, string[]>;
  test('Promise 2: what a command did, the very next request to the service sees, under load', async (t) => {
    const { program, service, client, browser } = await inhabited(t);
    for (const [command, after] of acts) {
      const { accessToken, refreshToken } = await obtainPair(service, browser, client);
      const [grant] = (await program.json(['grant', 'list'])) as unknown as { id: string }[];
      let isDone = false;
      const load = Array.from({ length: 4 }, async () => {
        while (!isDone) await me(service, accessToken);
      });
      const words = command({ client: client.clientId, grant: String(grant?.id) });
      assert.equal((await me(service, accessToken)).status, 200);
      await program.json(words);
      assert.equal((await me(service, accessToken)).status, 401, words.join(' '));
      assert.notEqual((await refresh(service, client, refreshToken)).status, 200);
      isDone = true;
      await Promise.all(load);
      const [group = '', verb = '', id = ''] = words;
      if (undo[verb]) await program.json([...undo[verb], id]);
      assert.equal((await me(service, accessToken)).status, after, `${group} after it was undone`);
      if (verb === 'disable') await signIn(service, browser);
    }
  });

  test('Promise 2: an API that listens hears at once of what a command ended', async (t) => {
    const { program, service, client, browser } = await inhabited(t);
    const made = await program.json(['resource-server', 'register', '--name', 'Mail API']);
    const api = { id: String(made['resource_server_id']), secret: String(made['resource_server_secret']) };
    const stream = await RevocationStream.open(t, program, api);
    const { accessToken } = await obtainPair(service, browser, client);
    const { body } = await introspect(service, api, accessToken);
    const commands: [command: string[], told: object][] = [
      [['client', 'pause', client.clientId], { client_id: client.clientId }],
      [['grant', 'revoke', String(body['grant_id']), '--yes'], { grant_id: body['grant_id'] }],
      [['user', 'disable', 'ada@example.com'], { sub: body['sub'] }],
      [['grant', 'revoke', '--all', '--yes'], {}],
    ];
    for (const [command, told] of commands) {
      await program.json(command);
      const answered = performance.now();
      assert.ok((await stream.next('revoked', told)) - answered < 1000, command.join(' '));
      assert.deepEqual((await introspect(service, api, accessToken)).body, { active: false });
    }
    await program.json(['resource-server', 'delete', api.id, '--yes']);
    await stream.ended;
  });

  test('Promise 2: an app registered by a command works in the very next request', async (t) => {
    const { program, service, browser } = await inhabited(t);
    const made = await program.json(['client', 'register', '--name', 'New', '--redirect-uri', REDIRECT_URI]);
    assert.deepEqual(Object.keys(made).sort(), [
      'access_token_request_url',
      'authorization_url',
      'client_id',
      'client_secret',
      'metadata_url',
      'refresh_token_request_url',
    ]);
    assert.equal(made['authorization_url'], `${program.appUrl}/auth/oauth2/authorize`);
    const client = { clientId: String(made['client_id']), clientSecret: String(made['client_secret']) };
    const { accessToken } = await obtainPair(service, browser, client);
    assert.equal((await me(service, accessToken)).status, 200);
  });
});

test('Promise 1: killed at any moment under load, nothing acknowledged is lost, and no code works twice', async (t) => {
  const { program, serving, service, client, browser } = await inhabited(t);
  let running = serving;
  for (const moment of [150, 400, 700]) {
    const pairs: { accessToken: string; refreshToken: string }[] = [];
    const redeemed: string[] = [];
    const page = await browser.get(authorizeUrl(service, client));
    let isKilled = false;
    const begun = Promise.withResolvers<void>();
    const walk = async () => {
      const visit = await browser.submit(page, '/auth/oauth2/authorize', { decision: 'allow' });
      assert.equal(visit.status, 303, visit.body);
      const code = String(new URL(String(visit.headers.get('location'))).searchParams.get('code'));
      let pair = pairOf(await exchange(service, client, code));
      redeemed.push(code);
      const index = pairs.push(pair) - 1;
      begun.resolve();
      // A person may decide 60 times at once: from then on these apps only refresh.
      for (let turn = 0; turn < 3 || redeemed.length > 50; turn++) {
        pair = pairOf(await refresh(service, client, pair.refreshToken));
        pairs[index] = pair;
      }
    };
    const work = async () => {
      for (;;) await walk();
    };
    // Only the kill may end a worker.
    const workers = Array.from({ length: 6 }, () => work().catch((error) => assert.ok(isKilled, error)));
    await Promise.race([begun.promise, ...workers]);
    await Promise.race([sleep(moment), ...workers]);
    isKilled = true;
    running.child.kill('SIGKILL');
    await Promise.all(workers);
    await running.ended;
    running = await program.serve();
    for (const { accessToken, refreshToken } of pairs) {
      assert.equal((await me(service, accessToken)).status, 200);
      assert.equal((await refresh(service, client, refreshToken)).status, 200);
    }
    for (const code of redeemed) assert.equal((await exchange(service, client, code)).status, 400);
    const check = await program.command(['database', 'check']);
    assert.equal(check.code, 0, check.stdout + check.stderr);
  }
});
