/** Metadata documents that change at their host: shown, asked about, and taken over by the operator alone. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import type { Client } from '../../src/oauth/clients/client.ts';
import { pairOf, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, startTestService } from '../support/service.ts';
import { allowOn, exchangeCode, makeKey, refreshWith, standardUrl } from '../support/standard.ts';
import { Collector } from './collector.ts';

const service = await startTestService({ after });
const { installation, clock } = service;
const { clients, clientDocuments, audit, operator } = installation;
await addUser(service);
const ada = await signedInBrowser(service);

/** What is at each path; null: nothing that answers 200. */
const documents = new Map<string, unknown>();
const host = http.createServer(({ url = '' }, response) => {
  const document = documents.get(url) ?? null;
  response.writeHead(document === null ? 404 : 200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify(document));
});
await once(host.listen(0, '127.0.0.1'), 'listening');
after(() => host.close());
const origin = `http://127.0.0.1:${(host.address() as AddressInfo).port}`;

const [R1, R2] = ['https://one.example/callback', 'https://two.example/callback'];
let agents = 0;

type Members = Readonly<Record<string, unknown>>;

/** An agent that was admitted by its document. `say` changes the document. */
async function admitted(members: Members = {}, settings: Partial<Client> = {}) {
  agents += 1;
  const path = `/agents/${agents}.json`;
  const id = origin + path;
  const say = (changed: Members | null) => documents.set(path, changed && { ...usual, ...members, ...changed });
  const usual = {
    client_id: id,
    client_name: `Agent ${agents}`,
    redirect_uris: [R1],
    token_endpoint_auth_method: 'none',
  };
  say({});
  const { row: client } = await clientDocuments.register(
    await clientDocuments.fetch(id),
    { name: undefined, ...settings },
    operator,
  );
  return { id, say, client };
}

