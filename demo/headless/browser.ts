/** As much of a browser as the walk needs: calls that follow nothing by themselves, cookies, and hidden fields. */
import type { Answer, SentRequest } from '../exchange.ts';

/** The cookies of one host. */
export class CookieJar {
  readonly #cookies = new Map<string, string>();

  /** The header to send, or none. */
  get header(): Record<string, string> {
    const pairs = [...this.#cookies].map(([name, value]) => `${name}=${value}`);
    return pairs.length > 0 ? { cookie: pairs.join('; ') } : {};
  }

  /** Keeps what a host set, and drops what it cleared. */
  take(setCookies: readonly string[]): void {
    for (const line of setCookies) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (/;\s*max-age=0/i.test(line)) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
  }
}

/** Makes one call. Redirects are answers like any other. */
export async function call({ method, url, headers, body }: SentRequest, jar?: CookieJar): Promise<Answer> {
  const response = await fetch(url, { method, headers, redirect: 'manual', ...(body === '' ? {} : { body }) });
  jar?.take(response.headers.getSetCookie());
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.text(),
  };
}

/** The first form on a page that posts to a path, whatever its query: its action and its hidden fields. */
export function formOn(page: string, path: string): { action: string; fields: Record<string, string> } {
  const forms = page.matchAll(/<form\b[^>]*\baction="([^"]*)"[^>]*>(.*?)<\/form>/gs);
  for (const [, action = '', content = ''] of forms) {
    if (decoded(action).split('?')[0] !== path) continue;
    const inputs = content.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)">/g);
    const fields = [...inputs].map(([, name = '', value = '']) => [decoded(name), decoded(value)]);
    return { action: decoded(action), fields: Object.fromEntries(fields) };
  }
  return { action: path, fields: {} };
}

/** Returns the text of a page's heading. */
export function headingOf(page: string): string {
  const heading = /<h1[^>]*>(.*?)<\/h1>/s.exec(page)?.[1] ?? '';
  return decoded(heading.replace(/<[^>]*>/g, '')).trim();
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function decoded(text: string): string {
  return text.replace(/&(amp|lt|gt|quot|#39);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}
