/**
 * Refusals on the authorization page, by the app that they name. Anyone can name any app there, so nothing is stored: each process
 * has the last ones in memory, as a hint for whoever sets an app up.
 */
import { widestNetworkOf } from '../guessing/networks.ts';

/** A refusal on the authorization page. `at` in ms. The texts may come from anyone, and may lead anywhere: show them as text only. */
export type PageFailure = {
  readonly at: number;
  readonly requestId: string;
  readonly error: string;
  readonly reason: string;
  /** The redirect URI that is not registered; null for every other error. */
  readonly received: string | null;
  /** The /24 or /48 that the browser is in. */
  readonly network: string;
};

/** Maximum number of refusals that are kept of an app: the last ones. */
export const PAGE_FAILURES_KEPT = 20;

/** Maximum number of apps of which any are kept: those that were refused last. */
const MAX_APPS = 1000;

/** Maximum length of a text in characters. */
const MAX_TEXT = 300;

/** The last refusals on the authorization page in this process. */
export class PageFailures {
  readonly #now: () => number;
  /** By app, the one that was refused last at the end. */
  readonly #failures = new Map<string, PageFailure[]>();

  /** `now` returns ms. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Keeps a refusal of a registered app. */
  record(
    clientId: string,
    { error, reason, received }: { readonly error: string; readonly reason: string; readonly received: string | null },
    { source, requestId }: { readonly source: string; readonly requestId: string },
  ): void {
    const failure = {
      at: this.#now(),
      requestId,
      error,
      reason: copyOf(reason),
      received: received && copyOf(received),
      network: widestNetworkOf(source),
    };
    const kept = (this.#failures.get(clientId) ?? []).slice(1 - PAGE_FAILURES_KEPT);
    this.#failures.delete(clientId);
    this.#failures.set(copyOf(clientId), [...kept, failure]);
    const [oldest] = this.#failures.keys();
    if (this.#failures.size > MAX_APPS && oldest !== undefined) this.#failures.delete(oldest);
  }

  /** Returns the refusals of an app since a time (ms), newest first. */
  list(clientId: string, since = 0): PageFailure[] {
    return (this.#failures.get(clientId) ?? []).filter(({ at }) => at >= since).toReversed();
  }
}

/** Returns a copy of the beginning of a text. V8's `slice` is a view, which would keep a whole URL of 16 KB in memory. */
function copyOf(text: string): string {
  return Buffer.from(text.slice(0, MAX_TEXT), 'utf16le').toString('utf16le');
}
