/** The endpoint's answers: redirects, and a few pages. */

/** A header; `Set-Cookie` may come more than once. */
export type Header = [name: string, value: string];

/** A page's title, and what it says. */
export type Texts = readonly [title: string, words: string];

/** An answer of the endpoint, for any framework. */
export type Answer = { readonly status: number; readonly headers: Header[]; readonly body: string };

const STYLE =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:28rem;margin:4rem auto;padding:0 1rem;color:CanvasText;background:Canvas;color-scheme:light dark}' +
  'form{margin:.75rem 0}button{font:inherit;width:100%;padding:.6rem;border:1px solid;border-radius:.4rem;background:none;color:inherit;cursor:pointer}';

/** Headers of all answers. The referrer policy lets browsers send `Origin`, and no address to other sites. */
const HEADERS: readonly Header[] = [
  ['Cache-Control', 'no-store'],
  // No form-action: browsers apply it to the redirects after a form.
  ['Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"],
  ['Referrer-Policy', 'same-origin'],
  ['X-Content-Type-Options', 'nosniff'],
];

/** Makes a page; `more` is HTML below its words. */
export function page(status: number, [title, words]: Texts, more = '', headers: Header[] = []): Answer {
  const meta = '<meta charset="utf-8"><meta name="viewport" content="width=device-width">';
  const top = `<head>${meta}<title>${escaped(title)}</title><style>${STYLE}</style></head>`;
  const main = `<main><h1>${escaped(title)}</h1><p>${escaped(words)}</p>${more}</main>`;
  const body = `<!doctype html><html lang="en">${top}<body>${main}</body></html>`;
  return { status, headers: [...HEADERS, ['Content-Type', 'text/html; charset=utf-8'], ...headers], body };
}

/** Makes a redirect. */
export function redirect(location: string, headers: Header[] = []): Answer {
  return { status: 303, headers: [...HEADERS, ['Location', location], ...headers], body: '' };
}

/** Makes a button. text/plain: no framework reads such a body as a form, and the whole answer is in the address. */
export function button(to: string, words: string): string {
  return `<form method="post" enctype="text/plain" action="${escaped(to)}"><button>${escaped(words)}</button></form>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
