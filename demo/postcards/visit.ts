/** The memory of Postcards about a browser. */
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { AccessToken } from 'simple-oauth2';
import type { ShownCall } from '../call-list.ts';
import type { Exchange } from '../exchange.ts';
import { withoutSecrets } from '../shortened.ts';

/** The purpose of a call. */
export type Purpose = 'exchange' | 'check' | 'refresh';

/** A call that Postcards' server made, without its secrets. */
export type Call = ShownCall & { readonly purpose: Purpose };

/** One browser's visit: from the moment that it asks to connect. */
export class Visit {
  /** Unpredictable, so that only the answer to this visit's own request is taken (RFC 6749 §10.12). */
  readonly state = randomBytes(32).toString('base64url');
  readonly codeVerifier = randomBytes(32).toString('base64url');
  readonly calls: Call[] = [];
  token: AccessToken | null = null;
  /** The address that the browser came back to, with the code. */
  callbackUrl: string | null = null;
  #isAnswered = false;

  /** The challenge that Valetkey gets of the verifier (RFC 7636 §4.2). */
  get codeChallenge(): string {
    return createHash('sha256').update(this.codeVerifier).digest('base64url');
  }

  /** Returns true if the answer belongs to this visit's request; at most once. */
  takeAnswer(state: string): boolean {
    const isOwn = !this.#isAnswered && timingSafeEqual(digest(state), digest(this.state));
    if (isOwn) this.#isAnswered = true;
    return isOwn;
  }

  /** Notes a call for the page that shows them. */
  note(purpose: Purpose, exchange: Exchange): void {
    this.calls.push({ purpose, at: new Date(), exchange: withoutSecrets(exchange) });
  }
}

/** The visits that are under way. */
export class Visits {
  readonly #visits = new Map<string, Visit>();

  /** Begins a visit, and returns what the browser's cookie shall hold. */
  begin(): { id: string; visit: Visit } {
    const id = randomBytes(32).toString('base64url');
    const visit = new Visit();
    this.#visits.set(id, visit);
    const [oldest] = this.#visits.keys();
    if (this.#visits.size > 1000 && oldest !== undefined) this.#visits.delete(oldest);
    return { id, visit };
  }

  /** The visit that a cookie names. */
  find(id: string): Visit | undefined {
    return this.#visits.get(id);
  }
}

/** Of one length, as the comparison needs. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
