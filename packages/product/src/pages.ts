/** The few pages that the endpoint shows by itself. */

/** A button: an address that a form posts to. */
export type Button = { readonly to: string; readonly words: string };

/** A page. Texts are escaped here. */
export type PageParts = {
  readonly title: string;
  readonly words: string;
  readonly buttons?: readonly Button[];
  /** A link below. */
  readonly link?: Button;
  /** An address that the page opens by itself, at once. */
  readonly goTo?: string;
};

/** An answer of the endpoint, for any framework. */
export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly cookies: readonly string[];
  readonly body: string;
};

const STYLE =
  'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:28rem;margin:4rem auto;padding:0 1rem;color:CanvasText;background:Canvas;color-scheme:light dark}' +
  'form{margin:.75rem 0}button{font:inherit;width:100%;padding:.6rem;border:1px solid;border-radius:.4rem;background:none;color:inherit;cursor:pointer}';

/**
 * Headers of all answers. The policy has no `form-action`: browsers apply it to the redirects after a form. The referrer
 * policy lets browsers send `Origin`, and no address to others.
 */
const HEADERS = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'",
  'Referrer-Policy': 'same-origin',
  'X-Content-Type-Options': 'nosniff',
};

/** Makes a page. */
export function page(status: number, parts: PageParts, cookies: readonly string[] = []): Answer {
  const { title, words, buttons = [], link, goTo } = parts;
  // text/plain: no framework reads such a body as a form, and the whole answer is in the address.
  const forms = buttons.map(
    ({ to, words }) =>
      `<form method="post" enctype="text/plain" action="${escaped(to)}"><button>${escaped(words)}</button></form>`,
  );
  const refresh = goTo === undefined ? '' : `<meta http-equiv="refresh" content="0;url=${escaped(goTo)}">`;
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width">${refresh}<title>${escaped(title)}</title>`;
  const more = link ? `<p><a href="${escaped(link.to)}">${escaped(link.words)}</a></p>` : '';
  const body = `<!doctype html><html lang="en"><head>${head}<style>${STYLE}</style></head><body><main><h1>${escaped(title)}</h1><p>${escaped(words)}</p>${forms.join('')}${more}</main></body></html>`;
  return { status, headers: { ...HEADERS, 'Content-Type': 'text/html; charset=utf-8' }, cookies, body };
}

/** Makes a redirect. */
export function redirect(location: string, cookies: readonly string[] = []): Answer {
  return { status: 303, headers: { ...HEADERS, Location: location }, cookies, body: '' };
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
