/** Pages below a base path: every one of them, and nothing anywhere else. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { after, describe, test } from 'node:test';
import { pagePaths } from '../../../src/pages/layout/page-paths.ts';
import { Browser, type Visit } from '../../support/browser.ts';
import { authorizeUrl, pairOf, postForm, pressAllow } from '../../support/flow.ts';
import { ProgramOnDisk } from '../../support/program.ts';
import { addClient, addUser, PASSWORD, startTestService } from '../../support/service.ts';
import { allowOn, exchangeCode, standardUrl } from '../../support/standard.ts';

const BASE = '/connect/pages';

const { folder } = await ProgramOnDisk.make({ after });
const logo = `${folder}/logo.svg`;
writeFileSync(logo, '<svg xmlns="http://www.w3.org/2000/svg"/>');
const service = await startTestService({ after }, { VALETKEY_PAGES_BASE_PATH: BASE, VALETKEY_PRODUCT_LOGO: logo });
await addUser(service);
const client = await addClient(service, { name: 'Notes' });
const television = await addClient(service, { name: 'Television', deviceFlow: true }, 'public');
const { appUrl, apiUrl } = service;
const paths = pagePaths(BASE);

describe('pages below a base path', () => {
  /** Signs in from a page that asks for it, and goes where that leads. */
  async function signIn(browser: Browser, page: Visit): Promise<Visit> {
    const signedIn = await browser.submit(page, paths.signIn, { email: 'ada@example.com', password: PASSWORD });
    assert.equal(signedIn.status, 303);
    return browser.get(new URL(String(signedIn.headers.get('location')), appUrl).href);
  }

  /** What a page links to, loads and posts to, at our own host. */
  const linkedFrom = ({ body }: Visit) =>
    [...body.matchAll(/ (?:href|action|src)="(\/[^"]*)"/g)].map(([, path = '']) => path.replaceAll('&amp;', '&'));

  const userCode = async () => {
    const asked = await postForm(`${appUrl}/oauth2/device_authorization`, { client_id: television.clientId });
    return asked.body as Record<string, string>;
  };

  test('RFC 6749 §5.2: error_uri leads to the developers’ page below the base', async () => {
    const browser = new Browser();
    const address = standardUrl(service, client);
    const back = await allowOn(browser, await signIn(browser, await browser.get(address)));
    const code = String(back.searchParams.get('code'));
    pairOf(await exchangeCode(service, client, code));
    const { error_uri: where } = (await exchangeCode(service, client, code)).body;
    assert.equal(where, `${appUrl}${BASE}/developers#reason-used`);
  });

  test('operators: every page, form and file that a page leads to is below the base, or published', async () => {
    const browser = new Browser();
    const { verification_uri_complete: device = '' } = await userCode();
    const here = [
      paths.home,
      paths.signIn,
      paths.signOut,
      paths.account,
      paths.apps,
      paths.password,
      paths.device,
      paths.developers,
      paths.developersMarkdown,
    ];
    const starts = here.map((path) => appUrl + path);
    const asking = [authorizeUrl(service, client), standardUrl(service, client), device];
    const visits: Visit[] = [];
    for (const url of [...starts, ...asking]) visits.push(await browser.get(url));
    await signIn(browser, await browser.get(appUrl + paths.apps));
    for (const url of [...starts, ...asking, `${appUrl}${BASE}/nothing`]) visits.push(await browser.get(url));
    await pressAllow(service, browser, client);
    visits.push(await browser.get(appUrl + paths.apps));
    const found = new Set(visits.flatMap(linkedFrom).map((path) => path.replace(/\?.*$/, '')));
    const posted = [paths.removeApp, paths.signOutEverywhere];
    const published = ['/auth/oauth2/authorize', '/oauth2/authorize'];
    const style = [...found].find((path) => path.endsWith('.css')) ?? '';
    const script = [...found].find((path) => path.endsWith('.js')) ?? '';
    assert.deepEqual([...found].sort(), [...here, ...posted, paths.logo, style, script, ...published].sort());
    assert.ok(style.startsWith(`${BASE}/assets/valetkey-`));
    assert.ok(script.startsWith(`${BASE}/assets/copy-`));
    for (const path of [paths.logo, style, script]) assert.equal((await browser.get(appUrl + path)).status, 200, path);
  });

  test('operators: nothing is answered where pages would be without the base, nor where the base alone leads', async () => {
    const without = Object.values(pagePaths('')).map((path) =>
      typeof path === 'string' ? path : path('0123456789ab'),
    );
    const elsewhere = ['/connect', '/connect/sign-in', '/pages/sign-in', `${BASE}/`, `${BASE}${BASE}/sign-in`];
    const published = ['/auth/oauth2/authorize', '/api/auth/oauth/token', '/oauth2/token', '/v2/me', '/healthz'];
    const doubled = [...published, '/.well-known/oauth-authorization-server'].map((path) => BASE + path);
    for (const path of [...without, ...elsewhere, ...doubled]) {
      assert.equal((await new Browser().get(appUrl + path)).status, 404, path);
      assert.equal((await new Browser().post(appUrl + path, { email: 'a' })).status, 404, path);
    }
  });

  test('operators: what is published, and the health of the service, stays where it is', async () => {
    const browser = new Browser();
    const statusOf = async (url: string) => (await browser.get(url)).status;
    for (const path of ['/healthz', '/readyz', '/.well-known/oauth-authorization-server'])
      assert.equal(await statusOf(appUrl + path), 200, path);
    for (const path of ['/healthz', '/readyz', '/.well-known/oauth-protected-resource'])
      assert.equal(await statusOf(apiUrl + path), 200, path);
    for (const path of ['/auth/oauth2/authorize', '/oauth2/authorize'])
      assert.equal(await statusOf(appUrl + path), 400);
    for (const path of ['/api/auth/oauth/token', '/api/auth/oauth/refreshToken', '/oauth2/token', '/oauth2/introspect'])
      assert.equal((await postForm(appUrl + path, {})).status, path === '/oauth2/introspect' ? 401 : 400, path);
    assert.equal(await statusOf(`${apiUrl}/v2/me`), 401);
  });

  test('RFC 8628 §3.2, RFC 8414 §2, RFC 9728 §2: documents and the device’s answer name pages with the base', async () => {
    const codes = await userCode();
    assert.equal(codes['verification_uri'], appUrl + paths.device);
    assert.ok(codes['verification_uri_complete']?.startsWith(`${appUrl}${paths.device}?user_code=`));
    const json = async (url: string) => (await fetch(url)).json() as Promise<Record<string, unknown>>;
    const metadata = await json(`${appUrl}/.well-known/oauth-authorization-server`);
    assert.equal(metadata['service_documentation'], appUrl + paths.developers);
    assert.equal(metadata['authorization_endpoint'], `${appUrl}/oauth2/authorize`);
    const resource = await json(`${apiUrl}/.well-known/oauth-protected-resource`);
    assert.equal(resource['resource_documentation'], appUrl + paths.developers);
    const openApi = await json(appUrl + paths.openApi);
    assert.equal((openApi['externalDocs'] as { url: string }).url, appUrl + paths.developers);
    assert.ok(paths.openApi in (openApi['paths'] as object));
    const { body } = await new Browser().get(appUrl + paths.developers);
    assert.ok(body.includes(appUrl + paths.openApi) && body.includes(`<code>${paths.device}</code>`));
  });

  test('design: a cookie is for the whole host whatever the base, as __Host- demands', async () => {
    const { headers } = await new Browser().get(appUrl + paths.signIn);
    assert.match(headers.getSetCookie().join(), /valetkey_visitor=[^;]+; Path=\/; HttpOnly/);
  });
});
