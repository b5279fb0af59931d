// The states that every page of the console has. The pages are read from the code, so that a new one is walked as well.
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { after, type TestContext, test } from 'node:test';
import pg from 'pg';
import { makeRootKey } from '../../../../src/settings/root-keys.ts';
import { Browser } from '../../../support/browser.ts';
import { enrolledOperator, postOwn, startConsole, type TestConsole, usePasskey } from '../../../support/console.ts';
import { inhabit } from '../../../support/held.ts';
import { addClient, addUser } from '../../../support/service.ts';
import { sharedPostgres } from '../../../support/shared-postgres.ts';

/** The path of each page for a signed-in operator. */
const PAGES = globSync('src/http/operator/console/**/*.ts')
  .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/(?:routes\.page|app\.get)\(\s*'([^']*)'/g)])
  .map(([, path = '']) => path)
  .filter((path) => !['/sign-in', '/enroll', '/confirm'].includes(path));

/** Acts that the role `read` may do: on its own passkeys and sessions, and a question. */
const OWN_ACTS = ['/sign-out', '/passkeys/new', '/passkeys/remove', '/sessions/end', '/leaked', '/search'];

const problems = { gone: /There is nothing here/, away: /The database does not answer/ };

test('operators §7: every page sends a visitor without a session to sign in, and back', async (t) => {
  const { operatorUrl } = await startConsole(t);
  assert.ok(PAGES.length > 10, String(PAGES));
  for (const path of PAGES) {
    const { status, headers } = await new Browser().get(operatorUrl + path.replace(/:\w+/, 'x'));
    const location = `/sign-in?${new URLSearchParams({ continue: path.replace(/:\w+/, 'x') })}`;
    assert.deepEqual([status, headers.get('location')], [303, location], path);
  }
});

test('operators §7: what is gone is a page that says so, and no page fails over a strange id', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service);
  for (const path of PAGES.filter((each) => each.includes(':')))
    for (const id of [
      'app_none',
      '0',
      '-1',
      '00000000-0000-7000-8000-000000000000',
      '%00',
      '%F0%9F%98%80',
      'a'.repeat(300),
    ]) {
      const { status, body } = await browser.get(service.operatorUrl + path.replace(/:\w+/, id));
      assert.ok(status === 404 || status === 400, `${path} with ${id}: ${status}`);
      assert.ok(status === 400 || problems.gone.test(body), path);
    }
});

test('operators §7: a page says nothing of an act that it does not know', async (t) => {
  const service = await startConsole(t);
  const { browser, operator } = await enrolledOperator(service);
  const app = await addClient(service);
  const { id: person } = await addUser(service);
  for (const path of [
    `/operators/${operator.id}`,
    `/apps/${app.clientId}`,
    `/leaked/apps/${app.clientId}`,
    `/people/${person}`,
  ])
    for (const done of ['constructor', '__proto__', 'nothing']) {
      const { status, body } = await browser.get(`${service.operatorUrl}${path}?done=${done}`);
      assert.deepEqual([status, body.includes('role="status"')], [200, false], `${path} ${done}`);
    }
});

test('operators §7: the sentence of an act is shown after our own post alone, and never for a link that somebody sends', async (t) => {
  const service = await startConsole(t);
  const { browser, operator, passkey } = await enrolledOperator(service);
  const app = await addClient(service);
  const { id: person } = await addUser(service);
  const pages = [
    '/apps?done=deleted',
    `/apps/${app.clientId}?done=paused`,
    '/people?done=deleted',
    `/people/${person}?done=signed-out`,
    `/leaked/apps/${app.clientId}?done=paused`,
    `/operators/${operator.id}?done=disabled`,
    '/passkeys?done=removed',
  ];
  const isSaid = async (path: string, site?: string) => {
    const asked = new Browser(site === undefined ? {} : { 'Sec-Fetch-Site': site });
    for (const [name, value] of browser.cookies) asked.cookies.set(name, value);
    const { status, body } = await asked.get(service.operatorUrl + path);
    assert.equal(status, 200, path);
    return body.includes('role="status"');
  };
  for (const path of pages) {
    assert.equal(await isSaid(path, 'same-origin'), true, path);
    for (const site of ['cross-site', 'same-site', 'none', undefined])
      assert.equal(await isSaid(path, site), false, `${path} ${site}`);
    const asStrict = await new Browser({ 'Sec-Fetch-Site': 'cross-site' }).get(service.operatorUrl + path);
    assert.match(asStrict.body, /Continue to the console/);
    assert.ok(!asStrict.body.includes('done='), 'the button leads to the page without the sentence');
    const again = await browser.get(`${service.operatorUrl}/sign-in?${new URLSearchParams({ continue: path })}`);
    assert.doesNotMatch(String(again.headers.get('location')), /done=/);
    const confirmed = await usePasskey(
      browser,
      passkey,
      `${service.operatorUrl}/confirm?${new URLSearchParams({ continue: path })}`,
    );
    assert.doesNotMatch(String(confirmed.headers.get('location')), /done=/);
  }
});

