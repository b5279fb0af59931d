/** The commands that ask before they act: at a terminal they ask, and without one they need `--yes`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import type { QUESTIONS } from '../../src/cli/command/questions.ts';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import { runCommand } from '../support/command.ts';
import { commandsOfProgram } from '../support/commands.ts';
import { obtainPair, postForm, signedInBrowser } from '../support/flow.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { registerAhead } from '../support/provider.ts';
import { addClient, addUser, Clock, freePort, REDIRECT_URI, startTestService } from '../support/service.ts';
import { Collector } from './collector.ts';

// The folder goes after the service has stopped: it ends the process if its database is gone.
const endings: (() => unknown)[] = [];
const { folder, variables } = await ProgramOnDisk.make({ after: (end) => endings.push(end) });
const clock = new Clock();
const product = await registerAhead(variables, { id: 'product', rights: ['users'] }, clock);
const onDisk = async (...words: string[]) => {
  const { code, stdout, stderr } = await runCommand([...words, '--json'], variables);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
};
const earlierKey = String((await onDisk('keys', 'rotate'))['earlier_key_id']);
const backup = join(folder, 'backup.db');
await onDisk('database', 'backup', backup);

const service = await startTestService(
  { after },
  {
    ...variables,
    VALETKEY_SIGN_IN_METHODS: 'password,product',
    VALETKEY_OPERATOR_URL: `http://localhost:${await freePort()}`,
  },
  clock,
);
for (const end of endings) after(end);
const { installation } = service;
const { clients, clientDocuments, resourceServers, identityProviders, operatorRegistry, scopes, operator } =
  installation;

/** An app's metadata document at its own address, for any path. */
const host = http.createServer(({ url = '' }, response) => {
  const document = { client_id: origin + url, client_name: `Agent at ${url}`, token_endpoint_auth_method: 'none' };
  const redirects = { redirect_uris: url === '/changed' ? changed : [REDIRECT_URI] };
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ ...document, ...redirects }));
});
await once(host.listen(0, '127.0.0.1'), 'listening');
after(() => host.close());
const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;
let changed = [REDIRECT_URI];
await clientDocuments.register(await clientDocuments.fetch(`${origin}/changed`), { name: undefined }, operator);
changed = [`${REDIRECT_URI}/2`];

const [ada, bob] = [await addUser(service), await addUser(service, 'bob@example.com')];
const [app, other] = [await addClient(service, { name: 'App' }), await addClient(service, { name: 'Other' })];
for (const client of [app, other]) await obtainPair(service, await signedInBrowser(service, ada.email ?? ''), client);
const newestGrant = async () => {
  const listed = await runOn(['grant', 'list', '--limit', '1', '--json']);
  return (JSON.parse(listed.stdout) as [{ id: string }])[0].id;
};
const grantId = await newestGrant();
await clients.rotateSecret(app.clientId, operator);
const { row: resourceServer, secret } = await resourceServers.register(
  { name: 'API', resource: null, scopes: null },
  operator,
);
await postForm(`${service.appUrl}/oauth2/introspect`, {
  token: 'x',
  client_id: resourceServer.id,
  client_secret: secret as string,
});
await resourceServers.rotateSecret(resourceServer.id, operator);
await fetch(`${service.appUrl}/api/auth/oauth/users?subject=nobody`, {
  headers: { Authorization: `Basic ${Buffer.from(`product:${product.secret}`).toString('base64')}` },
});
await identityProviders.rotateSecret('product', operator);
await scopes.define('mail', { en: 'Read your mail' }, operator, null);
for (const name of ['Ann', 'Eve']) await operatorRegistry.add(name, 'read', operator);

