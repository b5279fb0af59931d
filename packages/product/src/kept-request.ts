/** Sign-in requests between two visits: each in a cookie of this browser, so that the product stores nothing. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Header } from './pages.ts';

/** A request as Valetkey sent it: the digest that names it, its sealed text, and when it came. Times in ms. */
export type KeptRequest = {
  readonly digest: string;
  readonly text: string;
  readonly since: number;
  /** The time of the oldest sign-in that satisfies the app; null if any does. */
  readonly oldest: number | null;
  readonly mustChoose: boolean;
  readonly appName: string;
  /** The email address that the app expects. */
  readonly hint: string | null;
  /** Languages by preference, such as `fr-CA fr`. */
  readonly locales: string | null;
};

/** Lifetime of a sealed text, in seconds. */
const LIFETIME = 3600;
/** Maximum number of a browser's requests, and of the characters of their cookies: headers bear about 8,000. */
const MAX_REQUESTS = 3;
const MAX_CHARACTERS = 7000;
/** Maximum characters of one cookie: browsers keep 4,096 with its name and attributes. */
const MAX_COOKIE = 3800;

/** Keeps requests in the cookies of a browser. `key` makes the MACs; `isSecure` is false on http alone. */
export class KeptRequests {
  readonly #key: Buffer;
  readonly #attributes: string;

  constructor(key: Buffer, isSecure: boolean) {
    this.#key = key;
    this.#attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  /** Reads the query that Valetkey sent; null if it has no sealed text, or is too long for cookies. */
  receive(query: URLSearchParams): KeptRequest | null {
    const text = query.get('sign_in_request') ?? '';
    const prompts = query.get('prompt')?.split(' ') ?? [];
    const maxAge = prompts.includes('login') ? '0' : query.get('max_age');
    const since = Date.now();
    const request = {
      digest: digestOf(text),
      text,
      since,
      oldest: maxAge === null ? null : since - Number(maxAge) * 1000,
      mustChoose: prompts.includes('select_account'),
      appName: query.get('client_name')?.match(/^.{0,100}/su)?.[0] || 'An app',
      hint: query.get('login_hint')?.match(/^.{0,254}/su)?.[0] ?? null,
      locales: query.get('ui_locales')?.slice(0, 100) ?? null,
    };
    return /^[\w-]+$/.test(text) && this.#format(request).length <= MAX_CHARACTERS ? request : null;
  }

  /** Returns the `Set-Cookie` headers that keep a request, and forget the oldest ones for which there is no room. */
  keep(request: KeptRequest, cookie: string): Header[] {
    const others = this.all(cookie).filter(({ digest }) => digest !== request.digest);
    const kept = [request, ...others].slice(0, MAX_REQUESTS);
    while (kept.map((one) => this.#format(one)).join('').length > MAX_CHARACTERS) kept.pop();
    const gone = [...textsIn(cookie).keys()].filter((digest) => kept.every((one) => one.digest !== digest));
    return [...gone.flatMap((digest) => this.cookies(digest)), ...this.cookies(request.digest, this.#format(request))];
  }

  /** Returns the `Set-Cookie` headers of a request's two cookies, so that no half stays; without a value, they forget it. */
  cookies(digest: string, value = ''): Header[] {
    return ['', '.2'].map((end, index) => {
      const part = value.slice(index * MAX_COOKIE, (index + 1) * MAX_COOKIE);
      const lifetime = `Max-Age=${part ? LIFETIME : 0}`;
      return ['Set-Cookie', `valetkey_request_${digest}${end}=${part}; ${lifetime}; ${this.#attributes}`];
    });
  }

  /** Returns a browser's requests, newest first, except those that somebody changed. */
  all(cookie: string): KeptRequest[] {
    const found = [...textsIn(cookie)].flatMap(([digest, text]) => this.#parse(digest, text) ?? []);
    return found.sort((one, other) => other.since - one.since);
  }

  /** Returns the MAC of some texts, the first of which is its purpose. */
  mac(...texts: readonly string[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(texts)).digest('base64url');
  }

  /** Returns true for the MAC of these texts. */
  isMac(mac: string, ...texts: readonly string[]): boolean {
    const given = Buffer.from(mac);
    const right = Buffer.from(this.mac(...texts));
    return given.length === right.length && timingSafeEqual(given, right);
  }

  #format({ digest, text, ...others }: KeptRequest): string {
    const rest = Buffer.from(JSON.stringify(others)).toString('base64url');
    return [text, rest, this.mac('request', text, rest)].join('.');
  }

  #parse(digest: string, value: string): KeptRequest | null {
    const [text = '', rest = '', mac = ''] = value.split('.');
    if (!this.isMac(mac, 'request', text, rest) || digestOf(text) !== digest) return null;
    return { digest, text, ...JSON.parse(Buffer.from(rest, 'base64url').toString()) };
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** Returns the texts of kept requests by digest. Of two cookies with one name, the first counts: it has the longer path. */
function textsIn(cookie: string): Map<string, string> {
  const pairs = [...cookie.matchAll(/(?:^|;) ?valetkey_request_([\w-]{16})(\.2)?=([^;]*)/g)];
  const half = (digest: string, end?: string) => pairs.find((pair) => pair[1] === digest && pair[2] === end)?.[3] ?? '';
  return new Map(pairs.map(([, digest = '']) => [digest, half(digest) + half(digest, '.2')]));
}
