import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import * as openid from 'openid-client';
import { REDIRECT_URI } from '../support/service.ts';
import { addApp, addResourceServer, allowDevice, makeKeyPair } from './registered.ts';
import { type App, allow, assertWorks, pairOf, startWorld, walk } from './walk.ts';

const world = await startWorld({ after });
const { service, browser } = world;

/** The library's configuration, from the metadata; without TLS only because the test's service is on loopback. */
function discover(clientId: string, authentication: openid.ClientAuth): Promise<openid.Configuration> {
  return openid.discovery(new URL(service.appUrl), clientId, undefined, authentication, {
    algorithm: 'oauth2',
    execute: [openid.allowInsecureRequests],
  });
}

/** An app as the library's guide writes it; `authorizationUrl` is where PAR differs. */
function appOf(
  configuration: openid.Configuration,
  authorizationUrl: typeof openid.buildAuthorizationUrlWithPAR | typeof openid.buildAuthorizationUrl,
): App {
  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const expectedState = openid.randomState();
  return {
    async start() {
      return authorizationUrl(configuration, {
        redirect_uri: REDIRECT_URI,
        scope: 'read',
        state: expectedState,
        code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
      });
    },
    finish: async (callback) =>
      pairOf(await openid.authorizationCodeGrant(configuration, callback, { pkceCodeVerifier, expectedState })),
    refresh: async ({ refreshToken }) => pairOf(await openid.refreshTokenGrant(configuration, refreshToken)),
    revoke: ({ refreshToken }) => openid.tokenRevocation(configuration, refreshToken),
  };
}

describe('openid-client', { concurrency: true }, () => {
  const methods = {
    client_secret_basic: openid.ClientSecretBasic,
    client_secret_post: openid.ClientSecretPost,
  };
  for (const [method, authentication] of Object.entries(methods))
    test(`RFC 8414 §3: openid-client discovers the service and lives a grant with ${method}`, async () => {
      const client = await addApp(service);
      const configuration = await discover(client.clientId, authentication(client.clientSecret));
      assert.ok(configuration.serverMetadata().supportsPKCE());
      await walk(world, client, appOf(configuration, openid.buildAuthorizationUrl));
    });

  test('RFC 7636 §4: openid-client as a public client', async () => {
    const client = await addApp(service, {}, 'public');
    const configuration = await discover(client.clientId, openid.None());
    await walk(world, client, appOf(configuration, openid.buildAuthorizationUrl));
  });

  test('RFC 7523 §2.2: openid-client with private_key_jwt, and RFC 9126 §2: with a pushed request', async () => {
    const { jwk, privateKey, kid } = await makeKeyPair('ES256');
    const client = await addApp(service, { keys: [jwk] });
    const configuration = await discover(client.clientId, openid.PrivateKeyJwt({ key: privateKey, kid }));
    await walk(world, client, appOf(configuration, openid.buildAuthorizationUrlWithPAR));
  });

  test('RFC 9126 §4: a pushed request of openid-client is one parameter in the browser', async () => {
    const client = await addApp(service);
    const app = appOf(
      await discover(client.clientId, openid.ClientSecretBasic(client.clientSecret)),
      openid.buildAuthorizationUrlWithPAR,
    );
    const url = new URL(String(await app.start()));
    assert.deepEqual([...url.searchParams.keys()].sort(), ['client_id', 'request_uri']);
    await assertWorks(service, client, await app.finish(await allow(browser, url)));
  });

  test('RFC 8628 §3.4: openid-client polls until the person has allowed the device', async () => {
    const client = await addApp(service, { deviceFlow: true }, 'public');
    const configuration = await discover(client.clientId, openid.None());
    const device = await openid.initiateDeviceAuthorization(configuration, { scope: 'read' });
    await allowDevice(browser, String(device.verification_uri_complete));
    await assertWorks(service, client, pairOf(await openid.pollDeviceAuthorizationGrant(configuration, device)));
  });

  test('RFC 7662 §2.2: openid-client introspects as a resource server', async () => {
    const client = await addApp(service);
    const app = appOf(
      await discover(client.clientId, openid.ClientSecretBasic(client.clientSecret)),
      openid.buildAuthorizationUrl,
    );
    const pair = await app.finish(await allow(browser, await app.start()));
    const resourceServer = await addResourceServer(service);
    const configuration = await discover(resourceServer.id, openid.ClientSecretBasic(resourceServer.secret));
    const { active, client_id, scope } = await openid.tokenIntrospection(configuration, pair.accessToken);
    assert.deepEqual({ active, client_id, scope }, { active: true, client_id: client.clientId, scope: 'read' });
    await app.revoke?.(pair);
    assert.deepEqual(await openid.tokenIntrospection(configuration, pair.accessToken), { active: false });
  });
});
