/**
 * Reads the audit trail four times a second, and tells the streams of revocations what it found. Whatever is sent also
 * says that no earlier event is left to be told, so nothing is sent while that is not known.
 */
import type { ServerResponse } from 'node:http';
import type { RecordedAuditEvent } from '../../oauth/audit.ts';
import type { ResourceServer } from '../../oauth/resource-server.ts';
import { noticeFor, type RevocationNotice } from '../../oauth/revocation-notice.ts';
import { TrailHeldUp } from '../../oauth/store.ts';
import type { Service } from '../service.ts';
import { type NoPlace, StreamPlaces } from './stream-places.ts';

const EVERY_MS = 250;
const EVENTS_AT_ONCE = 500;
/** Maximum number of bytes that a reader may be behind; then its stream is ended. */
const MAX_UNREAD = 64 * 1024;
/** Maximum silence, after which readers take the stream for lost: then it is ended, and the log says why (ms). */
const MAX_SILENCE_MS = 1000;

/** By id; null for one that was deleted. One whose first stream began after the reading is missing. */
type ResourceServers = ReadonlyMap<string, ResourceServer | null>;
type Stream = { readonly resourceServerId: string; readonly response: ServerResponse };

/** The streams of one process. */
export class RevocationFeed {
  readonly #service: Service;
  readonly #onFailure: (error: unknown) => void;
  readonly #onLost: (resourceServerId: string) => void;
  readonly #streams = new StreamPlaces<Stream>();
  #sequence = 0;
  #asked: Promise<number> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Since when events may be hidden (ms, monotonic); null if the last reading was complete. */
  #heldUpSince: number | null = null;

  /**
   * `onFailure` is called with the reason when all streams end early, `onLost` with the id of a resource server whose
   * stream ends to make room for another's.
   */
  constructor(service: Service, onFailure: (error: unknown) => void, onLost: (resourceServerId: string) => void) {
    this.#service = service;
    this.#onFailure = onFailure;
    this.#onLost = onLost;
  }

  /** Why a resource server can have no further stream now; null when it can. */
  refusal(resourceServerId: string): NoPlace | null {
    return this.#streams.refusal(resourceServerId);
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
    this.#asked ??= this.#service.audit.lastAuditSequence().finally(() => {
      this.#asked = null;
    });
    const last = await this.#asked;
    if (this.#streams.size > 0) return;
    this.#sequence = last;
    this.#heldUpSince = null;
  }

  /** Adds a stream, for which there must be a place, and sends `ready`. */
  add(stream: Stream): void {
    const { destroyed, socket } = stream.response;
    // A response that is closed already emits no `close`, so the stream would never be removed.
    if (destroyed) return;
    // A half-closed client would otherwise still get its answer; but a stream has no end.
    if (!socket || socket.readableEnded) return void stream.response.destroy();
    socket.once('end', () => stream.response.destroy());
    const loser = this.#streams.take(stream);
    if (loser) this.#onLost(loser.resourceServerId);
    loser?.response.destroy();
    stream.response.once('close', () => this.#streams.free(stream));
    stream.response.write('event: ready\ndata: {}\n\n');
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
      // Registrations first: a change that they do not show yet is then among the events, or comes after them.
      const resourceServers = await this.#resourceServers();
      this.#write(await this.#read(), resourceServers);
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

  #write(news: readonly RecordedAuditEvent[], resourceServers: ResourceServers): void {
    const texts = new Map<string, string>();
    for (const { resourceServerId, response } of this.#streams) {
      const found = resourceServers.get(resourceServerId);
      const text = texts.get(resourceServerId) ?? asText(news, found ?? null);
      texts.set(resourceServerId, text);
      const mustProve = found === null || news.some((event) => endsStreams(event, resourceServerId));
      if (mustProve || response.writableLength > MAX_UNREAD) response.destroy();
      else response.write(text);
    }
  }

  async #resourceServers(): Promise<ResourceServers> {
    const ids = [...new Set([...this.#streams].map(({ resourceServerId }) => resourceServerId))];
    const find = async (id: string) => [id, await this.#service.resourceServers.findResourceServer(id)] as const;
    return new Map(await Promise.all(ids.map(find)));
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

  /** All events since the last reading; if any cannot be read, it throws and the place in the trail stays. */
  async #read(): Promise<RecordedAuditEvent[]> {
    const news: RecordedAuditEvent[] = [];
    let last = this.#sequence;
    for (;;) {
      const next = await this.#service.audit.listAuditEventsAfter(last, EVENTS_AT_ONCE);
      news.push(...next);
      last = next.at(-1)?.sequence ?? last;
      if (next.length === EVENTS_AT_ONCE) continue;
      this.#sequence = last;
      return news;
    }
  }
}

/** A resource server whose secret was retired must authenticate anew. */
function endsStreams({ action, clientId }: RecordedAuditEvent, resourceServerId: string): boolean {
  return action === 'resource_server_secret_retired' && clientId === resourceServerId;
}

/** The text for one resource server. Without notices a comment, so that it cannot see whether others got any. */
function asText(news: readonly RecordedAuditEvent[], resourceServer: ResourceServer | null): string {
  return news.map((event) => asEvent(noticeFor(event, resourceServer))).join('') || ':\n\n';
}

function asEvent(notice: RevocationNotice | null): string {
  if (!notice) return '';
  const { grantId, clientId, resourceOwnerId } = notice;
  const data = JSON.stringify({ grant_id: grantId, client_id: clientId, sub: resourceOwnerId });
  return `event: revoked\ndata: ${data}\n\n`;
}
