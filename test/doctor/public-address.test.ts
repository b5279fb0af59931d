/** `doctor` behind a proxy that does one thing wrong: each fault for real, through the program. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import tls from 'node:tls';
import { examineAddress } from '../../src/doctor/public-address.ts';
import { makeCertificate } from '../support/certificate.ts';
import { runCommand } from '../support/command.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { freePort } from '../support/service.ts';
import { type Fault, startProxy } from './faulty-proxy.ts';

const DAY_MS = 86_400_000;
const certificate = makeCertificate(Date.now(), 90 * DAY_MS);
tls.setDefaultCACertificates([...tls.getCACertificates('default'), certificate.cert]);

const program = await ProgramOnDisk.make({ after });
const [appPort, apiPort, operatorPort, operatorInside] = [
  await freePort(),
  await freePort(),
  await freePort(),
  await freePort(),
];
const variables = {
  ...program.variables,
  VALETKEY_APP_URL: `https://localhost:${appPort}`,
  VALETKEY_API_URL: `https://localhost:${apiPort}`,
  VALETKEY_APP_LISTEN: new URL(program.appUrl).host,
  VALETKEY_API_LISTEN: new URL(program.apiUrl).host,
  VALETKEY_OPERATOR_URL: `https://localhost:${operatorPort}`,
  VALETKEY_OPERATOR_LISTEN: `127.0.0.1:${operatorInside}`,
  VALETKEY_TRUSTED_PROXIES: '127.0.0.1',
};
const serving = await program.serve(variables);
await runCommand(['database', 'note-backup'], variables);
after(() => serving.child.kill());
const app = await startProxy({ after }, appPort, program.appUrl, certificate);
await startProxy({ after }, apiPort, program.apiUrl, certificate);
const operators = await startProxy({ after }, operatorPort, `http://127.0.0.1:${operatorInside}`, certificate);

type Line = { area: string; name: string; verdict: string; detail: string; remedy: string | null };

/** What the doctor does not find in order, of the two addresses. */
async function doctor(fault: Fault, changed: Record<string, string> = {}) {
  app.fault = fault;
  const { code, stdout, stderr } = await runCommand(['doctor', '--json'], { ...variables, ...changed });
  app.fault = {};
  const findings = JSON.parse(stdout) as Line[];
  for (const { verdict, remedy } of findings) assert.equal(remedy === null, verdict === 'ok');
  return { code, stderr, findings, bad: findings.filter(({ verdict }) => verdict !== 'ok') };
}

test('the doctor finds nothing wrong behind a proxy that hands on what it should', async () => {
  const { code, bad, findings, stderr } = await doctor({});
  assert.deepEqual(bad, []);
  assert.equal(code, 0);
  assert.match(stderr, /^valetkey: 0 of \d+ checks failed, 0 gave a warning\n$/);
  for (const area of ['app address', 'API address', 'operators’ address'])
    assert.ok(findings.some((finding) => finding.area === area && finding.name === 'visitors’ addresses'));
  assert.ok(findings.some(({ name, detail }) => name === 'visitors’ addresses' && detail.includes('203.0.113.')));
});