/** Runs a command on the service's installation; `typed` at a terminal, or null without one. */
async function valetkey(words: readonly string[], typed: string | null = null) {
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== null, setRawMode: () => stdin });
  const [stdout, stderr] = [new Collector(), new Collector()];
  stdin.write(typed ?? '');
  const code = await runProgram(words, {
    ...makeCommandContext({}),
    ...{ stdin, stdout, stderr },
    now: clock.now,
    open: async () => ({ ...installation, close: async () => {} }),
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

const lastEvent = async (clientId: string) => (await audit.listAuditEvents({ clientId, limit: 1 }))[0];
const refused = async (words: string[]) => {
  const { code, stderr } = await valetkey(words);
  return `${code} ${stderr}`;
};

test('draft-ietf-oauth-client-id-metadata-document §5.2, §8.4: a changed document is shown, asked about, and taken over', async () => {
  const { id, say, client } = await admitted();
  say({ redirect_uris: [R1, R2], client_name: 'Another Name' });
  const no = await valetkey(['client', 'refresh', id], 'n\n');
  assert.equal(no.code, 1);
  assert.match(no.stderr, /Changes +redirect_uris \+https:\/\/two\.example\/callback\n/);
  assert.doesNotMatch(no.stderr, /users are asked again/, 'they are asked each time');
  assert.match(no.stderr, /Apply these changes to Agent 1\? \[y\/N\] valetkey: nothing was changed\n$/);
  assert.deepEqual(await clients.show(id), client);
  const yes = await valetkey(['client', 'refresh', id, '--json'], 'y\n');
  assert.equal(yes.code, 0, yes.stderr);
  assert.deepEqual(JSON.parse(yes.stdout).redirect_uris, [R1, R2]);
  assert.match(yes.stderr, /not applied: name "Another Name" \(apply it with "client update --name"\)/);
  const refreshed = await clients.show(id);
  assert.deepEqual([refreshed.name, refreshed.redirectUris], ['Agent 1', [R1, R2]]);
  const sha256 = hash('sha256', JSON.stringify(documents.get(new URL(id).pathname)));
  assert.equal(refreshed.documentSha256, sha256);
  const event = await lastEvent(id);
  assert.equal(event?.action, 'client_document_refreshed');
  assert.equal(
    event.detail,
    JSON.stringify({ changes: [{ name: 'redirect_uris', removed: [], added: [R2] }], sha256 }),
  );
  const again = await valetkey(['client', 'refresh', id, '--yes']);
  assert.match(again.stderr, /^The document of Agent 1 is unchanged\.\n$/);
  assert.equal((await lastEvent(id))?.sequence, event.sequence, 'nothing was written');
});

test('a document that changed in nothing that counts is taken over as well, so that the next check is quiet', async () => {
  const { id, say } = await admitted();
  say({ logo_uri: 'https://agent.example/logo.svg' });
  const { code, stderr } = await valetkey(['client', 'refresh', id, '--yes']);
  assert.equal(code, 0);
  assert.match(stderr, /Changes +nothing that Valetkey uses\n/);
  assert.doesNotMatch(stderr, /users are asked again/);
  assert.equal((await valetkey(['client', 'refresh', id, '--check'])).code, 0);
});

test('draft-ietf-oauth-client-id-metadata-document §5: client refresh --check changes nothing, and exits with 1 if a document differs or cannot be had', async (t) => {
  const [same, other, gone] = [await admitted(), await admitted(), await admitted()];
  t.after(async () => {
    for (const { id } of [same, other, gone]) await clients.delete(id, operator);
  });
  await addClient(service);
  const all = ['client', 'refresh', '--all', '--check'];
  const before = await audit.lastAuditSequence();
  assert.equal((await valetkey(all)).code, 0);
  other.say({ redirect_uris: [R2] });
  gone.say(null);
  const { code, stdout, stderr } = await valetkey(all);
  assert.equal(code, 1);
  const lines = stdout.split('\n');
  assert.ok(lines.includes(`${other.client.name} (${other.id}): redirect_uris -${R1} +${R2}`), stdout);
  assert.ok(
    lines.some((line) =>
      line.startsWith(
        `${gone.client.name} (${gone.id}): the document ${gone.id} could not be fetched: its status is 404`,
      ),
    ),
  );
  assert.ok(!stdout.includes(`${same.id})`), 'one that is as before is not listed');
  assert.match(stderr, /client refresh APP/);
  const rows = JSON.parse((await valetkey([...all, '--json'])).stdout) as {
    client_id: string;
    differs: boolean | null;
  }[];
  const told = Object.fromEntries(rows.map(({ client_id, differs }) => [client_id, differs]));
  assert.deepEqual([told[same.id], told[other.id], told[gone.id]], [false, true, null]);
  assert.deepEqual(await clients.show(other.id), other.client);
  assert.equal(await audit.lastAuditSequence(), before, 'nothing was recorded');
  assert.equal((await valetkey(['client', 'refresh', same.id, '--check'])).code, 0);
  assert.equal((await valetkey(['client', 'refresh', other.id, '--check'])).code, 1);
});

test('draft-ietf-oauth-client-id-metadata-document §5.2: a document that is refused at a refresh changes nothing', async () => {
  const { id, say, client } = await admitted();
  for (const [members, sentence] of [
    [{ client_secret: 'canary' }, /holds client_secret/],
    [{ client_id: `${id}x` }, /not its own address/],
    [{ redirect_uris: ['javascript:alert(1)'] }, /none of its redirect_uris/],
    [{ token_endpoint_auth_method: 'client_secret_post' }, /neither none nor/],
    [null, /could not be fetched/],
  ] as const) {
    say(members);
    const answer = await refused(['client', 'refresh', id, '--yes']);
    assert.match(answer, sentence);
    assert.match(answer, /^1 /);
    assert.doesNotMatch(answer, /canary/);
    assert.deepEqual(await clients.show(id), client);
  }
});

/** An app that Ada allowed, and that is not asked about again. */
async function remembered(settings: Partial<Client> = {}) {
  const agent = await admitted({}, { consent: 'remember', ...settings });
  const app = { clientId: agent.id, clientSecret: '', client: agent.client };
  const visit = (redirect_uri = R1) => ada.get(standardUrl(service, app, { redirect_uri }));
  const isAsked = async (redirect_uri = R1) => (await visit(redirect_uri)).status === 200;
  const allow = async (redirect_uri = R1) => {
    const code = String((await allowOn(ada, await visit(redirect_uri))).searchParams.get('code'));
    return exchangeCode(service, app, code, { redirect_uri });
  };
  clock.advance(1);
  const { refreshToken } = pairOf(await allow());
  assert.equal(await isAsked(), false, 'consent is remembered');
  clock.advance(1);
  return { ...agent, app, isAsked, allow, refreshToken };
}

test('draft-ietf-oauth-client-id-metadata-document §8.4, Promise 2: another redirect host ends remembered consent and the vouching; what is allowed afterwards is remembered', async () => {
  const { id, say, isAsked, allow } = await remembered({ publisher: 'Agents Ltd', isChecked: true });
  say({ redirect_uris: [R1, R2] });
  const { stderr } = await valetkey(['client', 'refresh', id, '--yes']);
  assert.match(stderr, /Remembered consent ends: users are asked again\./);
  assert.match(stderr, /is_checked -true \+false/);
  assert.equal((await clients.show(id)).isChecked, false);
  assert.equal(await isAsked(), true);
  clock.advance(1);
  await allow();
  assert.equal(await isAsked(), false);
});

test('consent: another redirect host ends at a refresh, too, that nobody is asked', async () => {
  const { id, say } = await remembered();
  await clients.update(id, { consent: 'skip' }, operator);
  say({ redirect_uris: [R1, R2] });
  assert.match((await valetkey(['client', 'refresh', id, '--yes'])).stderr, /consent -skip \+ask/);
  assert.equal((await clients.show(id)).consent, 'ask');
});

test('another path of the same host, or other pages, leave remembered consent as it is', async () => {
  const { id, say, isAsked } = await remembered();
  say({ redirect_uris: [R1, `${R1}/two`], policy_uri: 'https://one.example/privacy' });
  const { stderr } = await valetkey(['client', 'refresh', id, '--yes']);
  assert.doesNotMatch(stderr, /users are asked again/);
  assert.equal(await isAsked(), false);
});

test('draft-ietf-oauth-client-id-metadata-document §8.2, Promise 2: another method ends remembered consent, and counts at the next request', async () => {
  const { id, say, app, isAsked, refreshToken } = await remembered();
  say({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [makeKey().jwk] } });
  assert.match((await valetkey(['client', 'refresh', id, '--yes'])).stderr, /type -public \+confidential/);
  assert.equal(await isAsked(), true);
  const { body } = await refreshWith(service, app, refreshToken);
  assert.equal(body['error'], 'invalid_client', 'the key is needed now');
});

test('ASVS 15.4.2: a refresh of what somebody changed since is refused, and writes nothing', async () => {
  const { id, say } = await admitted();
  say({ redirect_uris: [R2] });
  const [one, two] = [
    await clientDocuments.compare(await clients.show(id)),
    await clientDocuments.compare(await clients.show(id)),
  ];
  await clientDocuments.refresh(one, operator);
  const { sequence } = (await lastEvent(id)) ?? assert.fail();
  await assert.rejects(clientDocuments.refresh(two, operator), /changed or was deleted at the same time/);
  assert.equal((await lastEvent(id))?.sequence, sequence);
  const third = await clientDocuments.compare(await clients.show(id));
  clock.advance(1);
  await clients.pause(id, operator);
  await clients.resume(id, operator);
  await assert.rejects(clientDocuments.refresh(third, operator), /at the same time/, 'a resume would be undone');
});

const kty = 'its kty must be EC, RSA or OKP';

test('RFC 7517 §5: --jwks omits the keys that cannot be used, and says so in words and in JSON', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-omitted-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'keys.json');
  writeFileSync(file, JSON.stringify({ keys: [{ kty: 'AKP', pub: 'AAAA' }, makeKey().jwk] }));
  const app = ['--name', 'Omits', '--redirect-uri', R1, '--jwks', file];
  const product = ['--id', 'omits', '--name', 'Omits', '--sign-in-url', R1, '--jwks', file];
  const registered = await valetkey(['client', 'register', ...app, '--json']);
  const id = JSON.parse(registered.stdout).client_id;
  const commands = [
    ['client', 'update', id, '--jwks', file, '--json'],
    ['identity-provider', 'register', ...product, '--json'],
    ['identity-provider', 'update', 'omits', '--jwks', file, '--json'],
  ];
  for (const words of [null, ...commands]) {
    const { code, stdout, stderr } = words === null ? registered : await valetkey(words);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout).omitted_keys, [`key 1: ${kty}`], words?.join(' '));
    assert.match(stderr, new RegExp(`^Omitted: key 1: ${kty}\\.\n`));
  }
  writeFileSync(file, JSON.stringify({ keys: [makeKey().jwk, { kty: 'oct', k: 'AAAA' }] }));
  assert.match(await refused(['client', 'update', id, '--jwks', file]), /^1 .*key 2: it is a symmetric key/);
});

