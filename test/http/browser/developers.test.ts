/** The developers' page on the wire: the reader's client ID in its examples. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Browser } from '../../support/browser.ts';
import { addClient, startTestService } from '../../support/service.ts';

const service = await startTestService({ after });
const { appUrl } = service;

const asked = async (query: string, path = '/developers') => (await new Browser().get(`${appUrl}${path}${query}`)).body;
const filledIn = (clientId: string) => asked(`?client_id=${encodeURIComponent(clientId)}`);

test('app developers: the reader’s client ID stands in the examples, and nothing is looked up or logged', async () => {
  const { client } = await addClient(service);
  const [known, unknown] = [await filledIn(client.id), await filledIn('app_nobody')];
  assert.equal(known.replaceAll(client.id, 'app_nobody'), unknown);
  assert.match(unknown, /export CLIENT_ID=&#39;app_nobody&#39;/);
  assert.match(unknown, /<code>CLIENT_ID=&#39;app_nobody&#39;/);
  assert.match(unknown, /\?client_id=app_nobody&amp;state=/);
  assert.match(unknown, /<input id="client_id"[^>]* value="app_nobody"/);
  assert.ok(!service.log.some((line) => line.includes('app_nobody')));
  assert.match(
    await filledIn('https://app.example/client?a=1&b'),
    /\?client_id=https%3A%2F%2Fapp.example%2Fclient%3Fa%3D1%26b&amp;/,
  );
});

test('app developers: without a client ID the examples have a place for it', async () => {
  const plain = await asked('');
  assert.match(plain, /export CLIENT_ID=&#39;…&#39;/);
  assert.equal(await asked('?client_id='), plain);
  assert.equal(await asked('?client_id=a&client_id=b'), plain);
});

test('design: a link cannot put into the examples what a shell or a page would run', async () => {
  const plain = await asked('');
  const longest = 'a'.repeat(255);
  assert.ok((await filledIn(longest)).includes(longest));
  for (const hostile of ["x';curl|sh;'", '$(id)', '`id`', '"><script>', 'a b', 'a\nb', 'é', '\\', `${longest}a`]) {
    const page = await filledIn(hostile);
    assert.match(page, /That isn’t a Client ID/, hostile);
    const [, examples = ''] = page.split('<div class="chapters">');
    assert.equal(examples, plain.split('<div class="chapters">')[1], hostile);
    assert.match(page, /<input id="client_id"[^>]* value=""[^>]* aria-invalid="true"/);
  }
});
