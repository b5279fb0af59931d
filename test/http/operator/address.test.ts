// The operators' address: what is there, and that neither it nor the users' addresses serve anything of the other.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freePort, startTestService } from '../../support/service.ts';

const OF_USERS = [
  '/auth/oauth2/authorize',
  '/oauth2/authorize',
  '/oauth2/token',
  '/api/auth/oauth/token',
  '/api/auth/oauth/users',
  '/v2/me',
  '/account',
  '/device',
  '/developers',
  '/readyz',
  '/.well-known/oauth-authorization-server',
  '/.well-known/oauth-protected-resource',
];

test('operators §1: the operators’ address answers /healthz, and nothing of the app’s and the API’s', async (t) => {
  const service = await startTestService(t, { VALETKEY_OPERATOR_URL: `http://localhost:${await freePort()}` });
  const { operatorUrl, appUrl, apiUrl } = service;
  assert.deepEqual(await (await fetch(`${operatorUrl}/healthz`)).json(), { status: 'alive' });
  for (const path of OF_USERS)
    for (const method of ['GET', 'POST'])
      assert.equal((await fetch(operatorUrl + path, { method, redirect: 'manual' })).status, 404, `${method} ${path}`);
  const description = await (await fetch(`${appUrl}/openapi.json`)).text();
  assert.ok(!description.includes(String(operatorUrl)));
  for (const path of ['/v1/clients', '/v1/status', '/enroll', '/confirm', '/operators'])
    for (const url of [appUrl, apiUrl]) {
      const answer = await fetch(url + path);
      assert.equal(answer.status, 404, url + path);
      assert.ok(!(await answer.text()).includes(String(operatorUrl)), 'nobody is shown the way');
    }
});
