/**
 * RSA signatures in a thread of their own. In libuv's pool they would wait beside the syncs of the database: behind 64
 * signatures a sync takes 32 to 76 ms instead of 1.
 */
import type { KeyObject } from 'node:crypto';
import { extname } from 'node:path';
import type { Worker } from 'node:worker_threads';

/** Maximum number of texts that wait, which take about a tenth of a second together. */
const MAX_WAITING = 256;

/** The thread; it starts with the first text, since most installations sign nothing. */
export class SigningThread {
  readonly #report: (sentence: string) => void;
  #thread: Worker | null = null;
  /** The callbacks of the waiting texts. The thread answers in their order. */
  #waiting: ((signature: string | null) => void)[] = [];

  /** `report` gets a sentence for the operator if the thread does not work. */
  constructor(report: (sentence: string) => void) {
    this.#report = report;
  }

  /** Signs a text with RS256 (RFC 7518 §3.3); base64url. Resolves to null if too many wait, or the thread does not work. */
  sign(text: string, key: KeyObject): Promise<string | null> {
    if (this.#waiting.length >= MAX_WAITING) return Promise.resolve(null);
    // Before the text waits: without a thread, nothing would ever take it off the queue.
    this.#thread ??= this.#begin();
    const thread = this.#thread;
    if (!thread) return Promise.resolve(null);
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      thread.postMessage({ text, key });
    });
  }

  /** Ends the thread. Nothing may be signed afterwards. */
  async close(): Promise<void> {
    await this.#thread?.terminate();
  }

  /** Returns null if the system has no thread left; the next text tries again. */
  #begin(): Worker | null {
    const failed = (error: unknown) =>
      this.#report(`ID tokens are refused: their thread does not work (${(error as Error).message})`);
    try {
      const thread = newThread();
      thread.on('message', (signature: string) => this.#waiting.shift()?.(signature));
      // It could not start, or ran out of memory; `exit` follows, and the next text begins another.
      thread.on('error', failed);
      return thread.once('exit', () => {
        this.#thread = null;
        for (const done of this.#waiting.splice(0)) done(null);
      });
    } catch (error) {
      failed(error);
      return null;
    }
  }
}

function newThread(): Worker {
  // Loaded here, since most processes never need it.
  const { Worker } = process.getBuiltinModule('node:worker_threads');
  // The npm package contains compiled files, with another extension.
  const file = `signing-thread${extname(import.meta.filename)}`;
  return new Worker(new URL(file, import.meta.url), { execArgv: [] });
}
