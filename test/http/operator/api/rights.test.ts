/** Every act of the operators' API on the wire, by each role and each kind of access: done, or refused and in the audit trail. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorRoutes } from '../../../../src/http/operator/api.ts';
import type { Service } from '../../../../src/http/service/service.ts';
import { grantIdText } from '../../../../src/oauth/grants/grant.ts';
import { ROLES, type Role } from '../../../../src/operator/access/operator.ts';
import { newOperatorToken, operatorTokenDigest } from '../../../../src/operator/access/operator-session.ts';
import { RIGHTS } from '../../../../src/operator/access/rights.ts';
import { obtainPair, signedInBrowser } from '../../../support/flow.ts';
import { addKey, call, type KeyHolder, startApi } from '../../../support/operator-api.ts';
import { addClient, addUser } from '../../../support/service.ts';
import { scopes } from '../../../support/standard.ts';
import { type ActRow, CHANGING, FURTHER, READING, type Samples } from './acts.ts';

const api = await startApi({ after });
const { installation } = api;
const { store } = installation.operators;
const PROVIDER = {
  ...{ name: 'Product', signInUrl: 'https://product.example/sign-in', ownIds: false, keys: [] },
  ...{ rights: ['sign-in', 'users'] as const, forOperators: false, homePage: null, sessionLifetime: null },
};
const app = await addClient(api, { scopes: scopes('mail.read') });
const user = await addUser(api);
const browser = await signedInBrowser(api);
let made = 0;
const samples = await addSamples();

/** Samples that calls may change, of their own. */
async function addSamples(): Promise<Samples> {
  const { clients, resourceServers, identityProviders, accounts, operator } = installation;
  made += 1;
  const name = `sample-${made}`;
  const invite = async (username: string) => {
    const person = { email: `${username}@example.com`, name: username, username, isOperator: false };
    return (await accounts.addInvited(person, operator)).account.id;
  };
  const register = async () => {
    const settings = { name, redirectUris: ['https://sample.test/callback'] };
    return (await clients.register('confidential', settings, operator)).row.id;
  };
  const [pausedClientId, disabledUserId] = [await register(), await invite(`${name}-disabled`)];
  await clients.rotateSecret(pausedClientId, operator);
  await clients.pause(pausedClientId, operator);
  await accounts.disable(disabledUserId, operator);
  const server = await resourceServers.register({ name, resource: null, scopes: null }, operator);
  await identityProviders.register({ ...PROVIDER, id: name }, operator);
  await installation.scopes.define(name, { en: 'Read your mail' }, operator);
  const { accessToken } = await obtainPair(api, browser, app);
  const [grant] = await installation.grants.list({ limit: 1 });
  return {
    ...{ clientId: made === 1 ? app.clientId : await register(), pausedClientId, newId: `new-${made}` },
    ...{ userId: made === 1 ? user.id : await invite(name), disabledUserId },
    ...{ serverId: server.row.id, providerId: name, scope: name, token: accessToken },
    grantId: grant ? grantIdText(grant.grant.id) : '',
  };
}

const ask = ({ path, request }: ActRow, key: string | null, headers = {}, its = samples) =>
  call(api, key, `/v1${path(its)}`, { ...request?.(its), headers });

/** The details of what was refused to an operator, as the audit trail has them. */
async function refusals({ operator, keyId }: KeyHolder): Promise<(string | null)[]> {
  const events = await store.listAuditEvents({ action: 'operator_refused', clientId: operator.id, limit: 10 });
  return events.map(({ actor, detail }) => {
    assert.deepEqual([actor.kind, actor.id, actor.by], ['operator', operator.id, keyId]);
    return detail;
  });
}

/** Calls with a key that has the rights of a row, and with one that lacks its right. */
async function callBoth(row: ActRow, role: Role, has: boolean): Promise<void> {
  const { right, also = [], act, done = 200 } = row;
  const able = await addKey(api, role, [right, ...also]);
  const others = RIGHTS.filter((each) => each !== right);
  const unable = await addKey(api, role, others);
  const its = READING.includes(row) ? samples : await addSamples();
  for (let again = 0; again < 2; again += 1) {
    const refused = await ask(row, unable.key, {}, its);
    assert.equal(refused.status, 403, `${role}: ${JSON.stringify(refused.body)}`);
    assert.equal((refused.body['error'] as { code: string }).code, 'forbidden');
  }
  const [detail, ...more] = await refusals(unable);
  assert.ok(detail?.startsWith(`{"act":"${act}",`), detail ?? 'nothing is in the audit trail');
  assert.deepEqual(more, [], 'once an hour');
  const answer = await ask(row, able.key, {}, its);
  assert.equal(answer.status, has ? done : 403, `${role}: ${JSON.stringify(answer.body)}`);
  assert.equal((await refusals(able)).length, has ? 0 : 1);
  if (role !== 'admin') assert.doesNotMatch(JSON.stringify(answer.body), /vk_(cs|rs|ps)_|[?&]token=/, 'no secret');
}

for (const row of [...READING, ...CHANGING])
  test(`rights on the wire: ${row.act} by each role and key`, async () => {
    for (const role of ROLES) await callBoth(row, role, ROLES.indexOf(role) >= ROLES.indexOf(row.role));
  });

for (const row of FURTHER)
  test(`rights on the wire: ${row.act} as a part of ${JSON.stringify(row.request?.(samples).json)}`, () =>
    callBoth(row, 'admin', true));

test('the cookie of a session of the console is worth nothing here', async () => {
  const { operator } = await addKey(api);
  const token = newOperatorToken();
  const now = api.clock.now();
  const event = (action: 'operator_signed_in' | 'operator_sign_in_address_made') =>
    ({
      at: now,
      action,
      actor: installation.operator,
      clientId: operator.id,
      resourceOwnerId: null,
      grantId: null,
      detail: null,
    }) as const;
  const address = {
    digest: operatorTokenDigest('x'),
    operatorId: operator.id,
    purpose: 'sign-in',
    createdAt: now,
    expiresAt: now + 1,
  } as const;
  await store.addOneTimeAddress(address, event('operator_sign_in_address_made'));
  const times = { createdAt: now, lastSeenAt: now, expiresAt: now + 3_600_000, presentAt: now };
  const session = {
    digest: operatorTokenDigest(token),
    operatorId: operator.id,
    how: 'address',
    ...{ ...times, begunBy: null, confirmedBy: null },
    source: '',
    browser: '',
  } as const;
  assert.ok(await store.beginSessionByAddress(session, address.digest, event('operator_signed_in')));
  assert.ok(await installation.operators.access.bySession(token), 'the session is good');
  for (const row of [...READING, ...CHANGING])
    for (const name of ['operator_session', '__Host-operator_session'])
      assert.equal((await ask(row, null, { Cookie: `${name}=${token}` })).status, 401, row.act);
  assert.equal((await ask(READING[0] as ActRow, token)).status, 401, 'nor is its token a key');
});

test('each route of the API has its act in this table, and each act its routes', () => {
  const routes = operatorRoutes({ operatorApi: {} } as Service);
  assert.deepEqual(
    [...new Set(routes.map(({ act }) => act))].sort(),
    [...READING, ...CHANGING].map(({ act }) => act).sort(),
  );
});
