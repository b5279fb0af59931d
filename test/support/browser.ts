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
    const form = formOf(page.body, action);
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

/** The action and hidden fields of a form in a page. */
export function formOf(body: string, action: string): { action: string; fields: Record<string, string> } {
  for (const [form, found = ''] of body.matchAll(/<form method="post" action="([^"]*)"[^>]*>.*?<\/form>/gs)) {
    if (!unescaped(found).startsWith(action)) continue;
    const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)];
    return {
      action: unescaped(found),
      fields: Object.fromEntries(hidden.map(([, name, value]) => [name, unescaped(value ?? '')])),
    };
  }
  throw new Error(`the page has no form for ${action}`);
}

function unescaped(text: string): string {
  const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (whole, name) => entities[name] ?? whole);
}
