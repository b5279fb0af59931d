/** Anonymous requests at the operators' address, and the number of rows in each table. */
import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { Browser } from '../../support/browser.ts';
import { enrolledOperator, postOwn, type TestConsole } from '../../support/console.ts';
import { startOnFile } from '../../support/on-file.ts';
import { SoftPasskey } from '../../support/passkeys.ts';
import { freePort, type Lifetime } from '../../support/service.ts';

/** A console on a database file, with one operator, and how many rows each table has. */
export async function startCounted(
  t: Lifetime,
): Promise<{ service: TestConsole; passkey: SoftPasskey; countRows: () => Record<string, number> }> {
  const operatorUrl = `http://localhost:${await freePort()}`;
  const { service: started, path } = await startOnFile(t, { VALETKEY_OPERATOR_URL: operatorUrl });
  const service = { ...started, operatorUrl };
  const { passkey } = await enrolledOperator(service);
  return { service, passkey, countRows: () => rowsOf(path) };
}

function rowsOf(path: string): Record<string, number> {
  const database = new DatabaseSync(path, { readOnly: true });
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all() as { name: string }[];
  const count = (name: string) => Number(database.prepare(`SELECT count(*) AS count FROM "${name}"`).get()?.['count']);
  const counted = Object.fromEntries(tables.map(({ name }) => [name, count(name)]));
  database.close();
  return counted;
}

/** One request of each kind, 13 in all, each of which must be refused or lead to the sign-in. */
export async function askAsNobody({ operatorUrl }: TestConsole, known: SoftPasskey): Promise<void> {
  const browser = new Browser();
  const signIn = await browser.get(`${operatorUrl}/sign-in`);
  const visits = [
    signIn,
    ...(await Promise.all([
      browser.get(`${operatorUrl}/`),
      browser.get(`${operatorUrl}/operators`),
      browser.get(`${operatorUrl}/enroll?token=${'x'.repeat(43)}`),
      browser.get(`${operatorUrl}/sign-in?token=${'x'.repeat(43)}`),
      browser.get(`${operatorUrl}/nothing`),
      postOwn(browser, `${operatorUrl}/sign-in`, { answer: new SoftPasskey(operatorUrl).get(signIn) }),
      postOwn(browser, `${operatorUrl}/sign-in`, { answer: known.get(signIn, { origin: 'https://evil.example' }) }),
      postOwn(browser, `${operatorUrl}/sign-in?token=${'x'.repeat(43)}`),
      postOwn(browser, `${operatorUrl}/enroll?token=${'x'.repeat(43)}`, { answer: '{}' }),
      postOwn(browser, `${operatorUrl}/operators`, { name: 'Eve', role: 'admin' }),
      postOwn(browser, `${operatorUrl}/confirm`, { answer: known.get(signIn) }),
    ])),
  ];
  const wrongKey = await fetch(`${operatorUrl}/v1/clients`, { headers: { Authorization: 'Bearer vk_ok_wrong' } });
  await wrongKey.body?.cancel();
  assert.equal(wrongKey.status, 401);
  // 403: the form of somebody whose session ended is shown again, and does nothing.
  assert.ok(visits.every(({ status }) => [200, 303, 400, 403, 404].includes(status)));
  assert.ok(!browser.cookies.has('operator_session'));
}
