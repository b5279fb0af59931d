/** Sign-in requests between two visits: each in a cookie of this browser, so that the product stores nothing. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';

/** A request as Valetkey sent it. `since` is when it came, in ms. */
export type KeptRequest = {
  /** Names the request in addresses. */
  readonly digest: string;
  /** The sealed text. */
  readonly text: string;
  readonly since: number;
  readonly appName: string;
  readonly prompts: readonly string[];
  /** Maximum age of the sign-in, in seconds. */
  readonly maxAge: number | null;
  readonly hint: string | null;
  readonly locales: string | null;
};

/** Lifetime of a sealed text, in seconds. */
const LIFETIME = 3600;
/** Maximum number of requests of a browser, and of the characters of all their cookies: headers bear about 8,000. */
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
    this.#attributes = `; Path=/; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;
  }

  /** Reads what Valetkey sent; null if it is too long for cookies, or no sealed text. `now` in ms. */
  receive(query: URLSearchParams, now: number): KeptRequest | null {
    const text = query.get('sign_in_request') ?? '';
    if (!/^[\w-]+$/.test(text)) return null;
    const maxAge = /^\d{1,10}$/.exec(query.get('max_age') ?? '');
    const request: KeptRequest = {
      ...{ digest: digestOf(text), text, since: now },
      appName: [...(query.get('client_name') || 'An app')].slice(0, 100).join(''),
      prompts: (query.get('prompt') ?? '').split(' ').filter((one) => one === 'login' || one === 'select_account'),
      maxAge: maxAge && Number(maxAge[0]),
      hint: shortOf(query.get('login_hint'), 254),
      locales: shortOf(query.get('ui_locales'), 100),
    };
    if (this.#format(request).length <= MAX_CHARACTERS) return request;
    const bare = { ...request, hint: null, locales: null }; // They help, and nothing depends on them.
    return this.#format(bare).length <= MAX_CHARACTERS ? bare : null;
  }

  /** Returns the `Set-Cookie` headers that keep a request, and forget the oldest for which there is no room. */
  keep(request: KeptRequest, cookie: string): string[] {
    const value = this.#format(request);
    const others = this.all(cookie).filter(({ digest }) => digest !== request.digest);
    const forgotten = new Set(digestsIn(cookie));
    let room = MAX_CHARACTERS - value.length;
    for (const other of others.slice(0, MAX_REQUESTS - 1)) {
      room -= this.#format(other).length;
      if (room >= 0) forgotten.delete(other.digest);
    }
    forgotten.delete(request.digest);
    const name = nameOf(request.digest);
    const parts = [value.slice(0, MAX_COOKIE), value.slice(MAX_COOKIE)];
    return [
      ...[...forgotten].flatMap((digest) => this.forget(digest)),
      `${name}=${parts[0]}; Max-Age=${LIFETIME}${this.#attributes}`,
      // Empty where one cookie is enough, so that no second half of an earlier visit stays.
      `${name}.2=${parts[1]}; Max-Age=${parts[1] ? LIFETIME : 0}${this.#attributes}`,
    ];
  }

  /** Returns the `Set-Cookie` headers that forget a request. */
  forget(digest: string): string[] {
    return [nameOf(digest), `${nameOf(digest)}.2`].map((name) => `${name}=; Max-Age=0${this.#attributes}`);
  }

  /** Returns the requests that a browser holds, newest first: none that somebody changed, or made elsewhere. */
  all(cookie: string): KeptRequest[] {
    const found = digestsIn(cookie).flatMap((digest) => this.find(cookie, digest) ?? []);
    return found.sort((one, other) => other.since - one.since);
  }

  /** Returns a request that a browser holds; null if it does not, or not as we wrote it. */
  find(cookie: string, digest: string): KeptRequest | null {
    const values = new Map(pairsIn(cookie));
    const value = (values.get(nameOf(digest)) ?? '') + (values.get(`${nameOf(digest)}.2`) ?? '');
    const [since = '', text = '', rest = '', mac = ''] = value.split('.');
    if (!this.isMac(mac, ['request', since, text, rest]) || digestOf(text) !== digest) return null;
    const others = JSON.parse(Buffer.from(rest, 'base64url').toString());
    return { ...others, digest, text, since: Number.parseInt(since, 36) };
  }

  /** Returns the MAC of some texts, the first of which is its purpose. */
  mac(texts: readonly string[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(texts)).digest('base64url');
  }

  /** Returns true for the MAC of these texts. */
  isMac(mac: string, texts: readonly string[]): boolean {
    const [given, right] = [Buffer.from(mac), Buffer.from(this.mac(texts))];
    return given.length === right.length && timingSafeEqual(given, right);
  }

  #format({ digest, text, since, ...others }: KeptRequest): string {
    const parts = [since.toString(36), text, Buffer.from(JSON.stringify(others)).toString('base64url')];
    return [...parts, this.mac(['request', ...parts])].join('.');
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

function nameOf(digest: string): string {
  return `valetkey_request_${digest}`;
}

function digestsIn(cookie: string): string[] {
  return [
    ...new Set(pairsIn(cookie).flatMap(([name]) => /^valetkey_request_([\w-]{16})(\.2)?$/.exec(name)?.[1] ?? [])),
  ];
}

/** Of two cookies with one name, the first counts, which is the one with the longer path. */
function pairsIn(cookie: string): [string, string][] {
  const pairs = cookie.split(/; ?/).map((pair): [string, string] => {
    const end = pair.indexOf('=');
    return [pair.slice(0, end), pair.slice(end + 1)];
  });
  return pairs.reverse();
}

function shortOf(text: string | null, most: number): string | null {
  return text && text.length <= most ? text : null;
}
