/** Checks access tokens: by introspection, or by a cached answer while it is known to be true. */
import { createHash } from 'node:crypto';
import { isFresh, type Moment, moment } from './freshness.ts';
import {
  type ActiveToken,
  type IntrospectionSettings,
  introspect,
  Unknown,
  WRONG_CREDENTIALS,
} from './introspection.ts';
import { answerMetadata, type MetadataAnswer } from './metadata.ts';
import {
  type CheckOptions,
  type MetadataSettings,
  readOptions,
  requiredScopes,
  type VerifierOptions,
} from './options.ts';
import { makePrincipal, type Principal } from './principal.ts';
import { type Refusal, refuse } from './refusal.ts';
import { type Revocation, RevocationStream } from './revocations.ts';

export type { MetadataAnswer } from './metadata.ts';
export type { CheckOptions, VerifierOptions } from './options.ts';
export { type Principal, principalOf } from './principal.ts';
export type { Refusal } from './refusal.ts';

/** The result of a check: the principal, or the refusal to send. */
export type CheckResult = { readonly ok: true; readonly principal: Principal } | Refusal;

/** Checks access tokens for one API. */
export type Verifier = {
  /** Checks the value of a request's Authorization header. Throws only for wrong options. */
  check(authorization: string | null | undefined, options?: CheckOptions): Promise<CheckResult>;
  /**
   * Answers a request for the API's metadata (RFC 9728), for handlers that take a Fetch API `Request`. Undefined for
   * any other address, and without the option `resource`. Needs no token.
   */
  metadataResponse(request: Request): Response | undefined;
  /** The same for other handlers: `target` is the request's path and query. */
  metadata(method: string, target: string): MetadataAnswer | undefined;
  /** Ends the revocation stream and drops all cached answers; checks still work, and ask each time. */
  close(): void;
};

/** Makes a verifier, which sends nothing before the first check. Throws `TypeError` for options that cannot work. */
export function createVerifier(options: VerifierOptions): Verifier {
  return new CachingVerifier(options);
}

const LONGEST_TOKEN_CHARACTERS = 4096;
const CACHE_ENTRIES = 10_000;

type Answer = ActiveToken | null | Unknown;
/**
 * A cached answer. It also ends by the steady clock (ms): if the wall clock is set back, it would otherwise outlive
 * the token.
 */
type Kept = { readonly token: ActiveToken; readonly deadline: number };
type Question = { readonly answer: Promise<Answer>; readonly epoch: number; readonly askedAt: Moment };

class CachingVerifier implements Verifier {
  readonly #settings: IntrospectionSettings & MetadataSettings;
  readonly #stream: RevocationStream | undefined;
  readonly #onProblem: (message: string) => void;
  readonly #told = new Set<string>();
  /** By the token's digest, oldest first. */
  readonly #kept = new Map<string, Kept>();
  readonly #asked = new Map<string, Question>();
  /** Raised whenever a pending answer may become wrong. */
  #epoch = 0;
  #state: 'new' | 'started' | 'closed' = 'new';

  constructor(options: VerifierOptions) {
    const settings = readOptions(options);
    this.#settings = settings;
    this.#onProblem = options.onProblem ?? ((message) => process.emitWarning(message, 'ValetkeyWarning'));
    if (options.cache === false) return;
    this.#stream = new RevocationStream({
      url: `${settings.issuer}/oauth2/revocations`,
      authorization: settings.authorization,
      timeout: settings.timeout,
      onRevoked: (revocation) => this.#forget(revocation),
      onBreak: () => this.#forget({}),
      onProblem: (why) =>
        this.#tell(
          why === 'HTTP 401' ? WRONG_CREDENTIALS : `no revocation stream (${why}): each check asks until it is back`,
        ),
    });
  }

  async check(authorization: string | null | undefined, options?: CheckOptions): Promise<CheckResult> {
    const scopes = requiredScopes(options);
    const { resource } = this.#settings;
    const token = readToken(authorization);
    if (token === null) return refuse('missing_token', { resource, scopes });
    if (token === '') return refuse('invalid_request', { resource });
    const found = await this.#find(token);
    if (found instanceof Unknown) return refuse('temporarily_unavailable', { retryAfter: found.retryAfter });
    if (found === null) return refuse('invalid_token', { resource });
    if (!scopes.every((scope) => found.scopes.includes(scope)))
      return refuse('insufficient_scope', { resource, scopes });
    return { ok: true, principal: makePrincipal(found) };
  }

  metadataResponse({ method, url }: Request): Response | undefined {
    const { pathname, search } = new URL(url);
    const answer = this.metadata(method, pathname + search);
    // A 204 has no body, not even an empty one.
    return answer && new Response(answer.body || null, answer);
  }

  metadata(method: string, target: string): MetadataAnswer | undefined {
    return answerMetadata(this.#settings, method, target);
  }

  close(): void {
    this.#state = 'closed';
    this.#stream?.close();
  }

  #find(token: string): Promise<Answer> | ActiveToken {
    if (this.#state === 'new') {
      this.#state = 'started';
      this.#stream?.connect();
    }
    const key = createHash('sha256').update(token).digest('base64url');
    const kept = this.#stream?.isLive ? this.#kept.get(key) : undefined;
    if (kept && kept.token.expiresAt > this.#settings.now() && performance.now() < kept.deadline) return kept.token;
    const asked = this.#asked.get(key);
    // A pending answer is shared only with checks that it can still be true for.
    if (asked && asked.epoch === this.#epoch && isFresh(asked.askedAt)) return asked.answer;
    return this.#ask(key, token);
  }

  #ask(key: string, token: string): Promise<Answer> {
    const answer = introspect(this.#settings, token);
    const question = { answer, epoch: this.#epoch, askedAt: moment() };
    this.#asked.set(key, question);
    return answer.then((found) => {
      if (this.#asked.get(key) === question) this.#asked.delete(key);
      this.#kept.delete(key);
      if (found instanceof Unknown) this.#tell(found.problem);
      else if (found && question.epoch === this.#epoch && this.#stream?.isLive) this.#keep(key, found);
      return found;
    });
  }

  #keep(key: string, token: ActiveToken): void {
    if (this.#kept.size >= CACHE_ENTRIES) this.#kept.delete(this.#kept.keys().next().value as string);
    const deadline = performance.now() + token.expiresAt - this.#settings.now();
    this.#kept.set(key, { token, deadline });
  }

  #forget(revocation: Revocation): void {
    this.#epoch += 1;
    const members = Object.entries(revocation) as [keyof Revocation, string][];
    for (const [key, { token }] of this.#kept)
      if (members.every(([name, value]) => token[name] === value)) this.#kept.delete(key);
  }

  #tell(problem: string): void {
    if (this.#told.has(problem)) return;
    this.#told.add(problem);
    this.#onProblem(`Valetkey at ${this.#settings.issuer}: ${problem}`);
  }
}

/** Returns the token of an Authorization header (RFC 6750 §2.1): null if absent, empty if it is not one token. */
function readToken(header: string | null | undefined): string | null {
  const [, rest] = /^bearer +([^ ].*)$/is.exec(header ?? '') ?? [];
  if (rest === undefined) return null;
  if (rest.length > LONGEST_TOKEN_CHARACTERS) return '';
  return /^([a-z0-9._~+/-]+=*) *$/i.exec(rest)?.[1] ?? '';
}
