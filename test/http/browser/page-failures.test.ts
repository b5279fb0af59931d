/** Refusals on the authorization page: they prove nobody, so they are a hint in memory, of registered apps alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { PAGE_FAILURES_KEPT, PageFailures } from '../../../src/oauth/activity/page-failures.ts';
import { Browser } from '../../support/browser.ts';
import { authorizeUrl, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';

const ORIGIN = { source: '192.0.2.7', requestId: 'req' };
const failure = (reason: string) => ({ error: 'invalid_scope', reason, received: null });

test('what an app was refused on the authorization page is told, newest first, with a redirect URI as text', async (t) => {
  const service = await startTestService(t);
  const { pageFailures } = service.installation;
  const client = await addClient(service);
  const visit = (parameters: Record<string, string | undefined>) =>
    new Browser().get(authorizeUrl(service, client, parameters));
  await visit({ redirect_uri: 'https://evil.example/<b>' });
  service.clock.advance(1);
  await visit({ scope: 'nothing' });
  await visit({ state: undefined });
  await visit({ redirect_uri: undefined });
  await service.installation.clients.pause(client.clientId, service.installation.operator);
  const paused = await visit({});
  const listed = pageFailures.list(client.clientId);
  assert.deepEqual(
    listed.map(({ error, received }) => [error, received]),
    [
      ['client_paused', null],
      ['missing_redirect_uri', null],
      ['invalid_request', null],
      ['invalid_scope', null],
      ['bad_redirect_uri', 'https://evil.example/<b>'],
    ],
  );
  assert.match(listed[3]?.reason ?? '', /nothing/);
  assert.equal((listed[0]?.at ?? 0) - (listed.at(-1)?.at ?? 0), 1000);
  assert.equal(listed[0]?.network, '127.0.0.0/24');
  assert.equal(listed[0]?.requestId, paused.headers.get('x-request-id'));
});

test('a refusal writes no row: no event, no failure of the app, no count', async (t) => {
  const service = await startTestService(t);
  const { pageFailures, appActivity, activity, audit } = service.installation;
  const client = await addClient(service);
  const before = await audit.lastAuditSequence();
  for (let n = 0; n < 30; n += 1)
    await new Browser().get(authorizeUrl(service, client, { redirect_uri: 'https://x.y/' }));
  await activity.flush();
  const found = await appActivity.find(client.clientId, 0);
  assert.deepEqual(found.failures, []);
  assert.ok(Object.values(found.tally).every((count) => count === 0));
  assert.equal(await audit.lastAuditSequence(), before);
  assert.equal(pageFailures.list(client.clientId).length, PAGE_FAILURES_KEPT);
});

test('nobody unknown makes an entry, and neither does what works', async (t) => {
  const service = await startTestService(t);
  await addUser(service);
  const { pageFailures } = service.installation;
  const client = await addClient(service);
  const unknown = ['app_0000000000000000', 'https://agent.example/client.json', 'x'];
  for (const clientId of unknown) {
    const body = await new Browser().get(authorizeUrl(service, { ...client, clientId }));
    assert.equal(body.status, 400);
    assert.deepEqual(pageFailures.list(clientId), []);
  }
  const pushed = new URL(authorizeUrl(service, client));
  await new Browser().get(
    `${service.appUrl}/oauth2/authorize?client_id=${client.clientId}&request_uri=urn:ietf:params:oauth:request_uri:x`,
  );
  assert.equal((await (await signedInBrowser(service)).get(pushed.href)).status, 200);
  assert.deepEqual(pageFailures.list(client.clientId), []);
});

test('of an app the last 20 are kept, and of a thousand apps those that were refused last; texts are cut', () => {
  const failures = new PageFailures(() => 5);
  for (let n = 0; n < 25; n += 1) failures.record('app', failure(String(n)), ORIGIN);
  const listed = failures.list('app');
  assert.deepEqual(
    listed.map(({ reason }) => Number(reason)),
    Array.from({ length: 20 }, (_, n) => 24 - n),
  );
  assert.equal(listed[0]?.network, '192.0.2.0/24');
  for (let n = 0; n < 999; n += 1) failures.record(`app${n}`, failure('x'), ORIGIN);
  assert.equal(failures.list('app').length, 20);
  failures.record('app', { ...failure('y'.repeat(9999)), received: 'z'.repeat(9999) }, ORIGIN);
  assert.deepEqual([failures.list('app')[0]?.reason.length, failures.list('app')[0]?.received?.length], [300, 300]);
  failures.record('another', failure('x'), ORIGIN);
  assert.deepEqual(failures.list('app0'), [], 'it was refused first');
  assert.equal(failures.list('app').length, 20);
});

test('a kept refusal holds its short texts in memory, and not the long URL that they come from', () => {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const failures = new PageFailures(() => 0);
  const url = (n: number) =>
    `/authorize?client_id=app_${String(n).padStart(20, '0')}&redirect_uri=${'x'.repeat(16_000)}`;
  const used = () => {
    collect();
    return process.memoryUsage().heapUsed;
  };
  const before = used();
  for (let n = 0; n < 2000; n += 1) {
    // A view of the whole text, as a parser returns it.
    const [, clientId = '', received = ''] =
      /client_id=(\w+)&redirect_uri=(.+)/.exec(Buffer.from(url(n % 100)).toString()) ?? [];
    failures.record(
      clientId,
      { error: 'bad_redirect_uri', reason: received, received: received.slice(0, 200) },
      ORIGIN,
    );
  }
  assert.ok(used() - before < 8e6, `${used() - before} bytes for 2,000 refusals of 16 KB`);
  assert.equal(failures.list(`app_${'0'.repeat(20)}`).length, PAGE_FAILURES_KEPT);
});