/** Runs a command on the service's installation; `typed` at a terminal, or null without one. */
async function runOn(words: readonly string[], typed: string | null = null) {
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== null, setRawMode: () => stdin });
  const [stdout, stderr] = [new Collector(), new Collector()];
  stdin.write(typed ?? '');
  const code = await runProgram(words, {
    ...makeCommandContext(variables),
    ...{ stdin, stdout, stderr },
    now: clock.now,
    open: async () => ({ ...installation, close: async () => {} }),
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

const eventsSoFar = async () => (await installation.audit.listAuditEvents({ limit: 1000 })).length;

type Asks = {
  /** Arguments with which the command asks, in an order in which each command still finds the thing that it ends. */
  readonly words: readonly string[];
  /** The same about something that does not exist; null if the command names nothing. */
  readonly absent: readonly string[] | null;
  /** The reason why the command does nothing here, after a yes. */
  readonly refusal?: RegExp;
};

const NO_GRANT = '019aa3c5-7d02-7c11-9d5e-2f6b7c80a1e4';
const named = (id: string, ...more: string[]): Asks => ({ words: [id, ...more], absent: ['nobody', ...more] });

/** Every command of the program that asks. */
const ASKING: Readonly<Record<keyof typeof QUESTIONS, Asks>> = {
  'client register': { words: ['--from', `${origin}/new`], absent: ['--from', 'http://127.0.0.1:1/client.json'] },
  'client refresh': named(`${origin}/changed`),
  'client retire-secret': named(app.clientId),
  'grant revoke': { words: [grantId], absent: [NO_GRANT] },
  'client revoke-grants': named(app.clientId),
  'client delete': named(app.clientId),
  'resource-server retire-secret': named(resourceServer.id),
  'resource-server delete': named(resourceServer.id),
  'identity-provider retire-secret': named('product'),
  'identity-provider end-all': named('product', '--since', '1h'),
  'identity-provider delete': named('product'),
  'scope delete': named('mail'),
  'user revoke-grants': named(ada.id),
  'user delete': named(bob.id),
  'operator reset': named('Ann'),
  'operator delete': named('Eve'),
  'database restore': {
    words: [backup],
    absent: [join(folder, 'none.db')],
    refusal: /another service has the database/,
  },
  'keys retire': { words: [earlierKey], absent: ['00000001'], refusal: /valid for another/ },
};

test('a command that asks has --yes, no other one has it, and whatever deletes, revokes or ends for good asks', async () => {
  const commands = [...(await commandsOfProgram()).entries()];
  const withYes = commands.filter(([, options]) => options.includes('--yes')).map(([name]) => name);
  assert.deepEqual(withYes.toSorted(), Object.keys(ASKING).toSorted());
  const ending = commands
    .map(([name]) => name)
    .filter((name) => /delete|revoke|retire|end-all|reset|restore/.test(name));
  assert.deepEqual(
    ending.filter((name) => !Object.hasOwn(ASKING, name)),
    [],
  );
});

for (const [name, { words, absent }] of Object.entries(ASKING)) {
  const command = name.split(' ');
  test(`"${name}" without a terminal does nothing, and names --yes in one sentence`, async () => {
    const before = await eventsSoFar();
    const { code, stdout, stderr } = await runOn([...command, ...words]);
    const sentence = `valetkey: nothing was changed: "${name}" asks first, and there is no terminal to ask at; give --yes to do it without a question\n`;
    assert.ok(stderr.endsWith(sentence), stderr);
    assert.deepEqual([code, stdout], [2, '']);
    assert.equal(await eventsSoFar(), before);
  });
  test(`"${name}" at a terminal asks, and does nothing after a no`, async () => {
    const before = await eventsSoFar();
    const { code, stderr } = await runOn([...command, ...words], 'n\n');
    assert.match(stderr, /\?.* \[y\/N\] valetkey: nothing was changed\n$/);
    assert.equal(code, 1);
    assert.equal(await eventsSoFar(), before);
  });
  test(`"${name}" refuses what does not exist before it asks`, async () => {
    for (const typed of [null, 'y\n']) {
      const { code, stderr } = await runOn([...command, ...(absent ?? [])], typed);
      assert.equal(code, 1, stderr);
      assert.doesNotMatch(stderr, /asks first|\[y\/N\]/);
    }
  });
}

test('with --yes each of them acts without a terminal, and asks nothing at one', async () => {
  for (const [name, { words, refusal }] of Object.entries(ASKING)) {
    const { code, stderr } = await runOn([...name.split(' '), ...words, '--yes'], name === 'scope delete' ? '' : null);
    assert.doesNotMatch(stderr, /asks first|\[y\/N\]/, name);
    assert.equal(code, refusal ? 1 : 0, `${name}: ${stderr}`);
    if (refusal) assert.match(stderr, refusal);
  }
});

test('"grant revoke --all" asks like the end of one grant', async () => {
  assert.equal((await runOn(['grant', 'revoke', '--all'])).code, 2);
  assert.match((await runOn(['grant', 'revoke', '--all'], 'n\n')).stderr, /^End every grant \(/);
});

test('what changes nothing, or cannot be asked about, is not asked about', async () => {
  const check = await runOn(['client', 'refresh', '--all', '--check']);
  assert.deepEqual([check.code, check.stderr], [0, ''], check.stdout);
  const unused = await addClient(service, { name: 'Unused' });
  await clients.rotateSecret(unused.clientId, operator);
  assert.equal((await runOn(['client', 'retire-secret', unused.clientId])).code, 0, 'nobody uses that secret');
  const { code, stderr } = await runOn(['client', 'retire-secret', unused.clientId]);
  assert.match(stderr, /only one secret is live/);
  assert.equal(code, 1);
  clock.advance(1);
  await obtainPair(service, await signedInBrowser(service, ada.email ?? ''), other);
  const id = await newestGrant();
  assert.equal((await runOn(['grant', 'revoke', id, '--yes'])).code, 0);
  const ended = await runOn(['grant', 'revoke', id]);
  assert.deepEqual([ended.code, ended.stderr], [1, 'valetkey: the grant has ended already\n']);
});
