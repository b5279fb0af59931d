// A write of an app's form beside another operator's, which PostgreSQL holds between the form's reads and its write.
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import pg from 'pg';
import { makeRootKey } from '../../../../src/settings/root-keys.ts';
import { formOf } from '../../../support/browser.ts';
import { enrolledOperator, postOwn, startConsole } from '../../../support/console.ts';
import { addClient, REDIRECT_URI } from '../../../support/service.ts';
import { sharedPostgres } from '../../../support/shared-postgres.ts';

const WAITING = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;

const server = await sharedPostgres();
after(() => server.remove());

test('ASVS 15.4.2: a form writes nothing over a change that comes between its reads and its write, and keeps what was typed', async (t) => {
  const url = await server.createDatabase();
  const service = await startConsole(t, { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: makeRootKey() });
  const { browser } = await enrolledOperator(service);
  const { clientId } = await addClient(service, { name: 'Calendar' });
  const page = `${service.operatorUrl}/apps/${clientId}/edit`;
  const { tag = '', shown = '' } = formOf((await browser.get(page)).body, '/apps/').fields;
  const [other, watcher] = [new pg.Client({ connectionString: url }), new pg.Client({ connectionString: url })];
  t.after(() => Promise.all([other.end(), watcher.end()]));
  await Promise.all([other.connect(), watcher.connect()]);

  await other.query('BEGIN');
  await other.query(`UPDATE client SET status = 'paused' WHERE id = $1`, [clientId]);
  const typed = { name: 'My calendar', redirect_uris: REDIRECT_URI, consent: 'ask', person_fields: ['name'] };
  const saving = postOwn(browser, page, { tag, shown, ...typed });
  while ((await watcher.query(WAITING)).rowCount === 0) await setTimeout(5);
  await other.query('COMMIT');
  const { status, body } = await saving;
  assert.equal(status, 400);
  assert.match(body, /Somebody else changed the app while you typed/);
  assert.match(body, /name="name"[^>]* value="My calendar"/, 'what was typed is kept');
  const { name, personFields } = await service.installation.clients.show(clientId);
  assert.equal(name, 'Calendar');
  assert.ok(personFields.length > 1);
});
