/** A product with the package and a service beside it, and a browser's steps through both. */
import { startService } from '../examples/product.ts';
import type { Browser, Visit } from '../support/browser.ts';
import type { TestClient } from '../support/flow.ts';
import { addClient, freePort, type Lifetime, type TestService } from '../support/service.ts';
import { standardUrl } from '../support/standard.ts';
import type { Modules } from './installed.ts';
import { type Framework, type Habits, PATH, type Site, startSite } from './site.ts';

/** Both, with an app. */
export type World = {
  readonly service: TestService;
  readonly secret: string;
  readonly site: Site;
  readonly client: TestClient;
};

/** Starts both. */
export async function startWorld(
  t: Lifetime,
  modules: Modules,
  framework: Framework = 'Express',
  habits: Habits = {},
): Promise<World> {
  const port = await freePort();
  const { service, secret } = await startService(t, `http://localhost:${port}${PATH}`);
  const site = await startSite(t, modules, framework, { url: service.appUrl, secret }, port, habits);
  return { service, secret, site, client: await addClient(service) };
}

/** Opens an authorization request, and follows to the page that asks for something. */
export async function begin(
  browser: Browser,
  { service, client }: World,
  members: Record<string, string> = {},
): Promise<Visit> {
  return follow(browser, await browser.get(standardUrl(service, client, members)));
}

/** Follows redirects on this machine. */
export async function follow(browser: Browser, visit: Visit): Promise<Visit> {
  let page = visit;
  for (let hops = 0; page.status === 303; hops += 1) {
    if (hops === 12) throw new Error(`a loop at ${page.url}`);
    const url = new URL(page.headers.get('location') ?? '', page.url);
    if (url.hostname === 'client.example') return { ...page, url: url.href };
    page = await browser.get(url.href);
  }
  return page;
}

/** The address that a page's button posts to. */
export function targetOf(page: Visit, words: string): string {
  const forms = [...page.body.matchAll(/<form method="post" enctype="text\/plain" action="([^"]*)"><button>([^<]*)</g)];
  const [, action] = forms.find(([, , label]) => unescaped(label ?? '') === words) ?? [];
  if (action === undefined) throw new Error(`no button "${words}" in ${page.body}`);
  return new URL(unescaped(action), page.url).href;
}

/** Presses a button of a page, as its own site's browser does; headers may be changed. */
export async function press(
  browser: Browser,
  page: Visit,
  words: string,
  headers: Record<string, string | undefined> = {},
): Promise<Visit> {
  const target = targetOf(page, words);
  const own = { 'Content-Type': 'text/plain', Origin: new URL(target).origin, 'Sec-Fetch-Site': 'same-origin' };
  return follow(browser, await browser.post(target, {}, { ...own, ...headers }));
}

function unescaped(text: string): string {
  return text.replace(/&#(\d+);/g, (_whole, code) => String.fromCharCode(Number(code)));
}
