/** What agents publish of themselves is admitted by `client register --from`; a test's look-up and authority stand in for their hosts. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import dns from 'node:dns';
import { once } from 'node:events';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import tls, { createSecureContext } from 'node:tls';
import { isRegisteredRedirectUri } from '../../src/oauth/clients/redirect-uri.ts';
import { makeCertificate } from '../support/certificate.ts';
import { runCommand } from '../support/command.ts';
import { ProgramOnDisk } from '../support/program.ts';
import { PUBLISHED } from './published-documents.ts';

const authority = makeCertificate(Date.now(), 3_600_000);
const contexts = new Map(
  [...new Set(Object.values(PUBLISHED).map(({ members }) => new URL(members.client_id).hostname))].map((host) => {
    const { key, cert } = makeCertificate(Date.now(), 3_600_000, { host, authority });
    return [host, createSecureContext({ key, cert })];
  }),
);
/** Texts by host and path. */
const served = new Map<string, string>();
const server = https.createServer(
  { SNICallback: (host, done) => done(null, contexts.get(host)) },
  ({ headers, url }, response) => {
    const text = served.get(`https://${headers.host}${url}`);
    response.writeHead(text === undefined ? 404 : 200, { 'Content-Type': 'application/json' }).end(text);
  },
);
await once(server.listen(0, '127.0.0.1'), 'listening');
after(() => {
  server.closeAllConnections();
  server.close();
});
const { port } = server.address() as AddressInfo;
// The commands run in this process, and find these hosts here.
tls.setDefaultCACertificates([...tls.getCACertificates(), authority.cert]);
const { lookup } = dns;
dns.lookup = ((name: string, ...rest: never[]) =>
  (lookup as (...all: unknown[]) => void)(contexts.has(name) ? '127.0.0.1' : name, ...rest)) as typeof lookup;

/** The text, with the port of the test's server in addresses of the document's own host. */
function here(text: string, host: string): string {
  return text.replaceAll(`https://${host}`, `https://${host}:${port}`);
}

for (const [name, { members, sends }] of Object.entries(PUBLISHED))
  test(`draft-ietf-oauth-client-id-metadata-document §4: the document of ${name} is admitted as it is published`, async (t) => {
    const { host } = new URL(members.client_id);
    const address = here(members.client_id, host);
    served.set(address, here(JSON.stringify(members), host));
    const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const key = { ...publicKey.export({ format: 'jwk' }), kid: 'test', alg: 'RS256', use: 'sig' };
    served.set(here(String(members['jwks_uri']), host), JSON.stringify({ keys: [key] }));

    const program = await ProgramOnDisk.make(t);
    const variables = {
      VALETKEY_APP_URL: 'https://auth.example',
      VALETKEY_API_URL: 'https://api.example',
      VALETKEY_OUTBOUND_PRIVATE_NETWORKS: '127.0.0.0/8',
    };
    const valetkey = async (...words: string[]) => {
      const { code, stdout, stderr } = await runCommand(words, { ...program.variables, ...variables });
      assert.equal(code, 0, stderr);
      return { stdout, stderr };
    };
    const { stderr } = await valetkey('client', 'register', '--from', address, '--yes');
    assert.doesNotMatch(stderr, /left out/);
    const client = JSON.parse((await valetkey('client', 'show', address, '--json')).stdout);
    assert.equal(client.name, members['client_name']);
    assert.equal(client.homepage, here(String(members['client_uri']), host));
    assert.deepEqual(client.redirect_uris, JSON.parse(here(JSON.stringify(members['redirect_uris']), host)));
    const hasKeys = 'jwks_uri' in members;
    assert.deepEqual([client.type, client.keys.length], hasKeys ? ['confidential', 1] : ['public', 0]);
    assert.ok(isRegisteredRedirectUri(client.redirect_uris, here(sends, host), client.type), sends);
  });