test('RFC 7517 §5: the JSON of an app from a document names the omitted keys', async () => {
  const { id, say } = await admitted();
  const keys = [{ kty: 'AKP', pub: 'AAAA' }, makeKey().jwk];
  say({ token_endpoint_auth_method: 'private_key_jwt', jwks: { keys } });
  for (const words of [
    ['client', 'refresh', id],
    ['client', 'refresh', id],
    ['client', 'register', '--from', id],
  ]) {
    if (words.includes('--from')) await clients.delete(id, operator);
    const { stdout, stderr } = await valetkey([...words, '--yes', '--json']);
    assert.deepEqual(JSON.parse(stdout).omitted_keys, [`key 1: ${kty}`], stderr);
  }
});

test('what the document owns is not given by hand, and the remedy is named', async () => {
  const { id } = await admitted();
  assert.match(await refused(['client', 'register', '--from', id, '--yes']), /already registered: "client refresh"/);
  const remedy = new RegExp(`"client refresh ${id.replaceAll('.', '\\.')}"`);
  assert.match(await refused(['client', 'update', id, '--redirect-uri', R2]), remedy);
  assert.match(await refused(['client', 'update', id, '--no-jwks']), remedy);
  assert.match(await refused(['client', 'rotate-secret', id]), remedy);
  const { clientId } = await addClient(service, { name: 'Plain' });
  assert.match(await refused(['client', 'refresh', clientId]), /the app Plain has no metadata document/);
});

test('Promise 2: a refresh by a clock that is behind brings no consent back', async () => {
  const { id, say } = await admitted();
  say({ redirect_uris: [R2] });
  await valetkey(['client', 'refresh', id, '--yes']);
  const { remembersSince } = await clients.show(id);
  clock.advance(-3600);
  say({ redirect_uris: [R1] });
  assert.equal((await valetkey(['client', 'refresh', id, '--yes'])).code, 0);
  assert.equal((await clients.show(id)).remembersSince, remembersSince);
  clock.advance(3600);
});
