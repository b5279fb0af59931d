/** A browser's steps through a product of examples/ and the service beside it. */
import assert from 'node:assert/strict';
import type { Browser, Visit } from '../support/browser.ts';
import { REDIRECT_URI } from '../support/service.ts';

/** Follows redirects until a page comes, or the app's own address. */
export async function follow(browser: Browser, visit: Visit): Promise<Visit> {
  let page = visit;
  for (let hops = 0; page.status === 303 || page.status === 302; hops += 1) {
    assert.ok(hops < 12, 'no loop');
    const { href } = new URL(page.headers.get('location') ?? '', page.url);
    if (href.startsWith(REDIRECT_URI)) return { ...page, url: href };
    page = await browser.get(href);
  }
  return page;
}

/** The address of a button, which has the whole answer. */
export function targetOf(page: Visit, words: string): URL {
  const forms = [...page.body.matchAll(/enctype="text\/plain" action="([^"]*)"><button>([^<]*)</g)];
  const action = forms.find(([, , label]) => label === words)?.[1]?.replace(/&(amp|#38);/g, '&');
  assert.ok(action, `${words} in ${page.body}`);
  return new URL(action, page.url);
}

/** Presses such a button, by default as the page's own site. */
export async function press(browser: Browser, page: Visit, words: string, origin?: string): Promise<Visit> {
  const target = targetOf(page, words);
  const headers = { 'Content-Type': 'text/plain', Origin: origin ?? target.origin };
  return follow(browser, await browser.post(target.href, {}, headers));
}
