/** Pages are for a window that a person looks at: a script, a frame or a service worker of the same host gets none. */
import assert from 'node:assert/strict';
import { request as send } from 'node:http';
import { after, describe, test } from 'node:test';
import { type Form, formOf } from '../../support/browser.ts';
import { authorizeUrl, forgetDecisions, postForm, signedInBrowser } from '../../support/flow.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';
import { standardUrl } from '../../support/standard.ts';

type Headers = Readonly<Record<string, string>>;
type Answer = { readonly status: number; readonly body: string; readonly location: string | undefined };

const WINDOW = { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' };
const NO_WINDOWS: readonly (readonly [string, Headers])[] = [
  ['fetch', { ...WINDOW, 'Sec-Fetch-Mode': 'cors', 'Sec-Fetch-Dest': 'empty' }],
  ['fetch without a mode', { 'Sec-Fetch-Site': 'same-origin', 'Sec-Fetch-Dest': 'empty' }],
  ['a frame', { ...WINDOW, 'Sec-Fetch-Dest': 'iframe' }],
  ['an object', { ...WINDOW, 'Sec-Fetch-Dest': 'object' }],
  ['an image', { ...WINDOW, 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' }],
  ['no navigation', { ...WINDOW, 'Sec-Fetch-Mode': 'same-origin' }],
  ['a service worker', { ...WINDOW, 'Sec-Fetch-Dest': 'empty' }],
  ['what is loaded ahead for a service worker', { ...WINDOW, 'Service-Worker-Navigation-Preload': 'true' }],
];

const service = await startTestService({ after });
const { appUrl } = service;
await addUser(service);
const browser = await signedInBrowser(service);
const client = await addClient(service, { name: 'Notes' });
const television = await addClient(service, { name: 'Television', deviceFlow: true }, 'public');
const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

describe('a page is for a window', () => {
  /** As a browser sends it: `fetch` of Node.js would put a mode of its own in the place of ours. */
  function ask(url: string, headers: Headers, fields?: Readonly<Record<string, string>>): Promise<Answer> {
    const form = fields && new URLSearchParams(fields).toString();
    const type = form === undefined ? {} : { 'Content-Type': 'application/x-www-form-urlencoded', Origin: appUrl };
    return new Promise((resolve, reject) => {
      const sent = send(url, {
        method: form === undefined ? 'GET' : 'POST',
        headers: { Cookie: cookie, ...type, ...headers },
      });
      sent.on('error', reject).on('response', async (response) => {
        const body = (await response.toArray()).join('');
        resolve({ status: response.statusCode ?? 0, body, location: response.headers.location });
      });
      sent.end(form);
    });
  }

  const deviceUrl = async () => {
    const { body } = await postForm(`${appUrl}/oauth2/device_authorization`, { client_id: television.clientId });
    return String(body['verification_uri_complete']);
  };

  const consents: readonly (readonly [string, () => Promise<string> | string, (answer: Answer) => boolean])[] = [
    ['the published page', () => authorizeUrl(service, client), ({ location = '' }) => location.includes('code=')],
    ['the standard page', () => standardUrl(service, client), ({ location = '' }) => location.includes('code=')],
    ['the device page', deviceUrl, ({ status, body }) => status === 200 && !body.includes('value="allow"')],
  ];

  for (const [name, address, isAllowed] of consents) {
    test(`RFC 6749 §10.12: ${name} shows its form to a window alone, and takes it from a window alone`, async () => {
      const url = await address();
      const page = await ask(url, WINDOW);
      assert.equal(page.status, 200);
      const path = new URL(url).pathname;
      const { action, fields }: Form = formOf(page.body, path);
      const post = (headers: Headers) => ask(appUrl + action, headers, { ...fields, decision: 'allow' });
      for (const [what, headers] of NO_WINDOWS) {
        const shown = await ask(url, headers);
        assert.equal(shown.status, 403, what);
        assert.ok(!/form_token|ada@example\.com/.test(shown.body), `${what}: nothing of the page`);
        const posted = await post(headers);
        assert.deepEqual([posted.status, posted.location], [403, undefined], what);
      }
      await forgetDecisions(service);
      assert.ok(isAllowed(await post(WINDOW)), 'the same form from a window');
    });
  }

  test('design: every page with a form or a name is for a window alone', async () => {
    for (const path of ['/', '/sign-out', '/account/apps', '/account/password', '/device', '/developers'])
      for (const [what, headers] of NO_WINDOWS) {
        const { status, body } = await ask(appUrl + path, headers);
        assert.equal(status, 403, `${path}: ${what}`);
        assert.ok(!/form_token|Ada/.test(body), `${path}: ${what}`);
      }
    assert.ok(service.log.some((line) => line.includes('a script, a frame or a service worker asked for the page')));
  });

  test('design: what no page is for, and who does not say what it is, is answered as ever', async () => {
    const [, frame = {}] = NO_WINDOWS[2] ?? [];
    const none = await ask(standardUrl(service, client, { prompt: 'none' }), frame);
    assert.equal(none.status, 303, 'an answer to the app in a hidden frame');
    assert.match(String(none.location), /error=consent_required/);
    const { body } = await ask(`${appUrl}/account/apps`, WINDOW);
    const [, style = ''] = /href="([^"]*\.css)"/.exec(body) ?? [];
    assert.equal(
      (await ask(appUrl + style, { ...WINDOW, 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'style' })).status,
      200,
    );
    for (const headers of [{}, { 'Sec-Fetch-Site': 'same-origin' }, { 'Sec-Fetch-Mode': 'cors' }])
      assert.equal((await ask(`${appUrl}/account/apps`, headers)).status, 200, JSON.stringify(headers));
  });
});