for (const role of ['read', 'admin'] as const)
  test(`operators §7: every link leads to a page, new and lived in, below 50 KB, and "${role}" is offered what it may do`, async (t) => {
    const service = await startConsole(t);
    const { browser } = await enrolledOperator(service, role);
    const walk = async () => {
      const seen = new Set(['/']);
      for (const path of seen) {
        const { status, body } = await browser.get(service.operatorUrl + path);
        assert.ok([200, 303].includes(status), `${path}: ${status}`);
        assert.ok(Buffer.byteLength(body) < 50_000, `${path} is large`);
        const links = [...body.matchAll(/ href="(\/[^"#]*)/g)].map(([, href = '']) => href.replaceAll('&amp;', '&'));
        for (const link of links) if (!link.startsWith('/confirm')) seen.add(link);
        const acts = [...body.matchAll(/method="post" action="([^"]*)"/g)].map(([, action = '']) => action);
        if (role === 'read')
          assert.deepEqual(
            acts.filter((action) => !OWN_ACTS.includes(action)),
            [],
            path,
          );
      }
      return seen;
    };
    const fresh = await walk();
    await inhabit(service);
    const seen = await walk();
    assert.ok(seen.size > fresh.size);
    const forms = [...seen].map((path) => path.replace(/\?.*/, '').split('/'));
    const unlinked = PAGES.filter(
      (page) =>
        // Only answers to posts lead there.
        !['/leaked/apps/:id', '/confirmed'].includes(page) &&
        !forms.some(
          (path) =>
            path.length === page.split('/').length &&
            page.split('/').every((part, at) => part.startsWith(':') || part === path[at]),
        ),
    );
    if (role === 'admin') assert.deepEqual(unlinked, [], 'a page that no link leads to');
  });

const server = await sharedPostgres();
after(() => server.remove());

/** A service on PostgreSQL, and a connection of its administrator. */
async function startOnPostgres(t: TestContext) {
  const url = await server.createDatabase();
  const service = await startConsole(t, { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: makeRootKey() });
  const { browser } = await enrolledOperator(service);
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  t.after(() => admin.end());
  const get = (path: string) => browser.get(service.operatorUrl + path.replace(/:\w+/, '1'));
  return { get, admin };
}

test('operators §7: while the database is away, every page says so, and works again afterwards', async (t) => {
  const { get, admin } = await startOnPostgres(t);
  const others =
    'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()';
  const allow = (does: boolean) =>
    server.query(server.url('postgres'), `ALTER DATABASE "${admin.database}" ALLOW_CONNECTIONS ${does}`);
  await allow(false);
  await admin.query(others);
  for (const path of PAGES) {
    const { status, body } = await get(path);
    assert.deepEqual([status, problems.away.test(body)], [503, true], path);
  }
  await allow(true);
  while ((await get('/apps')).status !== 200) await admin.query('SELECT 1');
});

test('operators §7: while the database is late, a page says so, and works again afterwards', async (t) => {
  const { get, admin } = await startOnPostgres(t);
  await admin.query('BEGIN');
  await admin.query('LOCK TABLE client IN ACCESS EXCLUSIVE MODE');
  const { status, body } = await get('/apps');
  assert.deepEqual([status, problems.away.test(body)], [503, true]);
  await admin.query('COMMIT');
  assert.equal((await get('/apps')).status, 200);
});

/** Ends the sessions of a signed-in operator, as time does. */
const endSessions = (service: TestConsole, operatorId: string) =>
  service.installation.operators.registry.endSessions(operatorId, service.installation.operator);

test('operators §7: a form whose session ended keeps what was typed, and is sent again by whoever is signed in then', async (t) => {
  const service = await startConsole(t);
  const { browser, operator, passkey } = await enrolledOperator(service);
  const { registry } = service.installation.operators;
  const page = await browser.get(`${service.operatorUrl}/operators`);
  await endSessions(service, operator.id);
  const typed = { name: '"><b>Bob</b> & Co', role: 'support' };
  const ended = await browser.submit(page, '/operators', typed);
  assert.equal(ended.status, 403);
  assert.match(ended.body, /Your session ended/);
  assert.ok(!ended.body.includes('<b>Bob'));
  const again = await browser.submit(ended, '/operators');
  assert.match(again.body, /Your session ended/, 'still not signed in');

  const reader = await enrolledOperator(service, 'read');
  const asReader = await reader.browser.submit(ended, '/operators');
  assert.deepEqual([asReader.status, /Your role does not allow this/.test(asReader.body)], [403, true]);
  assert.equal((await registry.list()).length, 2);
  await usePasskey(browser, passkey, `${service.operatorUrl}/sign-in?continue=/confirmed`);
  assert.equal((await browser.submit(ended, '/operators')).status, 200);
  // Both operators are as old, and in no order.
  const { role } = (await registry.list()).find(({ name }) => name === typed.name) ?? {};
  assert.equal(role, typed.role);
});

test('operators §7: without a session only typed forms come back: from our own page, of bounded size, and no secret', async (t) => {
  const service = await startConsole(t);
  const at = service.operatorUrl;
  const browser = new Browser();
  const fields = { name: 'canary', credential: 'canary', answer: 'canary', email: 'canary' };
  for (const path of ['/operators', '/operators/opr_x/keys', '/people', '/people/usr_x/update', '/apps/new'])
    assert.match((await postOwn(browser, at + path, fields)).body, /name="name" value="canary"/, path);
  for (const path of ['/leaked', '/leaked/apps/app_x/pause', '/confirm', '/passkeys/new', '/operators/opr_x/delete']) {
    const { status, body } = await postOwn(browser, at + path, fields);
    assert.deepEqual([status, body.includes('canary')], [303, false], path);
  }
  const large = await postOwn(browser, `${at}/apps/new`, { name: 'x'.repeat(33_000) });
  assert.deepEqual([large.status, large.body], [303, '']);
  const elsewhere = { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://evil.example' };
  const foreign = await browser.post(`${at}/apps/new`, fields, elsewhere);
  assert.deepEqual([foreign.status, foreign.body.includes('canary')], [403, false]);
  assert.ok(!service.log.join('\n').includes('canary'));
});
