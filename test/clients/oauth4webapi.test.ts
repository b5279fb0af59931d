import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import { REDIRECT_URI } from '../support/service.ts';
import { addApp, addResourceServer, allowDevice, makeKeyPair } from './registered.ts';
import { type App, allow, assertWorks, decide, type Pair, pairOf, saysInvalidGrant, startWorld, walk } from './walk.ts';

const world = await startWorld({ after });
const { service, browser } = world;
/** The service of the test has no TLS, as it is on loopback. */
const insecure = { [oauth.allowInsecureRequests]: true };
const issuer = new URL(service.appUrl);
const server = await oauth.processDiscoveryResponse(
  issuer,
  await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
);

/** An app as the library's examples write it, optionally with its request pushed. */
function appOf(client: oauth.Client, authentication: oauth.ClientAuth, push = false): App {
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  return {
    async start() {
      const url = new URL(String(server.authorization_endpoint));
      const asked = new URLSearchParams({
        client_id: client.client_id,
        redirect_uri: REDIRECT_URI,
        response_type: 'code',
        scope: 'read',
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      });
      if (push) {
        const answer = await oauth.pushedAuthorizationRequest(server, client, authentication, asked, insecure);
        const { request_uri } = await oauth.processPushedAuthorizationResponse(server, client, answer);
        url.search = String(new URLSearchParams({ client_id: client.client_id, request_uri }));
      } else url.search = String(asked);
      return url;
    },
    async finish(callback) {
      const response = oauth.validateAuthResponse(server, client, callback, state);
      const answer = await oauth.authorizationCodeGrantRequest(
        server,
        client,
        authentication,
        response,
        REDIRECT_URI,
        verifier,
        insecure,
      );
      return pairOf(await oauth.processAuthorizationCodeResponse(server, client, answer));
    },
    async refresh({ refreshToken }) {
      const answer = await oauth.refreshTokenGrantRequest(server, client, authentication, refreshToken, insecure);
      return pairOf(await oauth.processRefreshTokenResponse(server, client, answer));
    },
    async revoke({ accessToken }) {
      const answer = await oauth.revocationRequest(server, client, authentication, accessToken, insecure);
      await oauth.processRevocationResponse(answer);
    },
  };
}

/** Introspects as a resource server does. */
async function introspect(resourceServer: { id: string; secret: string }, { accessToken }: Pair) {
  const authentication = oauth.ClientSecretBasic(resourceServer.secret);
  const client = { client_id: resourceServer.id };
  const answer = await oauth.introspectionRequest(server, client, authentication, accessToken, insecure);
  return oauth.processIntrospectionResponse(server, client, answer);
}

describe('oauth4webapi', { concurrency: true }, () => {
  for (const [method, authentication] of Object.entries({
    client_secret_basic: oauth.ClientSecretBasic,
    client_secret_post: oauth.ClientSecretPost,
  }))
    test(`RFC 6749 §4.1: oauth4webapi lives a grant with ${method}`, async () => {
      const client = await addApp(service);
      await walk(world, client, appOf({ client_id: client.clientId }, authentication(client.clientSecret)));
    });

  test('RFC 7636 §4: oauth4webapi as a public client', async () => {
    const client = await addApp(service, {}, 'public');
    await walk(world, client, appOf({ client_id: client.clientId }, oauth.None()));
  });

  for (const alg of ['ES256', 'PS256', 'RS256', 'Ed25519'] as const)
    test(`RFC 7523 §2.2: oauth4webapi with private_key_jwt and ${alg}`, async () => {
      const { jwk, privateKey, kid } = await makeKeyPair(alg);
      const client = await addApp(service, { keys: [jwk] });
      const authentication = oauth.PrivateKeyJwt({ key: privateKey, kid });
      await walk(world, client, appOf({ client_id: client.clientId }, authentication));
    });

  test('RFC 9126 §2: oauth4webapi pushes its request as a public client', async () => {
    const client = await addApp(service, {}, 'public');
    await walk(world, client, appOf({ client_id: client.clientId }, oauth.None(), true));
  });

  test('RFC 9207 §2.4: oauth4webapi refuses a response that names another issuer, and takes a Deny as it is', async () => {
    const { clientId } = await addApp(service, {}, 'public');
    const app = appOf({ client_id: clientId }, oauth.None());
    const callback = await decide(browser, await app.start(), 'deny');
    await assert.rejects(app.finish(callback), { name: 'AuthorizationResponseError', error: 'access_denied' });
    callback.searchParams.set('iss', 'https://elsewhere.example');
    await assert.rejects(app.finish(callback), /unexpected "iss"/);
  });

  test('RFC 8628 §3.5: oauth4webapi polls, waits while nobody has decided, and gets its pair', async () => {
    const client = await addApp(service, { deviceFlow: true }, 'public');
    const device: oauth.Client = { client_id: client.clientId };
    const asked = await oauth.deviceAuthorizationRequest(server, device, oauth.None(), { scope: 'read' }, insecure);
    const { device_code, verification_uri_complete, interval } = await oauth.processDeviceAuthorizationResponse(
      server,
      device,
      asked,
    );
    const poll = async () => {
      const answer = await oauth.deviceCodeGrantRequest(server, device, oauth.None(), device_code, insecure);
      return oauth.processDeviceCodeResponse(server, device, answer);
    };
    await assert.rejects(poll(), { name: 'ResponseBodyError', error: 'authorization_pending' });
    await assert.rejects(poll(), { name: 'ResponseBodyError', error: 'slow_down' });
    await allowDevice(browser, String(verification_uri_complete));
    service.clock.advance(2 * Number(interval));
    const pair = pairOf(await poll());
    await assertWorks(service, client, pair);
    await appOf(device, oauth.None()).revoke?.(pair);
    await assert.rejects(appOf(device, oauth.None()).refresh(pair), saysInvalidGrant);
  });

  test('RFC 7662 §2.2: oauth4webapi introspects as a resource server that the metadata of RFC 9728 §3 leads to', async () => {
    const resource = new URL(service.apiUrl);
    const found = await oauth.processResourceDiscoveryResponse(
      resource,
      await oauth.resourceDiscoveryRequest(resource, insecure),
    );
    assert.deepEqual(found.authorization_servers, [service.appUrl]);
    const client = await addApp(service);
    const app = appOf({ client_id: client.clientId }, oauth.ClientSecretBasic(client.clientSecret));
    const pair = await app.finish(await allow(browser, await app.start()));
    const resourceServer = await addResourceServer(service);
    const told = await introspect(resourceServer, pair);
    assert.equal(told.active, true);
    assert.equal(told.client_id, client.clientId);
    assert.equal(told.iss, service.appUrl);
    assert.equal((await introspect(resourceServer, { ...pair, accessToken: pair.refreshToken })).active, false);
    await app.revoke?.(pair);
    assert.deepEqual(await introspect(resourceServer, pair), { active: false });
  });
});
