/**
 * Reads the audit trail four times a second, and sends the news to the streams of one audience. Each write also says
 * that no earlier event is missing, so nothing is written while an event may be hidden.
 */
import type { ServerResponse } from 'node:http';
import type { RecordedAuditEvent } from '../../../oauth/trail/audit.ts';
import { TrailHeldUp } from '../../../oauth/trail/audit-store.ts';
import type { Service } from '../../service/service.ts';
import { type LimitReached, OpenStreams, type StreamLimits } from './open-streams.ts';

const EVERY_MS = 250;
const EVENTS_AT_ONCE = 500;
/** Maximum unread bytes of a stream; beyond it, the stream ends. */
const MAX_UNREAD = 64 * 1024;
const READY = 'event: ready\ndata: {}\n\n';
/** Maximum silence (ms). Readers then consider the stream lost, so it ends, and the log says why. */
const MAX_SILENCE_MS = 1000;

/** A stream and its listener. */
type Stream = { readonly listenerId: string; readonly response: ServerResponse };

/**
 * Returns a listener's part of the news: `text` is never empty. `endsStream` if its stream must end, since the listener
 * must authenticate again.
 */
export type NewsFor = (listenerId: string) => { readonly text: string; readonly endsStream: boolean };

/** A kind of listener, with its limits and its texts. */
export type Audience = {
  readonly limits: StreamLimits;
  /**
   * Called before each read, with the ids of all listeners. Returns the function that translates the news for each
   * listener.
   */
  prepare(listenerIds: readonly string[]): Promise<(news: readonly RecordedAuditEvent[]) => Promise<NewsFor>>;
};

/** The streams of one audience in one process. */
export class TrailFeed {
  readonly #audit: Service['audit'];
  readonly #audience: Audience;
  readonly #onFailure: (error: unknown) => void;
  readonly #onLost: (listenerId: string) => void;
  readonly #streams: OpenStreams<Stream>;
  #sequence = 0;
  #asked: Promise<number> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Start of the time in which events may be hidden (ms, monotonic); null if the last read was complete. */
  #heldUpSince: number | null = null;

  /**
   * `onFailure` is called with the reason when all streams end early. `onLost` is called with a listener's id when
   * one of its streams ends to make room for another listener's.
   */
  constructor(
    audit: Service['audit'],
    audience: Audience,
    onFailure: (error: unknown) => void,
    onLost: (listenerId: string) => void,
  ) {
    this.#audit = audit;
    this.#audience = audience;
    this.#streams = new OpenStreams(audience.limits);
    this.#onFailure = onFailure;
    this.#onLost = onLost;
  }

  /** Returns the limit that keeps a listener from another stream now, or null. */
  refusal(listenerId: string): LimitReached | null {
    return this.#streams.refusal(listenerId);
  }

  /** True if an event may be hidden. No stream may begin then: `ready` would say that none is. */
  get isHeldUp(): boolean {
    return this.#heldUpSince !== null;
  }

  /**
   * Finds the position in the trail at which the first stream begins. Concurrent calls share one query. While streams
   * are open, the earlier position stays: with a later one, they would miss events. Throws `StoreUnavailable`.
   */
  async prepare(): Promise<void> {
    if (this.#streams.size > 0) return;
    this.#asked ??= this.#audit.lastAuditSequence().finally(() => {
      this.#asked = null;
    });
    const last = await this.#asked;
    if (this.#streams.size > 0) return;
    this.#sequence = last;
    this.#heldUpSince = null;
  }

  /** Adds a stream, after `refusal` returned null, and sends `ready`. */
  add(stream: Stream): void {
    const { response } = stream;
    const { destroyed, socket } = response;
    // A closed response emits no `close` again, so the stream would never be removed.
    if (destroyed) return;
    // A half-closed client would still get its answer, but a stream has no end.
    if (!socket || socket.readableEnded) return void response.destroy();
    socket.once('end', () => response.destroy());
    const loser = this.#streams.add(stream);
    if (loser) this.#onLost(loser.listenerId);
    loser?.response.destroy();
    response.once('close', () => this.#streams.delete(stream));
    response.write(READY);
    this.#timer ??= setTimeout(() => void this.#sendNews(), EVERY_MS);
  }

  /** Ends all streams. */
  end(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const { response } of this.#streams) response.end();
    // Clear now, not on `close`: nothing may be written after the end.
    this.#streams.clear();
  }

  async #sendNews(): Promise<void> {
    try {
      const translate = await this.#audience.prepare([
        ...new Set([...this.#streams].map(({ listenerId }) => listenerId)),
      ]);
      const { news, last } = await this.#read();
      this.#sequence = last;
      this.#write(await translate(news));
      this.#heldUpSince = null;
    } catch (error) {
      if (!this.#isSilent(error)) {
        // Otherwise readers would go on as if no access had ended.
        this.#onFailure(error);
        this.end();
      }
    }
    this.#timer = this.#streams.size > 0 ? setTimeout(() => void this.#sendNews(), EVERY_MS) : null;
  }

  #write(newsFor: NewsFor): void {
    for (const { listenerId, response } of this.#streams) {
      const { text, endsStream } = newsFor(listenerId);
      if (endsStream || response.writableLength > MAX_UNREAD) response.destroy();
      else response.write(text);
    }
  }

  /**
   * True if nothing may be sent for now. While an event is hidden, any write would tell readers that they are up to
   * date, even a notice of an earlier event. Usually the next read finds the hidden event.
   */
  #isSilent(error: unknown): boolean {
    if (!(error instanceof TrailHeldUp)) return false;
    this.#heldUpSince ??= performance.now();
    return performance.now() - this.#heldUpSince < MAX_SILENCE_MS;
  }

  /** Reads all events since the last read, and returns the position of the last. Throws if any cannot be read. */
  async #read(): Promise<{ news: RecordedAuditEvent[]; last: number }> {
    const news: RecordedAuditEvent[] = [];
    let last = this.#sequence;
    for (;;) {
      const next = await this.#audit.listAuditEventsAfter(last, EVENTS_AT_ONCE);
      news.push(...next);
      last = next.at(-1)?.sequence ?? last;
      if (next.length < EVENTS_AT_ONCE) return { news, last };
    }
  }
}
