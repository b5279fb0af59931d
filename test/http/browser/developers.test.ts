/** The developers' page on the wire: the reader's client ID in its examples, and the same as documents for programs. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Browser } from '../../support/browser.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';

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

/** The text of markup. */
const textOf = (markup: string) =>
  markup
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ({ amp: '&', lt: '<', gt: '>', quot: '"' })[name] ?? "'");

for (const language of ['en', 'ar'])
  test(`app developers: /developers.md says what the page says (${language})`, async () => {
    const headers = { 'Accept-Language': language };
    const page = await (await fetch(`${appUrl}/developers?client_id=app_mine`, { headers })).text();
    const answer = await fetch(`${appUrl}/developers.md?client_id=app_mine`, { headers });
    assert.deepEqual(
      ['content-type', 'x-content-type-options', 'vary', 'cache-control'].map((name) => answer.headers.get(name)),
      ['text/markdown; charset=utf-8', 'nosniff', 'Accept-Language', 'no-store'],
    );
    const markdown = await answer.text();
    const headings = [...page.matchAll(/<h[123]>(.*?)<\/h[123]>/g)].map(([, heading = '']) => textOf(heading));
    const examples = [...page.matchAll(/<code>([^<]*)<\/code><\/pre>/g)].map(([, example = '']) => textOf(example));
    assert.ok(headings.length > 15 && examples.length > 15);
    const said = [...markdown.matchAll(/^#{1,3} (.*)$/gm)].map(([, heading = '']) => heading.replaceAll('`', ''));
    for (const heading of headings) assert.ok(said.includes(heading), heading);
    for (const example of examples) assert.ok(markdown.includes(`\n${example}\n`), example);
    for (const [, term = ''] of page.matchAll(/<dt><code>(.*?)<\/code>/g))
      assert.ok(markdown.includes(`- \`${term}\``), term);
    assert.doesNotMatch(markdown.replace(/^```.*?^```$/gms, '').replace(/`[^`]*`/g, ''), /<|&[a-z#]/, 'no markup');
  });

test('design: the documents for programs name no app and no person', async () => {
  const { client } = await addClient(service, { name: 'Meeting Room Planner' });
  const { id } = await addUser(service);
  for (const path of ['/developers.md', '/llms.txt']) {
    const text = await asked('', path);
    for (const name of [client.id, client.name, id]) assert.ok(!text.includes(name), `${path}: ${name}`);
  }
});

test('app developers: /llms.txt leads to documents that are there, below the base path as well', async (t) => {
  const based = await startTestService(t, { VALETKEY_PAGES_BASE_PATH: '/connect' });
  for (const [own, base] of [
    [service, ''],
    [based, '/connect'],
  ] as const) {
    const answer = await fetch(`${own.appUrl}${base}/llms.txt`);
    assert.equal(answer.headers.get('content-type'), 'text/plain; charset=utf-8');
    const text = await answer.text();
    assert.match(text, /^# .+\n\n> .+\n\n## Documents\n\n- \[/, 'the form of llmstxt.org');
    const links = [...text.matchAll(/\]\((\S*)\)/g)].map(([, link = '']) => link);
    assert.equal(links[0], `${own.appUrl}${base}/developers.md`);
    assert.equal(links.length, 4);
    for (const link of links) assert.equal((await fetch(link)).status, 200, link);
  }
});
