/** Open streams of the service, read as they arrive: revocations for resource servers, disconnects for identity providers. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Lifetime } from './service.ts';
import { basic, type TestResourceServer } from './standard.ts';

/** An event, and when its last byte came (ms, monotonic). */
export type StreamEvent = { readonly event: string; readonly data: unknown; readonly at: number };

/** A stream of server-sent events. */
class EventStream {
  readonly headers: Headers;
  readonly events: StreamEvent[] = [];
  /** When each piece came, a comment or an event (ms, monotonic). */
  readonly heard: number[] = [];
  /** Resolves when the service ends the stream. */
  readonly ended: Promise<void>;
  /** The last `id` that came. */
  lastId: string | null = null;

  protected constructor(response: Response) {
    this.headers = response.headers;
    this.ended = this.#read(response.body as ReadableStream<Uint8Array>).catch(() => {});
  }

  /** Asks for a stream, which is left when the test ends. */
  protected static async ask(t: Lifetime, url: string, headers: Record<string, string>): Promise<Response> {
    const leaving = new AbortController();
    t.after(() => leaving.abort());
    const response = await fetch(url, { headers, signal: leaving.signal });
    assert.equal(response.status, 200);
    return response;
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
    const [, id, rest = ''] = /^(?:id: ([\w-]+)(?:\n|$))?(.*)$/s.exec(message) ?? assert.fail(message);
    this.lastId = id ?? this.lastId;
    if (rest === '') return;
    const [, event = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(rest) ?? assert.fail(message);
    this.events.push({ event, data: JSON.parse(data), at });
  }
}

/** A stream of `/oauth2/revocations`. */
export class RevocationStream extends EventStream {
  /** Opens a stream, which is ready. */
  static async open(
    t: Lifetime,
    { appUrl }: { readonly appUrl: string },
    { id, secret }: TestResourceServer,
  ): Promise<RevocationStream> {
    const stream = new RevocationStream(await EventStream.ask(t, `${appUrl}/oauth2/revocations`, basic(id, secret)));
    await stream.next('ready', {});
    return stream;
  }
}

/** A stream of `/api/auth/oauth/users/disconnects`. */
export class DisconnectStream extends EventStream {
  /** Opens a stream, which is ready, from where an earlier one was if its last id is sent. */
  static async open(
    t: Lifetime,
    { appUrl }: { readonly appUrl: string },
    listener: { readonly id: string; readonly secret: string } | { readonly bearer: string },
    lastId: string | null = null,
  ): Promise<DisconnectStream> {
    const proof =
      'bearer' in listener ? { Authorization: `Bearer ${listener.bearer}` } : basic(listener.id, listener.secret);
    const headers = { ...proof, ...(lastId === null ? {} : { 'Last-Event-ID': lastId }) };
    const response = await EventStream.ask(t, `${appUrl}/api/auth/oauth/users/disconnects`, headers);
    const stream = new DisconnectStream(response);
    await stream.next('ready', { resumed: lastId !== null });
    return stream;
  }

  /** What it was told of, without when. */
  get told(): object[] {
    return this.events.slice(1).map(({ data }) => ({ ...(data as object), at: undefined }));
  }
}

function same(one: unknown, two: unknown): boolean {
  return JSON.stringify(Object.entries(one as object).sort()) === JSON.stringify(Object.entries(two as object).sort());
}
