/** What clients send by habit on the standard face, whatever the metadata says. */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { asJson, postForm, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, REDIRECT_URI, startTestService } from '../../support/service.ts';
import {
  allowOn,
  authorizationRequest,
  DEVICE_GRANT,
  exchangeCode,
  type Fields,
  postAs,
  refreshWith,
  scopes,
  sentTo,
  standardCode,
  standardPair,
  standardUrl,
  VERIFIER,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const ada = await signedInBrowser(service);
const client = await addClient(service, { scopes: scopes('read', 'write'), deviceFlow: true });
const ofOpenId = await addClient(service, { scopes: scopes('read', 'email'), deviceFlow: true });
const { appUrl, apiUrl } = service;

/** The scope that an authorization request ends in, through the page that `url` opens. */
async function grantedAt(url: string, of = client): Promise<unknown> {
  const code = (await allowOn(ada, await ada.get(url))).searchParams.get('code') ?? '';
  return (await exchangeCode(service, of, code)).body['scope'];
}

describe('RFC 6749 §3.3: what clients of OpenID Connect add by habit is left out', { concurrency: true }, () => {
  const asked: [scope: string, granted: string][] = [
    ['openid profile email offline_access', 'read write'],
    ['openid', 'read write'],
    ['offline_access read', 'read'],
    ['read openid write', 'read write'],
  ];
  for (const [scope, granted] of asked) {
    test(`RFC 6749 §3.3: of "${scope}" the authorization page grants "${granted}", and the answer says so`, async () => {
      assert.equal(await grantedAt(standardUrl(service, client, { scope })), granted);
    });

    test(`RFC 6749 §3.3: of "${scope}" a pushed request grants "${granted}"`, async () => {
      const { body } = await postAs(service, client, 'par', authorizationRequest(client, { scope }));
      const query = new URLSearchParams({ client_id: client.clientId, request_uri: String(body['request_uri']) });
      assert.equal(await grantedAt(`${appUrl}/oauth2/authorize?${query}`), granted);
    });

    test(`RFC 6749 §3.3: of "${scope}" a device is granted "${granted}"`, async () => {
      const { body } = await postAs(service, client, 'device_authorization', { scope });
      const page = await ada.get(String(body['verification_uri_complete']));
      assert.equal((await ada.submit(page, '/device', { decision: 'allow' })).status, 200);
      const poll = { grant_type: DEVICE_GRANT, device_code: String(body['device_code']) };
      assert.equal((await postAs(service, client, 'token', poll)).body['scope'], granted);
    });
  }

  test('RFC 6749 §3.3: a client that is registered for such a name gets it, and no other', async () => {
    const url = standardUrl(service, ofOpenId, { scope: 'openid email' });
    assert.equal(await grantedAt(url, ofOpenId), 'email');
  });

  test('RFC 6749 §3.3: any other unknown name stays refused, wherever it stands', async () => {
    for (const scope of ['openid delete', 'delete', 'OpenID', 'openid,profile', 'emails']) {
      const location = sentTo(await ada.get(standardUrl(service, client, { scope })));
      assert.equal(location.searchParams.get('error'), 'invalid_scope', scope);
      const { body } = await postAs(service, client, 'device_authorization', { scope });
      assert.equal(body['error'], 'invalid_scope', scope);
    }
  });

  test('RFC 6749 §6: a refresh that asks for them alone is for what was granted', async () => {
    let { refreshToken } = await standardPair(service, ada, client, { scope: 'read' });
    for (const scope of ['openid offline_access', 'offline_access read', 'email']) {
      const { status, body } = await refreshWith(service, client, refreshToken, { scope });
      assert.deepEqual([status, body['scope']], [200, 'read'], scope);
      refreshToken = String(body['refresh_token']);
    }
    const more = await refreshWith(service, client, refreshToken, { scope: 'openid write' });
    assert.deepEqual([more.status, more.body['error']], [400, 'invalid_scope']);
  });

  test('RFC 6749 §6: a refresh does not widen a grant by such a name that the client is registered for', async () => {
    const { refreshToken } = await standardPair(service, ada, ofOpenId, { scope: 'read' });
    const { body } = await refreshWith(service, ofOpenId, refreshToken, { scope: 'email' });
    assert.equal(body['error'], 'invalid_scope');
  });
});

test('RFC 8414 §5: clients that know OpenID Connect Discovery alone find the same metadata', async () => {
  const [own, other] = await Promise.all(
    ['oauth-authorization-server', 'openid-configuration'].map((name) => fetch(`${appUrl}/.well-known/${name}`)),
  );
  assert.equal(other?.status, 200);
  assert.deepEqual(await other?.text(), await own?.text());
});

test('RFC 8414 §2: no name that means OpenID Connect is listed, even where it is a scope here', async () => {
  for (const name of ['openid', 'profile', 'email', 'offline_access', 'calendar'])
    await service.installation.scopes.define(name, { en: 'Read something of yours' }, service.installation.operator);
  for (const url of [
    `${appUrl}/.well-known/oauth-authorization-server`,
    `${apiUrl}/.well-known/oauth-protected-resource`,
  ])
    assert.deepEqual((await asJson(await fetch(url))).body['scopes_supported'], ['calendar']);
});

describe('RFC 9396 §5: authorization details are refused, and never ignored', { concurrency: true }, () => {
  const details = JSON.stringify([{ type: 'payment', amount: 1 }]);

  test('RFC 9396 §5: at the authorization page', async () => {
    const { searchParams } = sentTo(await ada.get(standardUrl(service, client, { authorization_details: details })));
    assert.equal(searchParams.get('error'), 'invalid_authorization_details');
    assert.equal(searchParams.get('state'), 'xyz');
    const empty = await ada.get(standardUrl(service, client, { authorization_details: '' }));
    assert.equal(empty.status, 200, 'without a value it did not come');
  });

  const posts: [name: string, endpoint: string, fields: () => Promise<Fields>][] = [
    ['a pushed request', 'par', async () => authorizationRequest(client)],
    ['a device', 'device_authorization', async () => ({})],
    ['a poll', 'token', async () => ({ grant_type: DEVICE_GRANT, device_code: 'x' })],
    [
      'a code',
      'token',
      async () => {
        const code = await standardCode(service, ada, client);
        return { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
      },
    ],
    [
      'a refresh',
      'token',
      async () => {
        const { refreshToken } = await standardPair(service, ada, client);
        return { grant_type: 'refresh_token', refresh_token: refreshToken };
      },
    ],
  ];
  for (const [name, endpoint, fields] of posts)
    test(`RFC 9396 §5: of ${name}, as text and as an array of JSON`, async () => {
      const sent = { client_id: client.clientId, client_secret: client.clientSecret, ...(await fields()) };
      const form = await postForm(`${appUrl}/oauth2/${endpoint}`, { ...sent, authorization_details: details });
      const json = await asJson(
        await fetch(`${appUrl}/oauth2/${endpoint}`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ ...sent, authorization_details: JSON.parse(details) }),
        }),
      );
      for (const { status, body } of [form, json])
        assert.deepEqual([status, body['error']], [400, 'invalid_authorization_details']);
    });
});

