/** What agents publish of themselves is admitted by `client register --from`; a test's look-up and authority stand in for their hosts. */
import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import https from 'node:https';
import { type AddressInfo, BlockList } from 'node:net';
import { after, test } from 'node:test';
import { createSecureContext } from 'node:tls';
import { isRegisteredRedirectUri } from '../../src/oauth/redirect-uri.ts';
import { ClientDocuments } from '../../src/operator/client-documents.ts';
import { ClientRegistry } from '../../src/operator/client-registry.ts';
import { Outbound } from '../../src/process/outbound.ts';
import { openMemory, operator } from '../oauth/memory.ts';
import { PREFIX } from '../oauth/samples.ts';
import { makeCertificate } from '../support/certificate.ts';
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

    const { store, clock } = await openMemory(t);
    const now = () => clock.now;
    const clients = new ClientRegistry({ store, prefix: PREFIX, accessTokenLifetime: 1800, now }, operator);
    const privateNetworks = new BlockList();
    privateNetworks.addAddress('127.0.0.1');
    const world = { resolve: async () => ['127.0.0.1'], certificateAuthority: authority.cert, now };
    const outbound = new Outbound({ isLocal: false, privateNetworks }, world);
    const fetchJson = (url: string, most: number) => outbound.fetchJson(url, most);
    const documents = new ClientDocuments({ store, clients, isLocal: false, fetchJson, now });

    const fetched = await documents.fetch(address);
    const client = await documents.register(fetched, { name: undefined });
    assert.deepEqual(
      fetched.notes.filter((note) => !note.startsWith('ignored: ')),
      [],
      'nothing is left out',
    );
    assert.equal(client.name, members['client_name']);
    assert.equal(client.homepage, here(String(members['client_uri']), host));
    assert.deepEqual(client.redirectUris, JSON.parse(here(JSON.stringify(members['redirect_uris']), host)));
    const hasKeys = 'jwks_uri' in members;
    assert.deepEqual([client.type, client.keys.length], hasKeys ? ['confidential', 1] : ['public', 0]);
    assert.ok(isRegisteredRedirectUri(client.redirectUris, here(sends, host), client.type), sends);
  });
