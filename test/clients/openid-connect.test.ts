/** Signing in with libraries as they are: from discovery to userinfo, with every check of theirs. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import * as oauth from 'oauth4webapi';
import * as openid from 'openid-client';
import { addClient, REDIRECT_URI } from '../support/service.ts';
import { allow, startWorld } from './walk.ts';

const world = await startWorld({ after });
const { service, browser } = world;
const issuer = new URL(service.appUrl);
/** Without TLS only because the test's service is on loopback. */
const onLoopback = { [oauth.allowInsecureRequests]: true };

const addApp = () => addClient(service, { signIn: true, consent: 'ask' });

describe('OpenID Connect Core §3.1: libraries sign a user in', { concurrency: true }, () => {
  test('OpenID Connect Core §3.1.3.3: openid-client, with nonce, state, PKCE, max_age and the algorithm of the metadata', async () => {
    const { clientId, clientSecret } = await addApp();
    const configuration = await openid.discovery(issuer, clientId, undefined, openid.ClientSecretBasic(clientSecret), {
      execute: [openid.allowInsecureRequests, openid.enableNonRepudiationChecks],
    });
    const [pkceCodeVerifier, expectedNonce, expectedState] = [
      openid.randomPKCECodeVerifier(),
      openid.randomNonce(),
      openid.randomState(),
    ];
    const url = openid.buildAuthorizationUrl(configuration, {
      redirect_uri: REDIRECT_URI,
      scope: 'openid profile email',
      nonce: expectedNonce,
      state: expectedState,
      max_age: '3600',
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    const callback = await allow(browser, url);
    const checks = { pkceCodeVerifier, expectedNonce, expectedState, idTokenExpected: true, maxAge: 3600 };
    const tokens = await openid.authorizationCodeGrant(configuration, callback, checks);
    const claims = tokens.claims();
    assert.ok(claims);
    assert.deepEqual(
      [claims['name'], claims['email'], claims['email_verified']],
      ['Ada Example', 'ada@example.com', true],
    );
    const info = await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub);
    assert.deepEqual(info, { sub: claims.sub, name: 'Ada Example', email: 'ada@example.com', email_verified: true });
    const again = { code: String(callback.searchParams.get('code')) };
    await assert.rejects(openid.genericGrantRequest(configuration, 'authorization_code', again));
  });

  test('OpenID Connect Core §3.1.3.3: oauth4webapi, with the signature of the ID token checked against the key set', async () => {
    const { clientId, clientSecret } = await addApp();
    const discovered = await oauth.discoveryRequest(issuer, { algorithm: 'oidc', ...onLoopback });
    const server = await oauth.processDiscoveryResponse(issuer, discovered);
    const client = { client_id: clientId, id_token_signed_response_alg: 'RS256' };
    const [verifier, nonce, state] = [
      oauth.generateRandomCodeVerifier(),
      oauth.generateRandomNonce(),
      oauth.generateRandomState(),
    ];
    const url = new URL(String(server.authorization_endpoint));
    const asked = {
      ...{ client_id: clientId, redirect_uri: REDIRECT_URI, response_type: 'code', scope: 'openid email' },
      ...{
        nonce,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
      },
    };
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    const parameters = oauth.validateAuthResponse(server, client, await allow(browser, url), state);
    const authentication = oauth.ClientSecretPost(clientSecret);
    const response = await oauth.authorizationCodeGrantRequest(
      ...([server, client, authentication, parameters, REDIRECT_URI, verifier, onLoopback] as const),
    );
    const checks = { expectedNonce: nonce, requireIdToken: true };
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response, checks);
    await oauth.validateApplicationLevelSignature(server, response, onLoopback);
    const claims = oauth.getValidatedIdTokenClaims(tokens);
    assert.deepEqual(
      [claims?.['email'], claims?.['name'], tokens.refresh_token],
      ['ada@example.com', undefined, undefined],
    );
    const info = await oauth.userInfoRequest(server, client, tokens.access_token, onLoopback);
    const { email } = await oauth.processUserInfoResponse(server, client, String(claims?.sub), info);
    assert.equal(email, 'ada@example.com');
  });
});
