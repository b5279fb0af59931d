/** The whole flow over HTTP, as a browser and an app walk it, with every answer checked. */
import { App, type Route } from './app.ts';
import { headingOf } from './browser.ts';
import { type Expect, type Step, type Tell, takeSteps, type Walker } from './walker.ts';

const isSignIn: Expect = ({ status, body }) => [
  ['status 200', status === 200],
  ['the heading "Sign in"', headingOf(body) === 'Sign in'],
];

/** Walks until the end, or until an answer is not the expected one; tells every step as it comes. */
export function walk(route: Route, tell: Tell): Promise<Step[]> {
  return takeSteps(tell, async (walker) => {
    const app = new App(walker, route);
    await signIn(walker, route, app.authorizationPath);
    const first = await app.exchange(await app.consent());
    await app.check('The app asks whose token it is', first);
    const second = await app.refresh(first);
    await app.check('The new access token works', second);
    await takeBack(walker, route);
    await app.refused(second);
    await signOut(walker, route);
  });
}

async function signIn(walker: Walker, { appUrl, email, password }: Route, path: string): Promise<void> {
  await walker.visit('The app sends the browser to Valetkey, which asks to sign in', appUrl + path, isSignIn);
  await walker.submit('The person signs in', '/sign-in', { email, password }, ({ status, headers }) => [
    ['status 303', status === 303],
    [`location ${path}`, headers['location'] === path],
  ]);
}

/** The person's page of connected apps, and taking the access back there. */
async function takeBack(walker: Walker, { appUrl, appName, clientId }: Route): Promise<void> {
  await walker.visit('The person looks at the connected apps', `${appUrl}/account/apps`, ({ status, body }) => [
    ['status 200', status === 200],
    [`${appName} on the page`, body.includes(clientId)],
  ]);
  await walker.submit('The person takes the access back', '/account/apps/revoke', {}, ({ status }) => [
    ['status 303', status === 303],
  ]);
}

/** The end of the person's session. */
async function signOut(walker: Walker, { appUrl, clientId }: Route): Promise<void> {
  await walker.visit('The page of connected apps is empty', `${appUrl}/account/apps`, ({ status, body }) => [
    ['status 200', status === 200],
    ['no app on the page', !body.includes(clientId)],
  ]);
  await walker.submit('The person signs out', '/sign-out', {}, ({ status }) => [['status 303', status === 303]]);
  await walker.visit('Valetkey asks to sign in again', `${appUrl}/account/apps`, isSignIn);
}
