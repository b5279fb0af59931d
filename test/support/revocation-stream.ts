/** Open streams of revocations, read as they arrive. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifetime } from './service.ts';
import { basic, type TestResourceServer } from './standard.ts';

/** An event, and when its last byte came (ms, monotonic). */
export type StreamEvent = { readonly event: string; readonly data: unknown; readonly at: number };

/** A stream of `/oauth2/revocations`. */
export class RevocationStream {
  readonly headers: Headers;
  readonly events: StreamEvent[] = [];
  /** When each piece came, a comment or an event (ms, monotonic). */
  readonly heard: number[] = [];
  /** Resolves when the service ends the stream. */
  readonly ended: Promise<void>;

  private constructor(response: Response) {
    this.headers = response.headers;
    this.ended = this.#read(response.body as ReadableStream<Uint8Array>).catch(() => {});
  }

  /** Opens a stream, which is ready and is left when the test ends. */
  static async open(
    t: Lifetime,
    { appUrl }: { readonly appUrl: string },
    { id, secret }: TestResourceServer,
  ): Promise<RevocationStream> {
    const leaving = new AbortController();
    t.after(() => leaving.abort());
    const response = await fetch(`${appUrl}/oauth2/revocations`, {
      headers: basic(id, secret),
      signal: leaving.signal,
    });
    assert.equal(response.status, 200);
    const stream = new RevocationStream(response);
    await stream.next('ready', {});
    return stream;
  }

  /** Waits for an event with just this data, for half a minute at most, and returns the time when it came. */
  async next(event: string, data: object): Promise<number> {
    for (const deadline = performance.now() + 30_000; performance.now() < deadline; await sleep(5)) {
      const found = this.events.find((each) => each.event === event && same(each.data, data));
      if (found) return found.at;
    }
    assert.fail(`no ${event} with ${JSON.stringify(data)} in ${JSON.stringify(this.events)}`);
  }

  async #read(body: ReadableStream<Uint8Array>): Promise<void> {
    let text = '';
    for await (const chunk of body) {
      text += Buffer.from(chunk).toString();
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        this.#take(text.slice(0, end));
        text = text.slice(end + 2);
      }
    }
  }

  #take(message: string): void {
    const at = performance.now();
    this.heard.push(at);
    if (message === ':') return;
    const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(message) ?? assert.fail(message);
    this.events.push({ event, data: JSON.parse(data), at });
  }
}

function same(one: unknown, two: unknown): boolean {
  return JSON.stringify(Object.entries(one as object).sort()) === JSON.stringify(Object.entries(two as object).sort());
}
