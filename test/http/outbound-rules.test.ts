/** All that the service asks of addresses that others wrote goes by the same rules, those of `process/outbound.ts`. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import net, { type AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { OperatorError } from '../../src/oauth/error.ts';
import { registerProvider } from '../support/provider.ts';
import { freePort, startTestService } from '../support/service.ts';
import { assertionFields, makeKey, post } from '../support/standard.ts';

/** A service that is not on loopback, and a host that is, which counts its connections. */
async function setUp(t: TestContext, variables: Record<string, string> = {}) {
  const host = { connections: 0 };
  const server = net.createServer((socket) => {
    host.connections += 1;
    socket.destroy();
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => void server.close());
  const service = await startTestService(t, {
    VALETKEY_APP_URL: 'https://auth.example',
    VALETKEY_API_URL: 'https://api.example',
    VALETKEY_APP_LISTEN: `127.0.0.1:${await freePort()}`,
    VALETKEY_API_LISTEN: `127.0.0.1:${await freePort()}`,
    VALETKEY_TRUSTED_PROXIES: '127.0.0.1',
    ...variables,
  });
  return { service, host, origin: `https://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

type SetUp = Awaited<ReturnType<typeof setUp>>;

/** What each request to others says when it may not reach a private address, or when it does and finds no TLS there. */
const REQUESTS: Readonly<Record<string, (its: SetUp) => Promise<string>>> = {
  async 'a metadata document'({ service, origin }) {
    const refused = await service.installation.clientDocuments.fetch(`${origin}/client.json`).catch((error) => error);
    assert.ok(refused instanceof OperatorError);
    return refused.message;
  },
  async 'the keys of an agent'({ service, origin }) {
    const key = makeKey();
    const document = { address: `${origin}/client.json`, sha256: '', jwksUri: `${origin}/keys.json`, fetchedAt: 0 };
    const settings = { name: 'Agent', redirectUris: ['https://agent.example/cb'], keys: [key.jwk] };
    const { row: client } = await service.installation.clients.register(
      'confidential',
      settings,
      service.installation.operator,
      document,
    );
    const about = { clientId: client.id, clientSecret: '' };
    const fields = await assertionFields(service, about, key, { aud: 'https://auth.example' }, { kid: 'new' });
    const asked = { grant_type: 'refresh_token', refresh_token: 'x', ...fields };
    const { status } = await post(service, 'token', asked, { 'X-Forwarded-Proto': 'https' });
    assert.equal(status, 401);
    return service.log.find((line) => line.includes('still the old ones')) ?? assert.fail(service.log.join(''));
  },
  async 'identity-provider test'({ service, origin }) {
    await registerProvider(service, { signInUrl: `${origin}/in` });
    return JSON.stringify((await service.installation.testProvider('product')).filter(({ ok }) => !ok));
  },
};

for (const [name, request] of Object.entries(REQUESTS)) {
  test(`SSRF: ${name} is not asked for at a private address`, async (t) => {
    const its = await setUp(t);
    assert.match(await request(its), /not public \(127\.0\.0\.1\): allow it with VALETKEY_OUTBOUND_PRIVATE_NETWORKS/);
    assert.equal(its.host.connections, 0);
  });

  test(`SSRF: ${name} is asked for at a private address that the operator allowed`, async (t) => {
    const its = await setUp(t, { VALETKEY_OUTBOUND_PRIVATE_NETWORKS: '127.0.0.0/8' });
    assert.doesNotMatch(await request(its), /not public/);
    assert.equal(its.host.connections, 1);
  });
}
