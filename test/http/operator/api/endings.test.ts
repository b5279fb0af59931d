/** Calls that end many things: how far they go, and what stops them. */
import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { after, test } from 'node:test';
import { newGrantId } from '../../../../src/oauth/grants/grant.ts';
import { NEW_PROVIDER_SETTINGS } from '../../../../src/operator/fields/identity-provider-fields.ts';
import { readNew } from '../../../../src/operator/fields/setting.ts';
import type { WholeStore } from '../../../../src/storage/tables/whole-store.ts';
import { addKey, call, startApi } from '../../../support/operator-api.ts';
import { addClient, addUser } from '../../../support/service.ts';
import { event, sampleGrant } from '../../../support/storage.ts';
import { until } from '../../../support/until.ts';

const GRANTS = 1500;
const api = await startApi({ after });
const { installation, clock } = api;
const store = installation.operators.store as unknown as WholeStore;
const [user, app] = [await addUser(api), await addClient(api)];

/** Registers a product through which many grants were given, and returns the path of the call that ends them. */
async function product(id: string): Promise<string> {
  const members = { provider_id: id, name: id, sign_in_url: `https://${id}.test/sign-in` };
  const settings = readNew(NEW_PROVIDER_SETTINGS, members);
  await installation.identityProviders.register(settings, installation.operator);
  const now = clock.now();
  const epochs = await store.findEpochs(app.clientId, user.id);
  assert.ok(epochs);
  const issued = { clientId: app.clientId, resourceOwnerId: user.id, providerId: id, epochs };
  const times = { grantedAt: now, signedInAt: now, expiresAt: now + 3_600_000, absoluteExpiresAt: now + 3_600_000 };
  await Promise.all(
    Array.from({ length: GRANTS }, () =>
      store.issueGrant(sampleGrant({ ...issued, ...times, id: newGrantId(now) }), event('consent_allowed')),
    ),
  );
  return `/v1/identity-providers/${id}/end-all`;
}

const since = () => new Date(clock.now() - 1000).toISOString();
const ended = async (id: string) =>
  (await store.listAuditEvents({ action: 'grant_revoked', limit: 10 * GRANTS })).filter(({ detail }) =>
    detail?.startsWith(`{"provider":"${id}","since":`),
  ).length;

test('a dry run counts, ends nothing, and the call then ends as many', async () => {
  const { key } = await addKey(api);
  const path = await product('counted');
  const json = { since: since() };
  const dry = await call(api, key, `${path}?dry_run=true`, { json });
  const would = { sign_ins: 0, sessions: 0, grants: GRANTS, more: false };
  assert.deepEqual(dry.body, { dry_run: true, would_end: would });
  assert.equal(await ended('counted'), 0);
  const { body } = await call(api, key, path, { json });
  assert.deepEqual([body['grants_ended'], body['done']], [GRANTS, true]);
});

test('an operator who is disabled midway ends nothing more', async () => {
  const { key, operator } = await addKey(api);
  const path = await product('midway');
  const answer = call(api, key, path, { json: { since: since() } });
  await until(async () => (await ended('midway')) > 0);
  const disabled = event('operator_disabled', { clientId: operator.id });
  await store.disableOperator(operator.id, 'no bound', disabled);
  const before = await ended('midway');
  const { status, body } = await answer;
  assert.equal(status, 403, JSON.stringify(body));
  assert.match(JSON.stringify(body), /your access changed meanwhile/);
  assert.ok(before < GRANTS, 'some are left');
  assert.equal(await ended('midway'), before, 'nothing was ended after that');
});

test('a connection that is lost midway loses nothing of the act', async () => {
  const { key } = await addKey(api);
  const path = await product('lost');
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const sent = httpRequest(api.operatorUrl + path, { method: 'POST', headers }).on('error', () => {});
  sent.end(JSON.stringify({ since: since() }));
  await until(async () => (await ended('lost')) > 0);
  sent.destroy();
  assert.ok((await ended('lost')) < GRANTS);
  await until(async () => (await ended('lost')) === GRANTS);
});