/** By what the proxy does wrong: the check that finds it, its verdict and a part of the remedy. */
const FAULTS: Readonly<Record<string, [fault: Fault, name: string, verdict: 'wrong' | 'warning', remedy: RegExp]>> = {
  'hands on X-Forwarded-For as a visitor sends it': [
    { asks: (visitor) => ({ 'x-forwarded-for': visitor['x-forwarded-for'] }) },
    'visitors’ addresses',
    'wrong',
    /\$remote_addr/,
  ],
  'does not say for whom it asks': [
    { asks: () => ({ 'x-forwarded-for': undefined }) },
    'visitors’ addresses',
    'wrong',
    /let it set X-Forwarded-For/,
  ],
  'hands on X-Forwarded-Proto as a visitor sends it': [
    { asks: (visitor) => ({ 'x-forwarded-proto': visitor['x-forwarded-proto'] ?? 'https' }) },
    'scheme',
    'wrong',
    /\$scheme/,
  ],
  'does not say by which scheme': [
    { asks: () => ({ 'x-forwarded-proto': undefined }) },
    'scheme',
    'warning',
    /\$scheme/,
  ],
  'changes addresses': [{ path: decodeURIComponent }, 'addresses', 'wrong', /unchanged/],
  'drops Authorization': [
    { asks: () => ({ authorization: undefined }) },
    'Authorization',
    'wrong',
    /pass the header on/,
  ],
  'drops Cookie': [{ asks: () => ({ cookie: undefined }) }, 'cookies sent', 'wrong', /pass/],
  'sends another Host': [{ asks: () => ({ host: 'inside' }) }, 'Host', 'warning', /\$host/],
  'keeps connections that the service was not told of': [
    { keepsConnections: true },
    'connections',
    'warning',
    /VALETKEY_PROXY_IDLE_TIMEOUT/,
  ],
  'drops Set-Cookie': [{ answers: () => ({ 'set-cookie': undefined }) }, 'cookies set', 'wrong', /proxy_cookie_flags/],
  'changes the flags of cookies': [
    {
      answers: (headers) => ({
        'set-cookie': [headers['set-cookie'] ?? []].flat().map((cookie) => cookie.replace('Lax', 'None')),
      }),
    },
    'cookies set',
    'wrong',
    /proxy_cookie_flags/,
  ],
  'lets browsers cache': [
    { answers: () => ({ 'cache-control': 'public, max-age=60' }) },
    'caching',
    'wrong',
    /cache nothing/,
  ],
  'says that an answer is from a cache': [{ answers: () => ({ age: '3' }) }, 'caching', 'wrong', /cache nothing/],
  'keeps answers': [{ caches: true }, 'caching', 'wrong', /cache nothing/],
  'has a small buffer for heads': [{ maxHeadBytes: 4096 }, 'long answers', 'wrong', /proxy_buffer_size 16k/],
  'cuts heads': [{ answers: () => ({ 'valetkey-padding': 'x' }) }, 'long answers', 'wrong', /proxy_buffer_size 16k/],
  'adds a Content-Security-Policy': [
    {
      answers: ({ 'content-security-policy': own = [] }) => ({
        'content-security-policy': [own, "form-action 'self'"].flat(),
      }),
    },
    'Content-Security-Policy',
    'wrong',
    /add none/,
  ],
  'drops Strict-Transport-Security': [
    { answers: () => ({ 'strict-transport-security': undefined }) },
    'HSTS',
    'wrong',
    /pass the header on/,
  ],
  'adds another Strict-Transport-Security': [
    {
      answers: ({ 'strict-transport-security': own = [] }) => ({
        'strict-transport-security': ['max-age=0', own].flat(),
      }),
    },
    'HSTS',
    'warning',
    /add none/,
  ],
  'has another clock': [
    { answers: () => ({ date: new Date(Date.now() + 90_000).toUTCString() }) },
    'clock',
    'wrong',
    /by NTP: sign-ins at products/,
  ],
  'takes small bodies alone': [
    { itself: ({ method }) => (method === 'POST' ? { status: 413, body: '<h1>413</h1>' } : undefined) },
    'bodies',
    'wrong',
    /client_max_body_size 64k/,
  ],
  'does not reach the service': [
    { itself: () => ({ status: 502, body: '<h1>502</h1>' }) },
    'reached',
    'wrong',
    /check that the service runs/,
  ],
  'sends another site': [{ itself: () => ({ status: 200, body: '{}' }) }, 'reached', 'wrong', /sends this host to it/],
};

for (const [what, [fault, name, verdict, remedy]] of Object.entries(FAULTS))
  test(`the doctor finds a proxy that ${what}`, async () => {
    const { code, bad } = await doctor(fault);
    const met = bad.filter((finding) => finding.name === name);
    assert.deepEqual(
      met.map((finding) => `${finding.area}: ${finding.verdict}`),
      [`app address: ${verdict}`],
      JSON.stringify(bad),
    );
    assert.match(met[0]?.remedy ?? '', remedy);
    assert.equal(code, bad.some((finding) => finding.verdict === 'wrong') ? 1 : 0);
  });

