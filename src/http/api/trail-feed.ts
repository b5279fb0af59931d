/**
 * Reads the audit trail four times a second, and tells the streams of one audience what it found. Whatever is sent also
 * says that no earlier event is left to be told, so nothing is sent while that is not known.
 */
import type { ServerResponse } from 'node:http';
import type { RecordedAuditEvent } from '../../oauth/trail/audit.ts';
import { TrailHeldUp } from '../../oauth/trail/audit-store.ts';
import type { Service } from '../service.ts';
import { type LimitReached, OpenStreams, type StreamLimits } from './open-streams.ts';

const EVERY_MS = 250;
const EVENTS_AT_ONCE = 500;
/** Maximum number of bytes that a reader may be behind; then its stream is ended. */
const MAX_UNREAD = 64 * 1024;
const READY = 'event: ready\ndata: {}\n\n';
/** Maximum silence, after which readers take the stream for lost: then it is ended, and the log says why (ms). */
const MAX_SILENCE_MS = 1000;

/** A stream, and whose it is. */
type Stream = { readonly listenerId: string; readonly response: ServerResponse };

/** The part of the news that a listener gets: a text that is never empty. `isOver`: its stream ends, since it must prove itself anew. */
export type Told = (listenerId: string) => { readonly text: string; readonly isOver: boolean };

/** Who listens: each kind of listener has its own words. */
export type Audience = {
  readonly limits: StreamLimits;
  /** Called before news are read, with all who listen; what it returns says what they are told of the news. */
  prepare(listenerIds: readonly string[]): Promise<(news: readonly RecordedAuditEvent[]) => Promise<Told>>;
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
  /** Since when events may be hidden (ms, monotonic); null if the last reading was complete. */
  #heldUpSince: number | null = null;

  /**
   * `onFailure` is called with the reason when all streams end early. `onLost` is called with the id of a listener whose
   * stream ends to make room for another's.
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

  /** Why a listener can have no further stream now; null when it can. */
  refusal(listenerId: string): LimitReached | null {
    return this.#streams.refusal(listenerId);
  }

  /** Whether an event may be hidden. Then no stream may begin: `ready` would say that nothing is hidden. */
  get isHeldUp(): boolean {
    return this.#heldUpSince !== null;
  }

  /**
   * Finds the place in the trail where the first stream begins. Calls at the same time share one query. A place that
   * was found earlier is kept: with a later one, streams that are open would miss events. Throws `StoreUnavailable`.
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

  /** Adds a stream (the caller asked for a `refusal` before), and sends `ready`. */
  add(stream: Stream): void {
    const { response } = stream;
    const { destroyed, socket } = response;
    // A response that is closed already emits no `close`, so the stream would never be removed.
    if (destroyed) return;
    // A half-closed client would otherwise still get its answer; but a stream has no end.
    if (!socket || socket.readableEnded) return void response.destroy();
    socket.once('end', () => response.destroy());
    const loser = this.#streams.add(stream);
    if (loser) this.#onLost(loser.listenerId);
    loser?.response.destroy();
    response.once('close', () => this.#streams.delete(stream));
    response.write(READY);
    this.#timer ??= setTimeout(() => void this.#tell(), EVERY_MS);
  }

  /** Ends all streams. */
  end(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const { response } of this.#streams) response.end();
    // At once, and not when they are closed: nothing may be written after the end.
    this.#streams.clear();
  }

  async #tell(): Promise<void> {
    try {
      const tellOf = await this.#audience.prepare([...new Set([...this.#streams].map(({ listenerId }) => listenerId))]);
      const { news, last } = await this.#read();
      this.#sequence = last;
      this.#write(await tellOf(news));
      this.#heldUpSince = null;
    } catch (error) {
      if (!this.#isSilent(error)) {
        // Readers must not go on as if nothing had ended.
        this.#onFailure(error);
        this.end();
      }
    }
    this.#timer = this.#streams.size > 0 ? setTimeout(() => void this.#tell(), EVERY_MS) : null;
  }

  #write(told: Told): void {
    for (const { listenerId, response } of this.#streams) {
      const { text, isOver } = told(listenerId);
      if (isOver || response.writableLength > MAX_UNREAD) response.destroy();
      else response.write(text);
    }
  }

  /**
   * Whether nothing is sent for now. While an event is hidden, whatever is sent would tell a reader that it is up to
   * date, even a notice of an earlier event. Most often the hidden event is visible at the next reading.
   */
  #isSilent(error: unknown): boolean {
    if (!(error instanceof TrailHeldUp)) return false;
    this.#heldUpSince ??= performance.now();
    return performance.now() - this.#heldUpSince < MAX_SILENCE_MS;
  }

  /** All events since the last reading, and the place of the last; if any cannot be read, it throws. */
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
