// Tintype, the product of the demonstration, driven as a browser would, with the real service behind it.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { anyPorts, listenFrom } from '../../demo/free-ports.ts';
import { type Stage, setProductStage } from '../../demo/stage.ts';
import { makeCommandContext, startService } from '../../src/main.ts';
import { lineByLine, makeLogger } from '../../src/process/log.ts';
import { readConfiguration } from '../../src/settings/configuration.ts';
import { allAccounts } from '../support/all-accounts.ts';
import { Browser, type Visit } from '../support/browser.ts';

const REDIRECT_URI = 'http://127.0.0.1:8080/callback';

type World = { stage: Stage; product: string; browser: Browser };

async function setUp(t: TestContext): Promise<World> {
  const directory = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  const logger = makeLogger(lineByLine(), Date.now);
  logger.level = 'silent';
  const stage = await setProductStage({
    lent: {
      start: (variables) => startService(readConfiguration(variables), { logger }),
      open: (variables) => makeCommandContext(variables).open(true),
    },
    directory,
    pickPorts: () => anyPorts(2),
    listen: () => listenFrom(0),
    redirectUri: REDIRECT_URI,
  });
  t.after(async () => {
    await stage.stop();
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 });
  });
  return { stage, product: stage.product?.url ?? '', browser: new Browser() };
}

/** Posts a form of the product's pages, with the origin that a browser says. */
const post = ({ browser, product }: World, path: string, fields: Record<string, string>, Origin = product) =>
  browser.post(product + path, fields, { Origin });

/** Follows redirects within the product. */
async function follow({ browser, product }: World, visit: Visit): Promise<Visit> {
  let page = visit;
  while (page.status === 303) {
    const url = new URL(page.headers.get('location') ?? '', page.url);
    if (url.origin !== product) break;
    page = await browser.get(url.href);
  }
  return page;
}

/** Goes to the app's request, and on to the product's page for it. */
async function toSignIn(world: World, prompt?: string): Promise<Visit> {
  const { stage, browser } = world;
  const query = { client_id: stage.seeded.clientId, state: 'x'.repeat(32), redirect_uri: REDIRECT_URI };
  const more = { response_type: 'code', ...(prompt ? { prompt } : {}) };
  const away = await browser.get(
    `${stage.running.appUrl}/oauth2/authorize?${new URLSearchParams({ ...query, ...more })}`,
  );
  return follow(world, await browser.get(away.headers.get('location') ?? ''));
}

/** The path behind which the product kept the request that a sign-in page is for. */
const nextOf = (page: Visit) => new URL(page.url).searchParams.get('next') ?? '';

const typed = ({ stage: { seeded } }: World) => ({ email: seeded.email, password: seeded.password });

test('no password is at Valetkey, and a wrong one at the product leads nowhere', async (t) => {
  const world = await setUp(t);
  const next = nextOf(await toSignIn(world));
  const again = await follow(world, await post(world, '/sign-in', { ...typed(world), password: 'wrong', next }));
  assert.equal(nextOf(again), next);
  assert.match(again.body, /don’t go together/);
  assert.deepEqual(await allAccounts(world.stage.running.installation.accounts), []);
});

test('prompt=login needs a new sign-in, select_account a choice; a refusal goes back to the app', async (t) => {
  const world = await setUp(t);
  await follow(world, await post(world, '/sign-in', { ...typed(world), next: nextOf(await toSignIn(world)) }));
  const anew = await toSignIn(world, 'login');
  assert.match(anew.body, /<h1>Sign in.*No, go back to Postcards/s);
  assert.doesNotMatch(anew.body, /Go on as/);
  const choice = await toSignIn(world, 'select_account');
  assert.match(choice.body, /Go on as Mira Lindqvist/);
  const [, action = ''] = /action="([^"]*)"><button>No, go back/.exec(choice.body) ?? [];
  const refused = await post(world, action.replaceAll('&#38;', '&'), {});
  const onward = await world.browser.get(refused.headers.get('location') ?? '');
  assert.match(onward.headers.get('location') ?? '', /^http:\/\/127\.0\.0\.1:8080\/callback\?error=access_denied&/);
  assert.equal((await world.browser.get(choice.url)).status, 400, 'nothing waits any more');
});

test('a form counts only from the product itself, and no other page is led to', async (t) => {
  const world = await setUp(t);
  for (const Origin of ['https://evil.example', 'null'])
    assert.equal((await post(world, '/sign-in', typed(world), Origin)).status, 403, Origin);
  const signedIn = await post(world, '/sign-in', { ...typed(world), next: 'https://evil.example/' });
  assert.equal(signedIn.headers.get('location'), '/');
});

test('the calls are shown without their secrets; when Valetkey is gone, the settings say so', async (t) => {
  const world = await setUp(t);
  const next = nextOf(await toSignIn(world));
  const back = await follow(world, await post(world, '/sign-in', { ...typed(world), next }));
  const ticket = new URL(back.headers.get('location') ?? '').searchParams.get('ticket') ?? '';
  const settings = await world.browser.get(`${world.product}/settings/apps`);
  assert.match(settings.body, /No app is connected/);
  assert.match(settings.body, /&quot;subject&quot;: &quot;p-1017&quot;/);
  assert.match(settings.body, /authorization: Basic [\w-]{6}…/);
  assert.ok(ticket !== '' && !settings.body.includes(ticket), 'the ticket is shortened');
  assert.match(settings.body, /&quot;sign_in_request&quot;: &quot;[\w-]{6}…[\w-]{6}&quot;/);
  await world.stage.running.stop();
  const without = await world.browser.get(`${world.product}/settings/apps`);
  assert.match(without.body, /can’t be shown right now/);
});
