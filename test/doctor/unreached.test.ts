/** `doctor` where a public address cannot be reached: each reason for real, with a TLS server, and its remedy tried. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import https from 'node:https';
import net, { type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, type TestContext, test } from 'node:test';
import tls from 'node:tls';
import { makeCertificate, type TestCertificate } from '../support/certificate.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { freePort } from '../support/service.ts';

const DAY_MS = 86_400_000;
const now = Date.now();
const authority = makeCertificate(now, DAY_MS, { host: 'authority' });
const expired = makeCertificate(now - 9 * DAY_MS, DAY_MS);
const early = makeCertificate(now + 9 * DAY_MS, DAY_MS);
const another = makeCertificate(now, 90 * DAY_MS, { host: 'other.example' });
tls.setDefaultCACertificates([
  ...tls.getCACertificates('default'),
  ...[expired, early, another].map(({ cert }) => cert),
]);

const program = await ProgramOnDisk.make({ after });
assert.equal((await program.command(['database', 'migrate'])).code, 0);

/** Starts a server that speaks TLS with a certificate; returns its port. */
async function serveTls(t: TestContext, certificate: TestCertificate, chain = certificate.cert): Promise<number> {
  const { key } = certificate;
  const server = https.createServer({ key, cert: chain }, (_, response) => response.writeHead(502).end());
  return listen(t, server);
}

async function listen(t: TestContext, server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** What the doctor says of the address. */
async function reached(url: string) {
  const variables = { VALETKEY_APP_URL: url, VALETKEY_API_URL: url, VALETKEY_TRUSTED_PROXIES: '127.0.0.1' };
  const { stdout } = await program.command(['doctor', '--json'], variables);
  return findingOf(stdout);
}

function findingOf(json: string) {
  const all = JSON.parse(json) as { name: string; verdict: string; detail: string; remedy: string | null }[];
  const { verdict, detail, remedy } = all.find(({ name }) => name === 'reached') ?? assert.fail(json);
  return `${verdict}: ${detail}: ${remedy}`;
}

/** What is shown, and what is said: the detail and its remedy. */
const SHOWN: Readonly<Record<string, [certificate: TestCertificate, said: RegExp, chain?: string]>> = {
  'is self-signed': [
    makeCertificate(now, DAY_MS),
    /self-signed, .*: set NODE_EXTRA_CA_CERTS .* to the file of this certificate itself, .* public authority$/,
  ],
  'comes with an authority that nobody knows': (() => {
    const signed = makeCertificate(now, DAY_MS, { authority });
    const said = /unknown here: set NODE_EXTRA_CA_CERTS .* to the file of the certificate of the authority/;
    return [signed, said, signed.cert + authority.cert] as const;
  })() as [TestCertificate, RegExp, string],
  'comes without that of who signed it': [
    makeCertificate(now, DAY_MS, { authority }),
    /without the intermediate one, or .*: configure the proxy to send the whole chain .*; .* NODE_EXTRA_CA_CERTS/,
  ],
  'has expired': [expired, /has expired: renew it, .* or set the clock of this machine if it is not 20\S+ UTC$/],
  'is not valid yet': [
    early,
    /not valid yet: set the clock of this machine .*; otherwise configure a valid certificate at the proxy/,
  ],
  'is for another name': [
    another,
    /is for other\.example, 127\.0\.0\.1, not for localhost: configure a certificate for localhost at the proxy /,
  ],
};

for (const [what, [certificate, said, chain]] of Object.entries(SHOWN))
  test(`the doctor says what to do about a certificate that ${what}, whether a service runs or not`, async (t) => {
    const port = await serveTls(t, certificate, chain);
    const finding = await reached(`https://localhost:${port}`);
    assert.match(finding, said);
    assert.match(finding, /^wrong: https:\/\/localhost:\d+: its TLS certificate /);
  });

test('the doctor reaches an address whose certificate NODE_EXTRA_CA_CERTS names, as it advised', async (t) => {
  const own = makeCertificate(now, DAY_MS);
  const signed = makeCertificate(now, DAY_MS, { authority });
  for (const [certificate, trusted] of [
    [own, own],
    [signed, authority],
  ] as const) {
    const port = await serveTls(t, certificate);
    const file = join(program.folder, 'trusted.pem');
    writeFileSync(file, trusted.cert);
    const url = `https://localhost:${port}`;
    const variables = { VALETKEY_APP_URL: url, VALETKEY_API_URL: url, NODE_EXTRA_CA_CERTS: file };
    const { stdout } = await program.run(['doctor', '--json'], variables);
    assert.match(findingOf(stdout), /answers 502/);
  }
});

test('RFC 6066 §3: the doctor says what to do where a proxy has no certificate for the name', async (t) => {
  const server = net.createServer((socket) => socket.once('data', () => socket.end(UNRECOGNIZED_NAME)));
  const finding = await reached(`https://localhost:${await listen(t, server)}`);
  assert.match(
    finding,
    /^wrong: .* no TLS certificate for its host name: configure a certificate for localhost at the proxy /,
  );
});

/** A fatal alert of TLS 1.2, and so of a server that chose no version yet. */
const UNRECOGNIZED_NAME = Buffer.from('15030300020270', 'hex');

test('the doctor says what to do about a name that nobody knows, and waits with nobody there for a service', async () => {
  assert.match(await reached('https://auth.invalid'), /^wrong: .*: (add the name to the DNS|check that this machine)/);
  // No route leads to the address of everybody at once.
  assert.match(
    await reached('https://255.255.255.255'),
    /^wrong: .*no way leads there from here: check that the name has /,
  );
  const finding = await reached(`https://localhost:${await freePort()}`);
  assert.match(finding, /^warning: .*: nothing listens there, and no service runs .*: start it with "valetkey serve"/);
});

test('RFC 6761 §6.3: a name under localhost leads to this machine, whatever the resolver knows', async (t) => {
  const certificate = makeCertificate(now, 90 * DAY_MS, { host: 'auth.localhost' });
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), certificate.cert]);
  const port = await serveTls(t, certificate);
  assert.match(await reached(`https://auth.localhost:${port}`), /answers 502/);
});
