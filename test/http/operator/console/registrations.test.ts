// The console's pages of APIs, products and scopes, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { enrolledOperator, postOwn, startConsole } from '../../../support/console.ts';
import { textOf } from '../../../support/html.ts';
import { addResourceServer } from '../../../support/standard.ts';

/** The text of a page, without its markup. */

/** The settings of a product, but for its sign-in address. */
const PHOTOS = {
  id: 'photos',
  name: 'Photos',
  keys: [],
  rights: ['sign-in'],
  homePage: null,
  sessionLifetime: null,
  ownIds: false,
} as const;

test('operators §7: APIs, products and scopes are listed and shown, and empty lists say how to begin', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'read');
  const { installation, operatorUrl } = service;
  const get = async (path: string) => (await browser.get(operatorUrl + path)).body;
  assert.match(textOf(await get('/apis')), /No API yet .*resource-server register/);
  assert.match(textOf(await get('/products')), /No product yet .*identity-provider register/);
  assert.match(textOf(await get('/scopes')), /No scope yet .*scope define/);

  const { id } = await addResourceServer(service, {
    name: '<b>Mail</b>',
    resource: 'https://mail.example',
    scopes: ['mail.read'],
  });
  await installation.identityProviders.register(
    { ...PHOTOS, signInUrl: 'https://photos.example/sign-in', homePage: 'https://photos.example' },
    installation.operator,
  );
  const meaning = { sentences: { en: 'Read your <i>mail</i>', ar: 'قراءة' }, effect: 'reads' } as const;
  await installation.scopes.put('mail.read', meaning, installation.operator);
  assert.match(await get('/apis'), new RegExp(`href="/apis/${id}"><bdi>&lt;b&gt;Mail`));
  const api = textOf(await get(`/apis/${id}`));
  assert.match(
    api,
    /Resource https:\/\/mail\.example Unbound tokens Refused Scopes mail\.read Live secrets made .*never used/,
  );
  assert.match(api, new RegExp(`valetkey resource-server rotate-secret ${id} --hand-over`));
  assert.match(textOf(await get('/products')), /Photos .*photos .*Active/);
  assert.match(
    textOf(await get('/products/photos')),
    /Sign-in address https:\/\/photos\.example\/sign-in Home page https:\/\/photos\.example /,
  );
  assert.doesNotMatch(await get('/products/photos'), /<form[^>]*\/products/, 'the role "read" acts on none');
  assert.match(textOf(await get('/scopes')), /mail\.read .*Read your &lt;i&gt;mail&lt;\/i&gt; Also in ar .*Reads/);
  await installation.handOvers.make({ kind: 'resource_server', id }, installation.operator);
  assert.match(textOf(await get(`/apis/${id}`)), /Newest pick-up link .*Waits for the developer until/);
  for (const [list, gone] of [
    ['/apis', '/apis/rs_nothing'],
    ['/products', '/products/nothing'],
  ] as const) {
    const { status, body } = await browser.get(operatorUrl + gone);
    assert.equal(status, 404, gone);
    assert.match(body, new RegExp(`class="button secondary" href="${list}">Go to`));
  }
});

test('operators §7: an admin tests, pauses and resumes a product; the role "support" may not', async (t) => {
  const service = await startConsole(t);
  const { browser } = await enrolledOperator(service, 'admin');
  const { browser: support } = await enrolledOperator(service, 'support');
  const { installation, operatorUrl } = service;
  await installation.identityProviders.register(
    { ...PHOTOS, signInUrl: 'http://127.0.0.1:9/sign-in' },
    installation.operator,
  );
  const at = `${operatorUrl}/products/photos`;
  const tested = await postOwn(browser, `${at}/test`);
  assert.equal(tested.status, 200);
  assert.match(textOf(tested.body), /\d of \d checks failed\. .*Problem/);
  assert.equal((await postOwn(support, `${at}/pause`)).status, 403);
  const paused = await postOwn(browser, `${at}/pause`);
  assert.deepEqual([paused.status, paused.headers.get('location')], [303, '/products/photos?done=paused']);
  assert.match(textOf((await browser.get(`${at}?done=paused`)).body), /Paused: nobody can sign in there/);
  assert.match(textOf((await postOwn(browser, `${at}/pause`)).body), /Nothing happened/);
  assert.match(textOf((await browser.get(at)).body), /Resume the product Its people can sign in again .* State Paused/);
  assert.equal((await postOwn(browser, `${at}/resume`)).headers.get('location'), '/products/photos?done=resumed');
  for (const path of ['pause', 'test'])
    assert.equal((await postOwn(browser, `${operatorUrl}/products/none/${path}`)).status, 404);
});
