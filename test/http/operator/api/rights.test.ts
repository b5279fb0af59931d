/** Every act of the operators' API on the wire, by each role and each kind of access: done, or refused and in the audit trail. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { operatorRoutes } from '../../../../src/http/operator/api/api.ts';
import type { Service } from '../../../../src/http/service.ts';
import { ROLES } from '../../../../src/operator/access/operator.ts';
import { newOperatorToken, operatorTokenDigest } from '../../../../src/operator/access/operator-session.ts';
import { RIGHTS } from '../../../../src/operator/access/rights.ts';
import { obtainPair, signedInBrowser } from '../../../support/flow.ts';
import { addKey, call, type KeyHolder, startApi } from '../../../support/operator-api.ts';
import { addClient, addUser } from '../../../support/service.ts';
import { addResourceServer, scopes } from '../../../support/standard.ts';
import { type ActRow, READING, type Samples } from './acts.ts';

const api = await startApi({ after });
const { installation } = api;
const { store } = installation.operators;
const samples = await addSamples();

async function addSamples(): Promise<Samples> {
  const user = await addUser(api);
  const app = await addClient(api, { scopes: scopes('mail.read') });
  const server = await addResourceServer(api, { resource: 'https://api.example' });
  const provider = {
    ...{ id: 'product', name: 'Product', signInUrl: 'https://product.example/sign-in', ownIds: false, keys: [] },
    ...{ rights: ['sign-in', 'users'] as const, forOperators: false, sessionLifetime: null },
  };
  await installation.identityProviders.register(provider, installation.operator);
  await installation.scopes.define('mail.read', { en: 'Read your mail' }, installation.operator);
  const { accessToken } = await obtainPair(api, await signedInBrowser(api), app);
  const [grant] = await installation.grants.list({ limit: 1 });
  const grantId = grant?.grant.id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-') ?? '';
  return {
    ...{ clientId: app.clientId, userId: user.id, grantId, serverId: server.id },
    ...{ providerId: 'product', scope: 'mail.read', token: accessToken },
  };
}

const ask = ({ path, request }: ActRow, key: string | null, headers = {}) =>
  call(api, key, `/v1${path(samples)}`, { ...request?.(samples), headers });

/** The details of what was refused to an operator, as the audit trail has them. */
async function refusals({ operator }: KeyHolder): Promise<(string | null)[]> {
  const events = await store.listAuditEvents({ action: 'operator_refused', clientId: operator.id, limit: 10 });
  return events.map(({ actor, detail }) => {
    assert.deepEqual([actor.kind, actor.id], ['operator', operator.id]);
    return detail;
  });
}

for (const row of READING)
  test(`rights on the wire: ${row.act} by each role and key`, async () => {
    for (const role of ROLES) {
      const has = ROLES.indexOf(role) >= ROLES.indexOf(row.role);
      const [able, unable] = [
        await addKey(api, role, [row.right]),
        await addKey(
          api,
          role,
          RIGHTS.filter((each) => each !== row.right),
        ),
      ];
      const answer = await ask(row, able.key);
      assert.equal(answer.status, has ? (row.done ?? 200) : 403, `${role}: ${JSON.stringify(answer.body)}`);
      assert.equal((await refusals(able)).length, has ? 0 : 1);
      for (let again = 0; again < 2; again += 1) {
        const refused = await ask(row, unable.key);
        assert.equal(refused.status, 403);
        assert.equal((refused.body['error'] as { code: string }).code, 'forbidden');
      }
      const [detail, ...others] = await refusals(unable);
      assert.ok(detail?.startsWith(`${row.act}: `), detail ?? 'nothing is in the audit trail');
      assert.deepEqual(others, [], 'once an hour');
    }
  });

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
    ...times,
    source: '',
    browser: '',
  } as const;
  assert.ok(await store.beginSessionByAddress(session, address.digest, event('operator_signed_in')));
  assert.ok(await installation.operators.access.bySession(token), 'the session is good');
  for (const row of READING)
    for (const name of ['operator', '__Host-operator', 'session', '__Host-session'])
      assert.equal((await ask(row, null, { Cookie: `${name}=${token}` })).status, 401, row.act);
  assert.equal((await ask(READING[0] as ActRow, token)).status, 401, 'nor is its token a key');
});

test('each route of the API has its act in this table, and each act its routes', () => {
  const routes = operatorRoutes({ operatorApi: {} } as Service);
  assert.deepEqual([...new Set(routes.map(({ act }) => act))].sort(), READING.map(({ act }) => act).sort());
});
