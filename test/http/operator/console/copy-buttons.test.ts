// Values to copy on the console's pages, and the scripts that pages may run: one file for each purpose, and no other.
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import type { Visit } from '../../../support/browser.ts';
import { enrolledOperator, postOwn, startConsole } from '../../../support/console.ts';

const NAME = '"><script src="/x.js"></script>';

const policyOf = ({ headers }: Visit) => String(headers.get('content-security-policy')).split('; ');
const scriptsOf = ({ body }: Visit) => [...body.matchAll(/<script src="([^"]*)"/g)].map(([, path = '']) => path);

async function start(t: Parameters<typeof startConsole>[0]) {
  const service = await startConsole(t);
  const { browser, operator } = await enrolledOperator(service);
  const send = (path: string, fields: Record<string, string>) => postOwn(browser, service.operatorUrl + path, fields);
  const get = (path: string) => browser.get(service.operatorUrl + path);
  return { service, browser, operator, send, get };
}

/** The labels of the copy buttons of a page, and the texts that are shown once. */
function labelled({ body }: Visit): { labels: string[]; secrets: string[] } {
  return {
    labels: [...body.matchAll(/class="[^"]*\bcopyable\b[^"]*" data-label="([^"]*)"/g)].map(([, label = '']) => label),
    secrets: [...body.matchAll(/<div class="secret copyable"[^>]*><code>([^<]*)</g)].map(([, text = '']) => text),
  };
}

test('operators §7: what is shown once has a copy button, whose label never holds it', async (t) => {
  const { service, browser, operator, send, get } = await start(t);
  const own = `/operators/${operator.id}`;
  const once = async (path: string) => /name="once" value="([^"]*)"/.exec((await get(path)).body)?.[1] ?? '';
  const register = async (handOver: 'secret' | 'link') => {
    const form = { name: NAME, type: 'confidential', redirect_uris: 'https://client.example/callback', consent: 'ask' };
    return send('/apps/new', { ...form, hand_over: handOver, once: await once('/apps/new') });
  };
  const person = { name: 'Ada', email: 'ada@example.com', username: 'ada', once: await once('/people') };
  const pages: Record<string, [Visit, RegExp, string[]]> = {
    'a secret': [await register('secret'), /^vk_cs_/, ['the secret', 'Client ID']],
    'a pick-up link': [await register('link'), /pick-up\?token=/, ['the link', 'the words']],
    'an invitation': [await send('/people', person), /new-password\?token=/, ['the link', 'the words']],
    'an operator’s link': [await send('/operators', { name: 'Bob', role: 'read' }), /enroll\?token=/, ['the link']],
    'a key': [
      await browser.submit(await get(own), `${own}/keys`, { name: 'portal', rights: 'identify' }),
      /^vk_ok_/,
      ['the secret'],
    ],
  };
  for (const [about, [page, secret, expected]] of Object.entries(pages)) {
    assert.equal(page.status, 200, `${about}: ${page.body}`);
    const { labels, secrets } = labelled(page);
    assert.equal(secrets.length, 1, about);
    assert.match(secrets[0] ?? '', secret, about);
    assert.deepEqual(labels.slice(0, expected.length), expected, about);
    assert.ok(
      page.body.split('class="secret copyable"').length === 2 && !labels.some((label) => /token|vk_/.test(label)),
    );
    assert.match(scriptsOf(page).join(), /^\/assets\/copy-[0-9a-f]{12}\.js$/, about);
    assert.ok(policyOf(page).includes("script-src 'self'"), about);
  }
  assert.equal((await service.installation.operators.registry.list()).length, 2);
});

test('ASVS 3.4: a page of the console runs the script that it has, from this address, and none if a name holds one', async (t) => {
  const { service, send, get } = await start(t);
  const { id } = await service.installation.clients
    .register(
      'public',
      { name: NAME, redirectUris: ['https://client.example/callback'] },
      service.installation.operator,
      null,
    )
    .then(({ row: client }) => client);
  for (const path of ['/', '/apps', `/apps/${id}`, `/apps/${id}/edit`, '/operators', '/passkeys', '/nothing']) {
    const page = await get(path);
    assert.deepEqual([scriptsOf(page), policyOf(page).filter((part) => part.startsWith('script-src'))], [[], []], path);
  }
  assert.match((await get(`/apps/${id}`)).body, /&lt;script src/, 'the name is on the page');
  service.clock.advance(301);
  const pages = [await get('/confirm'), await get('/confirm?continue=/apps'), await send(`/apps/${id}/delete`, {})];
  for (const page of pages) {
    const [path = '', ...others] = scriptsOf(page);
    assert.deepEqual([others, policyOf(page).includes("script-src 'self'")], [[], true], page.url);
    const file = await get(path);
    assert.equal(path, `/assets/passkeys-${hash('sha256', file.body, 'hex').slice(0, 12)}.js`);
    assert.deepEqual(
      ['content-type', 'x-content-type-options', 'cache-control'].map((name) => file.headers.get(name)),
      ['text/javascript; charset=utf-8', 'nosniff', 'public, max-age=31536000, immutable'],
    );
  }
});
