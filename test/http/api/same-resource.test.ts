/** RFC 8707: an API has one identity, however a client writes its URI (RFC 3986 §6.2.3). */
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { me, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';
import {
  addResourceServer,
  allowOn,
  authorizationRequest,
  DEVICE_GRANT,
  exchangeCode,
  introspect,
  postAs,
  refreshWith,
  sentTo,
  standardCode,
  standardPair,
  standardUrl,
} from '../../support/standard.ts';

const service = await startTestService({ after });
await addUser(service);
const ada = await signedInBrowser(service);
const client = await addClient(service, { deviceFlow: true });
const REGISTERED = 'https://Mail.example';
const api = await addResourceServer(service, { resource: REGISTERED });
const SPELLINGS = ['https://mail.example/', 'https://mail.example', 'HTTPS://MAIL.EXAMPLE:443', REGISTERED];
const OTHERS = [
  'https://mail.example/v1',
  'https://mail.example//',
  'http://mail.example',
  'https://mail.example:8443',
];

/** What the API hears of a pair's access token. */
async function heard(accessToken: unknown): Promise<unknown> {
  return (await introspect(service, api, String(accessToken))).body['aud'];
}

describe('RFC 3986 §6.2.3: a resource is one however it is written, and answered as registered', {
  concurrency: true,
}, () => {
  for (const resource of SPELLINGS) {
    test(`RFC 8707 §2: ${resource} at the authorization page`, async () => {
      const { accessToken } = await standardPair(service, ada, client, { resource });
      assert.equal(await heard(accessToken), REGISTERED);
    });

    test(`RFC 8707 §2: ${resource} in a pushed request`, async () => {
      const { body } = await postAs(service, client, 'par', authorizationRequest(client, { resource }));
      const query = new URLSearchParams({ client_id: client.clientId, request_uri: String(body['request_uri']) });
      const location = await allowOn(ada, await ada.get(`${service.appUrl}/oauth2/authorize?${query}`));
      const tokens = await exchangeCode(service, client, String(location.searchParams.get('code')));
      assert.equal(await heard(tokens.body['access_token']), REGISTERED);
    });

    test(`RFC 8707 §2: ${resource} of a device`, async () => {
      const { body } = await postAs(service, client, 'device_authorization', { resource });
      const page = await ada.get(String(body['verification_uri_complete']));
      await ada.submit(page, '/device', { decision: 'allow' });
      const poll = { grant_type: DEVICE_GRANT, device_code: String(body['device_code']), resource: SPELLINGS[0] };
      const tokens = await postAs(service, client, 'token', poll);
      assert.equal(await heard(tokens.body['access_token']), REGISTERED);
    });

    test(`RFC 8707 §2.2: ${resource} at the token endpoint, with a code and a refresh token`, async () => {
      const code = await standardCode(service, ada, client, { resource: REGISTERED });
      const tokens = await exchangeCode(service, client, code, { resource });
      const refreshed = await refreshWith(service, client, String(tokens.body['refresh_token']), { resource });
      assert.equal(await heard(refreshed.body['access_token']), REGISTERED);
    });
  }

  test('RFC 8707 §2: another path, scheme or port is another resource, everywhere', async () => {
    for (const resource of OTHERS) {
      const location = sentTo(await ada.get(standardUrl(service, client, { resource })));
      assert.equal(location.searchParams.get('error'), 'invalid_target', resource);
      for (const [endpoint, fields] of [
        ['par', authorizationRequest(client, { resource })],
        ['device_authorization', { resource }],
      ] as const)
        assert.equal((await postAs(service, client, endpoint, fields)).body['error'], 'invalid_target', resource);
      const code = await standardCode(service, ada, client, { resource: REGISTERED });
      assert.equal((await exchangeCode(service, client, code, { resource })).body['error'], 'invalid_target', resource);
    }
  });

  test('RFC 8707 §2: the own API likewise', async () => {
    const { accessToken } = await standardPair(service, ada, client, { resource: `${service.apiUrl}/` });
    assert.equal((await me(service, accessToken)).status, 200);
    const ofMail = await standardPair(service, ada, client, { resource: SPELLINGS[0] });
    assert.equal((await me(service, ofMail.accessToken)).status, 401);
  });
});