test('the doctor finds a proxy that sends another Host to the operators’ address, which refuses that', async () => {
  operators.fault = { asks: () => ({ host: 'inside' }) };
  const { code, bad } = await doctor({});
  const answer = await fetch(`https://localhost:${operatorPort}/sign-in`);
  operators.fault = {};
  const found = bad.map(({ area, name, verdict, remedy }) => [area, name, verdict, /\$host/.test(String(remedy))]);
  assert.deepEqual([code, found], [1, [['operators’ address', 'Host', 'wrong', true]]]);
  assert.equal(answer.status, 421);
  assert.equal((await fetch(`https://localhost:${operatorPort}/sign-in`)).status, 200);
});

test('the doctor says where its own keys are not those of the service that answers', async (t) => {
  const other = await ProgramOnDisk.make(t);
  const { VALETKEY_DATABASE_URL, VALETKEY_KEYS_FILE } = other.variables;
  const changed = { VALETKEY_DATABASE_URL, VALETKEY_KEYS_FILE } as Record<string, string>;
  await runCommand(['database', 'migrate'], { ...variables, ...changed });
  const { bad } = await doctor({}, changed);
  assert.deepEqual(
    bad.map(({ area, name }) => `${area}: ${name}`),
    ['database: service', 'backup: last', ...['app', 'API', 'operators’'].map((of) => `${of} address: same service`)],
  );
});

test('the doctor says where nobody listens while a service runs', async () => {
  const port = await freePort();
  const { bad } = await doctor({}, { VALETKEY_APP_URL: `https://localhost:${port}` });
  const [reached] = bad.filter(({ name }) => name === 'reached');
  assert.equal(`${reached?.area}: ${reached?.verdict}`, 'app address: wrong');
  assert.match(
    reached?.remedy ?? '',
    new RegExp(`^check that the proxy listens at localhost:${port}; check that the service`),
  );
});

test('a certificate that nobody trusts, or that ends soon, is told', async (t) => {
  const port = await freePort();
  const soon = makeCertificate(Date.now(), 3 * DAY_MS);
  await startProxy(t, port, program.appUrl, soon);
  const untrusted = await doctor({}, { VALETKEY_APP_URL: `https://localhost:${port}` });
  const [reached] = untrusted.bad.filter(({ name }) => name === 'reached');
  assert.match(reached?.detail ?? '', /self-signed/);
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), soon.cert]);
  const trusted = await doctor({}, { VALETKEY_APP_URL: `https://localhost:${port}` });
  const [ends] = trusted.bad.filter(({ area, name }) => area === 'app address' && name === 'TLS');
  assert.equal(`${ends?.verdict}: ${ends?.detail}`, 'warning: trusted, for 71 h more');
});

test('what a service says of a request it says to a pass of its keys alone, and never a token', async () => {
  const ask = async (pass: string) => {
    const headers = { 'valetkey-doctor': pass, Authorization: 'Bearer canary-token' };
    return (await fetch(`${program.appUrl}/healthz`, { headers })).text();
  };
  const far = Date.now() + 30_000;
  for (const pass of ['', 'x', `1.${far}.${'A'.repeat(43)}`, `0.${far}.${'A'.repeat(43)}`])
    assert.equal(await ask(pass), '{"status":"alive"}');
});

/** What port 80 answers; it cannot be had in a test. */
const PLAIN: Readonly<Record<string, [status: number, body: string, ours: boolean, verdict: string]>> = {
  'redirects programs': [301, '', false, 'warning'],
  'hands them to the service': [400, '{"error":"unsupported_grant_type"}', true, 'wrong'],
  'lets the service refuse them': [400, '{"error_description":"this was sent by plain http"}', true, 'ok'],
  'refuses them': [403, '', false, 'ok'],
};

for (const [what, [status, body, ours, verdict]] of Object.entries(PLAIN))
  test(`RFC 6749 §10.9: a port for plain http that ${what} is ${verdict}`, async () => {
    const findings = await examineAddress({
      url: 'https://auth.example',
      is: 'app',
      pass: () => '',
      isServed: true,
      proxyIdleTimeout: 0,
      ask: async (url) => ({
        kind: 'answered',
        status: url.startsWith('http:') ? status : 200,
        headers: ours ? { 'x-request-id': 'x' } : {},
        counts: {},
        body: url.startsWith('http:') ? body : '{"status":"alive"}',
        date: 0,
        at: 0,
        certificateEndsAt: null,
      }),
    });
    assert.equal(findings.find(({ name }) => name === 'plain http')?.verdict, verdict);
  });
