// `identity-provider test`: what it sees of a registration and of a product's sign-in address.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import {
  type SignInAnswer,
  type SignInSettings,
  testProvider,
} from '../../src/operator/products-and-apis/provider-test.ts';
import { requestOnce } from '../../src/process/request-to-configured-address.ts';
import { makeCertificate } from '../support/certificate.ts';
import { runCommand } from '../support/command.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { registerProvider } from '../support/provider.ts';
import { startTestService } from '../support/service.ts';
import { HOUR, NOW, sampleProvider, sampleSecret } from '../support/storage.ts';

const DAY = 24 * HOUR;

/** A request for a page of a product that answers so; with the requests that it got. */
async function product(t: TestContext, answer: (response: http.ServerResponse, url: URL) => void) {
  const got: URL[] = [];
  const server = http.createServer((request, response) => {
    const url = new URL(request.url ?? '', 'http://127.0.0.1');
    got.push(url);
    answer(response, url);
    response.end('a page');
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { signInUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/in?from=vk`, got };
}

/** What is found of a sample provider, by name: `ok` and the detail; `answer` is what its address answers. */
async function found(
  some: Partial<ReturnType<typeof sampleProvider>>,
  answer: SignInAnswer,
  changes: Partial<SignInSettings> = {},
) {
  const signInRequest = 'a'.repeat(50);
  const findings = await testProvider(
    {
      people: { listSomePeople: async () => [] },
      identityProviders: { show: async () => sampleProvider(some) },
      externalSignIns: { begin: () => ({ signInRequest, browser: 'secret' }) },
      get: async () => answer,
      settings: async () => ({
        of: 'service',
        methods: ['password', 'product'],
        signInEndpoint: 'https://auth.example/api/auth/oauth/sign-in',
        ...changes,
      }),
      continueTo: '/account/apps',
      now: () => NOW,
    },
    'product',
  );
  for (const { ok, remedy } of findings) assert.ok(ok || remedy, 'what is wrong has a remedy');
  assert.doesNotMatch(JSON.stringify(findings), /aaaa|secret"/, 'no sign-in request is printed');
  return (name: string) => findings.find((each) => each.name === name) ?? assert.fail(`nothing is said of ${name}`);
}

function answered(status: number, location: string | null = null, more: Partial<SignInAnswer> = {}): SignInAnswer {
  return {
    kind: 'answered',
    status,
    location,
    date: NOW,
    at: NOW,
    certificateEndsAt: NOW + 90 * DAY,
    ...more,
  } as SignInAnswer;
}

function failed(problem: string, code: string): SignInAnswer {
  return { kind: 'failed', problem, code, at: NOW };
}

test('identity-provider test: the product gets one real sign-in request, and no redirect is followed', async (t) => {
  const service = await startTestService(t);
  const date = () => new Date(service.clock.now()).toUTCString();
  const { signInUrl, got } = await product(t, (response) =>
    response.writeHead(303, { Location: '/login', Date: date() }),
  );
  await registerProvider(service, { signInUrl });
  const findings = await service.installation.testProvider('product');
  assert.deepEqual(
    findings.filter(({ ok }) => !ok).map(({ name }) => name),
    ['sign-in methods'],
  );
  assert.equal(got.length, 1);
  const [url] = got;
  assert.deepEqual([url?.pathname, url?.searchParams.get('from')], ['/in', 'vk']);
  const signInRequest = url?.searchParams.get('sign_in_request') ?? '';
  assert.ok(signInRequest.length > 100);
  assert.ok(!JSON.stringify(findings).includes(signInRequest));
  const at = findings.find(({ name }) => name === 'sign-in address')?.detail;
  assert.equal(at, `answers 303, to ${new URL(signInUrl).origin}/login`);
});

test('identity-provider test: a command without the variables of the service asks the service', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const { signInUrl } = await product(t, (response) => response.writeHead(200, { Date: new Date().toUTCString() }));
  await program.json(['identity-provider', 'register', '--id', 'product', '--name', 'P', '--sign-in-url', signInUrl]);
  const { VALETKEY_DATABASE_URL, VALETKEY_KEYS_FILE } = program.variables;
  const test = async () => {
    const bare = { VALETKEY_DATABASE_URL, VALETKEY_KEYS_FILE };
    const { code, stdout } = await runCommand(['identity-provider', 'test', 'product'], bare);
    return {
      code,
      methods: /^.*sign-in methods: .*$/m.exec(stdout)?.[0],
      endpoint: /^.*endpoint: .*$/m.exec(stdout)?.[0],
    };
  };
  const unserved =
    'WRONG  sign-in methods: no service answers, and VALETKEY_SIGN_IN_METHODS is password for this command';
  assert.equal((await test()).methods, `${unserved}, and does not name it`);
  await program.serve({ VALETKEY_SIGN_IN_METHODS: 'product' });
  assert.deepEqual(await test(), {
    code: 0,
    methods: 'ok     sign-in methods: VALETKEY_SIGN_IN_METHODS is product for the running service',
    endpoint: `ok     sign-in endpoint: its server posts to ${program.appUrl}/api/auth/oauth/sign-in`,
  });
});

const answers: [says: string, answer: SignInAnswer, ok: boolean, detail: RegExp][] = [
  ['a page', answered(200), true, /answers 200/],
  ['a redirect within the product', answered(302, '/login'), true, /to https:\/\/app\.example\/login$/],
  ['a redirect elsewhere', answered(302, 'https://login.example/x?y=1'), true, /to https:\/\/login\.example\/x$/],
  [
    'the request in an address of others',
    answered(302, `https://eve.example/?r=${'a'.repeat(50)}`),
    false,
    /with sign_in_request/,
  ],
  ['the request in a path of others', answered(302, `https://eve.example/${'a'.repeat(50)}`), false, /…/],
  ['plain HTTP', answered(302, 'http://app.example/login'), false, /to http:/],
  ['a redirect to nowhere', answered(302), false, /without an address/],
  ['nothing there', answered(404), false, /nothing is there/],
  ['a refusal', answered(400), false, /answers 400/],
  ['an error', answered(502), false, /answers 502/],
  ['nobody', failed('nothing listens there', 'ECONNREFUSED'), false, /nothing listens/],
];
for (const [says, answer, ok, detail] of answers)
  test(`identity-provider test: the sign-in address: ${says}`, async () => {
    const finding = (await found({}, answer))('sign-in address');
    assert.equal(finding.ok, ok, finding.detail);
    assert.match(finding.detail, detail);
  });

test('identity-provider test: a clock that is more than a minute apart, and a certificate that ends soon, are wrong', async () => {
  for (const [date, ok] of [
    [NOW - 60_000, true],
    [NOW + 61_000, false],
    [NOW - 61_000, false],
  ] as const)
    assert.equal((await found({}, answered(200, null, { date })))('clock').ok, ok);
  assert.equal((await found({}, answered(200, null, { date: null })))('clock').ok, true);
  assert.equal((await found({}, answered(200, null, { certificateEndsAt: NOW + 13 * DAY })))('TLS').ok, false);
  assert.match((await found({}, answered(200)))('TLS').detail, /90 days/);
});

test('identity-provider test: of a certificate that is not trusted it says what to do, and that this does', async (t) => {
  const { cert, key } = makeCertificate(Date.now(), 90 * DAY);
  const server = https.createServer({ cert, key }, (_, response) => response.end('a page')).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const program = await ProgramOnDisk.make(t);
  const trusted = join(program.folder, 'product.pem');
  writeFileSync(trusted, cert);
  const signInUrl = `https://localhost:${(server.address() as AddressInfo).port}/in`;
  await program.command(['database', 'migrate']);
  const named = ['--name', 'Photos', '--sign-in-url', signInUrl, '--rights', 'sign-in'];
  const registered = await program.command(['identity-provider', 'register', '--id', 'product', ...named]);
  assert.equal(registered.code, 0, registered.stderr);
  const seen = async (variables = {}) => {
    const { stdout } = await program.run(['identity-provider', 'test', 'product', '--json'], variables);
    const findings = JSON.parse(stdout) as { name: string; ok: boolean; detail: string; remedy: string | null }[];
    return findings.find(({ name }) => name === 'sign-in address');
  };
  const before = await seen();
  assert.equal(before?.detail, 'its TLS certificate is self-signed, which browsers refuse');
  assert.match(
    before.remedy ?? '',
    /^set NODE_EXTRA_CA_CERTS .* file of this certificate itself, and make browsers trust/,
  );
  assert.equal((await seen({ NODE_EXTRA_CA_CERTS: trusted }))?.ok, true);
});

test('identity-provider test: what is registered wrongly', async () => {
  const fine = answered(200);
  const [old, fresh] = [
    { ...sampleSecret(), createdAt: NOW - 30 * DAY },
    { ...sampleSecret(), createdAt: NOW - 8 * DAY },
  ];
  assert.equal((await found({ status: 'paused' }, fine))('status').ok, false);
  assert.equal((await found({ secrets: [] }, fine))('credentials').ok, false);
  assert.equal(
    (await found({ secrets: [fresh, old] }, fine))('credentials').ok,
    false,
    'a rotation that was forgotten',
  );
  const rotating = (await found({ secrets: [sampleSecret(), old] }, fine))('credentials');
  assert.deepEqual([rotating.ok, rotating.detail], [true, 'two secrets, made 0 min and 30 days ago']);
  assert.equal((await found({ rights: ['users'] }, fine))('rights').ok, false);
  assert.equal((await found({}, fine, { methods: ['password'] }))('sign-in methods').ok, false);
  assert.equal((await found({ ownIds: true }, fine))('sign-in methods').ok, false, 'a password beside own ids');
  const local = { signInEndpoint: 'http://localhost:3000/api/auth/oauth/sign-in' };
  assert.equal((await found({}, fine, local))('sign-in endpoint').ok, false);
  assert.equal((await found({}, fine))('sign-in endpoint').ok, true);
});

test('identity-provider test: whatever answers or not, there is an end, and it is said in words', async (t) => {
  const silent = net.createServer((socket) => socket.resume()).listen(0, '127.0.0.1');
  const babbling = net.createServer((socket) => socket.end('hello\r\n\r\n')).listen(0, '127.0.0.1');
  t.after(() => [silent, babbling].map((server) => server.close()));
  const at = async (server: net.Server, scheme = 'http') => {
    if (!server.listening) await once(server, 'listening');
    return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  };
  const problem = async (url: string, timeout?: number) => {
    const outcome = await requestOnce(url, Date.now, timeout);
    return outcome.kind === 'failed' ? outcome.problem : assert.fail();
  };
  assert.equal(await problem(await at(silent), 50), 'no answer within 0.05 s');
  assert.equal(await problem(await at(babbling)), 'what answers is no HTTP');
  assert.match(await problem(await at(babbling, 'https')), /TLS/);
  const closing = net.createServer().listen(0, '127.0.0.1');
  const gone = await at(closing);
  closing.close();
  await once(closing, 'close');
  assert.equal(await problem(gone), 'nothing listens there');
});
