/** The operations as calls: their bytes as an app sends them, and what a right answer is. */
import type { Call } from './connection.ts';
import type { Filled } from './fill.ts';

/** The operations, in the order in which a round runs them: each needs what the one before made. */
export const OPERATIONS = ['exchange', 'refresh', 'check', 'introspect'] as const;

/** The name of an operation. */
export type Operation = (typeof OPERATIONS)[number];

/** Where a server takes each operation. */
export type Paths = {
  readonly exchange: string;
  readonly refresh: string;
  /** Where the refresh token goes: in the header `Authorization`, or in the form. */
  readonly refreshTokenIn: 'header' | 'form';
  /** Whether an exchange answers an ID token as well. */
  readonly idToken: boolean;
  readonly check: string;
  /** Null where it has none. */
  readonly introspect: string | null;
};

/** What a grant has at a time. */
export type Pair = { readonly accessToken: string; readonly refreshToken: string };

/** What an app says of itself; the verifier where its codes need one. */
type App = Pick<Filled, 'clientId' | 'clientSecret' | 'redirectUri'> & { readonly codeVerifier?: string };

/** Maximum number of grants that take turns at being refreshed, and of others that do at being checked. */
const MAX_CHAINS = 4096;
const MAX_CHECKED = 10_000;

/** What one target has to spend in one round: codes, then the pairs that they were exchanged for. */
export class Purse {
  readonly #filled: Filled;
  readonly #paths: Paths;
  readonly #chance: () => number;
  #nextCode = 0;
  readonly #pairs: Pair[] = [];
  #chains: Pair[] | null = null;
  #checked: Pair[] = [];

  /** `chance` answers numbers from 0 to below 1. */
  constructor(filled: Filled, paths: Paths, chance: () => number) {
    this.#filled = filled;
    this.#paths = paths;
    this.#chance = chance;
  }

  /** How many codes there were at first. */
  get codes(): number {
    return this.#filled.codes.length;
  }

  /** The source of an operation's calls. */
  calls(operation: Operation): () => Call | null {
    if (operation === 'exchange') return () => this.#exchange();
    this.#share();
    const calls = { refresh: () => this.#refresh(), check: () => this.#check(), introspect: () => this.#introspect() };
    return calls[operation];
  }

  /** Shuffled, so that grants that follow each other are not neighbors on a page of the database. */
  #share(): void {
    if (this.#chains) return;
    const pairs = shuffled(this.#pairs, this.#chance);
    const half = Math.ceil(pairs.length / 2);
    this.#chains = pairs.slice(0, Math.min(half, MAX_CHAINS));
    this.#checked = pairs.slice(this.#chains.length, this.#chains.length + MAX_CHECKED);
  }

  #exchange(): Call | null {
    const code = this.#filled.codes[this.#nextCode];
    this.#nextCode += 1;
    return code === undefined ? null : exchangeCall(this.#paths, this.#filled, code, (pair) => this.#pairs.push(pair));
  }

  /** The chain that waited longest, so that no two requests ever refresh the same grant at once. */
  #refresh(): Call | null {
    const chains = this.#chains as Pair[];
    const before = chains.shift();
    return before ? refreshCall(this.#paths, this.#filled, before, (pair) => chains.push(pair)) : null;
  }

  #check(): Call | null {
    const pair = this.#oneOfChecked();
    return pair ? checkCall(this.#paths, pair) : null;
  }

  #introspect(): Call | null {
    const pair = this.#oneOfChecked();
    return pair ? introspectCall(this.#paths, this.#filled.resourceServer, pair) : null;
  }

  #oneOfChecked(): Pair | undefined {
    return this.#checked[Math.floor(this.#chance() * this.#checked.length)];
  }
}

/** Exchanges a code; `keep` gets the pair of a right answer. */
export function exchangeCall(paths: Paths, app: App, code: string, keep: (pair: Pair) => void): Call {
  const { clientId, clientSecret, redirectUri, codeVerifier } = app;
  const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri };
  const proof = codeVerifier === undefined ? {} : { code_verifier: codeVerifier };
  return {
    text: post(paths.exchange, { ...form, ...proof, client_id: clientId, client_secret: clientSecret }),
    judge: (body) => {
      const pair = readPair(body);
      if (!pair) return 'the answer does not hold two tokens';
      keep(pair);
      const hasIdToken = typeof (body as { id_token?: unknown }).id_token === 'string';
      return hasIdToken === paths.idToken ? null : `the answer ${hasIdToken ? 'holds an' : 'lacks its'} ID token`;
    },
  };
}

/** Refreshes a pair; `keep` gets the next one of an answer that holds one. */
export function refreshCall(paths: Paths, app: App, before: Pair, keep: (pair: Pair) => void): Call {
  const { refresh: path, refreshTokenIn } = paths;
  const inForm = refreshTokenIn === 'form';
  const form = { grant_type: 'refresh_token', client_id: app.clientId, client_secret: app.clientSecret };
  return {
    text: inForm
      ? post(path, { ...form, refresh_token: before.refreshToken })
      : post(path, form, `Bearer ${before.refreshToken}`),
    judge: (body) => {
      const pair = readPair(body);
      if (!pair) return 'the answer does not hold two tokens';
      keep(pair);
      const changed = pair.accessToken !== before.accessToken && pair.refreshToken !== before.refreshToken;
      return changed ? null : 'a token did not change';
    },
  };
}

/** Asks the API whose token it is. */
export function checkCall(paths: Paths, { accessToken }: Pick<Pair, 'accessToken'>): Call {
  return {
    text: `GET ${paths.check} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${accessToken}\r\n\r\n`,
    judge: (body) => {
      const { sub, data } = body as { sub?: unknown; data?: { id?: unknown } };
      return typeof (sub ?? data?.id) === 'string' ? null : 'the answer says of nobody whose token it is';
    },
  };
}

/** Asks for a resource server what an access token is good for. */
export function introspectCall(
  paths: Paths,
  { id, secret }: Filled['resourceServer'],
  { accessToken }: Pick<Pair, 'accessToken'>,
): Call {
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  return {
    text: post(paths.introspect ?? '', { token: accessToken }, authorization),
    judge: (body) => {
      const { active, sub } = body as { active?: unknown; sub?: unknown };
      return active === true && typeof sub === 'string' ? null : 'the answer says that the token is not active';
    },
  };
}

/** Whether an operation is answered by the API's address. */
export function isOfApi(operation: Operation): boolean {
  return operation === 'check';
}

/** Whether an operation marks grants as used, which is written behind. */
export function marksUse(operation: Operation): boolean {
  return operation === 'check' || operation === 'introspect';
}

/** Numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function seededChance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The same things in another order. */
export function shuffled<T>(things: readonly T[], chance: () => number): T[] {
  const keyed = things.map((thing) => ({ thing, key: chance() }));
  return keyed.sort((one, other) => one.key - other.key).map(({ thing }) => thing);
}

function readPair(body: unknown): Pair | null {
  const { access_token: accessToken, refresh_token: refreshToken } = body as Record<string, unknown>;
  if (typeof accessToken !== 'string' || typeof refreshToken !== 'string') return null;
  return accessToken && refreshToken && accessToken !== refreshToken ? { accessToken, refreshToken } : null;
}

function post(path: string, form: Record<string, string>, credentials?: string): string {
  const body = new URLSearchParams(form).toString();
  const authorization = credentials === undefined ? '' : `Authorization: ${credentials}\r\n`;
  const type = 'Content-Type: application/x-www-form-urlencoded';
  return `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization}${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}
