/** The whole flow where the accounts are a product's: it signs in, Valetkey asks, and the product's settings take back. */
import { asJson } from '../exchange.ts';
import type { Purpose } from '../product/valetkey.ts';
import type { StagedProduct } from '../stage.ts';
import { App, type Route } from './app.ts';
import { headingOf } from './browser.ts';
import { type Expect, type Step, type Tell, takeSteps, type Walker } from './walker.ts';

/** The product's own paths, as a person's browser comes upon them. */
const SIGN_IN = '/oauth/sign-in';
const SETTINGS = '/settings/apps';

/** The calls of the product's server while a browser waits for it. */
const CALLS: Readonly<Record<Purpose, readonly [name: string, expect: Expect]>> = {
  sign_in: [
    'Tintype’s server tells Valetkey who is signed in',
    ({ status, body }) => [
      ['status 200', status === 200],
      ['exactly redirect_to', Object.keys(asJson(body) ?? {}).join() === 'redirect_to'],
    ],
  ],
  connections: [
    'Tintype’s server asks which apps this person connected',
    ({ status, body }) => [
      ['status 200', status === 200],
      ['a list of connections', Array.isArray((asJson(body) as { connections?: unknown })?.connections)],
    ],
  ],
  disconnect: ['Tintype’s server takes everything back from the app', ({ status }) => [['status 204', status === 204]]],
  end_sessions: ['Tintype’s server ends the sign-in at Valetkey too', ({ status }) => [['status 204', status === 204]]],
};

const isSignIn: Expect = ({ status, body }) => [
  ['status 200', status === 200],
  ['the heading "Sign in"', headingOf(body) === 'Sign in'],
];

/** Walks until the end, or until an answer is not the expected one; tells every step as it comes. */
export function walkAtProduct(route: Route, product: StagedProduct, tell: Tell): Promise<Step[]> {
  return takeSteps(tell, async (walker) => {
    product.onCall((purpose, exchange) => walker.note(CALLS[purpose][0], exchange, CALLS[purpose][1]));
    const app = new App(walker, route);
    await signIn(walker, route, product, app.authorizationPath);
    const first = await app.exchange(await app.consent());
    await app.check('The app asks whose token it is', first);
    const second = await app.refresh(first);
    await app.check('The new access token works', second);
    await takeBack(walker, route, product);
    await app.refused(second);
    await signOut(walker, route, product, app.authorizationPath);
  });
}

async function signIn(walker: Walker, route: Route, { url }: StagedProduct, path: string): Promise<void> {
  const address = await sentToProduct('The app sends the browser to Valetkey, which sends it on', walker, route, path);
  const kept = await walker.visit('Tintype keeps the sign-in request in a cookie', address, ({ status, headers }) => [
    ['status 303', status === 303],
    ['the sign-in request out of the address', headers['location']?.startsWith(`${SIGN_IN}?request=`) === true],
  ]);
  const next = url + (kept.headers['location'] ?? '');
  const asked = await walker.visit('Nobody is signed in at Tintype', next, ({ status, headers }) => [
    ['status 303', status === 303],
    ['to the sign-in page', headers['location']?.startsWith('/sign-in?next=') === true],
  ]);
  await walker.visit('Tintype asks to sign in, as it always does', url + (asked.headers['location'] ?? ''), isSignIn);
  const { email, password } = route;
  const signedIn = await walker.submit(
    'The person signs in at Tintype',
    '/sign-in',
    { email, password },
    ({ status, headers }) => [
      ['status 303', status === 303],
      [`location ${SIGN_IN}`, headers['location']?.startsWith(`${SIGN_IN}?request=`) === true],
    ],
  );
  const back = await walker.visit(
    'Tintype sends the browser back',
    url + (signedIn.headers['location'] ?? ''),
    ({ status, headers }) => [
      ['status 303', status === 303],
      ['a ticket for Valetkey', headers['location']?.startsWith(`${route.appUrl}/sign-in/continue?ticket=`) === true],
    ],
  );
  const ticket = back.headers['location'] ?? '';
  await walker.visit('Valetkey takes the ticket, once, in this browser', ticket, ({ status, headers }) => [
    ['status 303', status === 303],
    [`location ${path}`, headers['location'] === path],
  ]);
}

/** The authorization request of somebody whom Valetkey does not know: where the browser is sent. */
async function sentToProduct(name: string, walker: Walker, { appUrl }: Route, path: string): Promise<string> {
  const { headers } = await walker.visit(name, appUrl + path, (answer) => [
    ['status 303', answer.status === 303],
    [
      'a sign-in request for Tintype',
      new URL(answer.headers['location'] ?? '', appUrl).searchParams.has('sign_in_request'),
    ],
  ]);
  return headers['location'] ?? '';
}

/** The product's own settings, and taking the access back there. */
async function takeBack(walker: Walker, { appName }: Route, { url }: StagedProduct): Promise<void> {
  await walker.visit('The person looks at the settings of Tintype', url + SETTINGS, ({ status, body }) => [
    ['status 200', status === 200],
    [`${appName} among the apps`, isAmongApps(body, appName)],
  ]);
  await walker.submit('The person disconnects the app there', SETTINGS, {}, ({ status }) => [
    ['status 303', status === 303],
  ]);
}

/** True if the page has a button that disconnects the app; the page also shows the calls, which name it. */
function isAmongApps(page: string, appName: string): boolean {
  return page.includes(`>Disconnect<span class="unseen"> ${appName}<`);
}

/** The end of the session at the product, which is the end of it at Valetkey. */
async function signOut(walker: Walker, route: Route, { url }: StagedProduct, path: string): Promise<void> {
  await walker.visit('Tintype shows no connected app any more', url + SETTINGS, ({ status, body }) => [
    ['status 200', status === 200],
    ['no app', !isAmongApps(body, route.appName)],
  ]);
  await walker.submit('The person signs out of Tintype', '/sign-out', {}, ({ status }) => [
    ['status 303', status === 303],
  ]);
  await sentToProduct('For the next request, Valetkey asks Tintype again', walker, route, path);
  await walker.visit('Tintype asks to sign in again', url + SETTINGS, isSignIn);
}
