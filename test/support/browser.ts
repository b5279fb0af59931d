/** A browser of a few lines: it keeps cookies, reads hidden fields and posts forms, and never follows a redirect by itself. */

/** A page or redirect that came back. */
export type Visit = { readonly status: number; readonly headers: Headers; readonly body: string; readonly url: string };

/** Fields of a form; one with several values is sent as often. */
export type PostedFields = Record<string, string | string[]>;

/** One person's browser on one origin. */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly headers: Record<string, string>;

  constructor(headers: Record<string, string> = {}) {
    this.headers = headers;
  }

  /** GETs a page. */
  get(url: string): Promise<Visit> {
    return this.#send(url, { method: 'GET' });
  }

  /**
   * Posts the form of a page whose action starts with `action`, with its hidden fields, as its own page would; headers
   * that are undefined are left out.
   */
  submit(
    page: Visit,
    action: string,
    fields: PostedFields = {},
    headers: Record<string, string | undefined> = {},
  ): Promise<Visit> {
    const form = formOf(page.body, action, fields);
    const url = new URL(form.action, page.url);
    const all = { 'Sec-Fetch-Site': 'same-origin', Origin: url.origin, ...headers };
    return this.post(url.href, { ...form.fields, ...fields }, all);
  }

  /** Posts a form. */
  post(url: string, fields: PostedFields, headers: Record<string, string | undefined> = {}): Promise<Visit> {
    const sent = Object.entries(headers).filter((pair): pair is [string, string] => pair[1] !== undefined);
    const body = new URLSearchParams();
    for (const [name, values] of Object.entries(fields)) for (const value of [values].flat()) body.append(name, value);
    return this.#send(url, { method: 'POST', body, headers: sent });
  }

  async #send(url: string, init: RequestInit): Promise<Visit> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = {
      Accept: 'text/html,application/xhtml+xml,*/*;q=0.8',
      ...this.headers,
      ...(cookie ? { Cookie: cookie } : {}),
      ...Object.fromEntries((init.headers as [string, string][] | undefined) ?? []),
    };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '') this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return { status: response.status, headers: response.headers, body: await response.text(), url };
  }
}

/** A page of an error without what it says was received, which it shows as text. */
export function withoutReceived(body: string): string {
  return body.replace(/<dd><code>(?:<\/?(?:bdi|wbr)\b[^>]*>|[^<>])*<\/code><\/dd>/, '');
}

/** A form's action and hidden fields. */
export type Form = { readonly action: string; readonly fields: Record<string, string> };

/** The form in a page for an action: of several, the first that has all of some fields as they are to be sent. */
export function formOf(body: string, action: string, sent: PostedFields = {}): Form {
  const [first, ...others] = formsOf(body, action);
  if (!first) throw new Error(`the page has no form for ${action}`);
  const fits = ({ fields }: Form) =>
    Object.entries(sent).every(([name, value]) => !(name in fields) || fields[name] === value);
  return [first, ...others].find(fits) ?? first;
}

/** The forms in a page whose action starts with `action`. */
export function formsOf(body: string, action: string): Form[] {
  return [...body.matchAll(/<form method="post" action="([^"]*)"[^>]*>.*?<\/form>/gs)]
    .map(([form, found = '']) => {
      const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
      const fields = Object.fromEntries(hidden.map(([, name, value]) => [name, unescaped(value ?? '')]));
      return { action: unescaped(found), fields };
    })
    .filter((form) => form.action.startsWith(action));
}

/** Returns the text of an attribute. */
export function unescaped(text: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name) => entities[name] ?? whole);
}