test('RFC 9449 §5: a DPoP header is ignored, and token_type says that the token is not bound', async () => {
  const code = await standardCode(service, ada, client);
  const fields = { grant_type: 'authorization_code', code, redirect_uri: REDIRECT_URI };
  const { clientId: client_id, clientSecret: client_secret } = client;
  const proof = { DPoP: 'eyJ0eXAiOiJkcG9wK2p3dCJ9.e30.x' };
  const code_verifier = VERIFIER;
  const answer = await postForm(
    `${appUrl}/oauth2/token`,
    { ...fields, client_id, client_secret, code_verifier },
    proof,
  );
  assert.deepEqual([answer.status, answer.body['token_type']], [200, 'Bearer']);
  const headers = { ...proof, Authorization: `Bearer ${answer.body['access_token']}` };
  assert.equal((await fetch(`${apiUrl}/v2/me`, { headers })).status, 200);
  const scheme = { ...proof, Authorization: `DPoP ${answer.body['access_token']}` };
  assert.equal((await fetch(`${apiUrl}/v2/me`, { headers: scheme })).status, 401);
  const metadata = (await asJson(await fetch(`${appUrl}/.well-known/oauth-authorization-server`))).body;
  assert.equal('dpop_signing_alg_values_supported' in metadata, false);
});
