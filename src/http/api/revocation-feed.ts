/**
 * What the streams of revocations are told: the audit trail, read four times a second. A sign says that everything which
 * was answered before that reading has been told, so nothing at all is said while that is not known.
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
/** A reader that is so far behind has lost the stream (bytes). */
const MOST_UNREAD = 64 * 1024;
/** Who heard nothing for so long has lost the stream: then it is ended, and the log says why (ms). */
const MOST_SILENT_MS = 1000;

/** By id; null for one that is gone. One whose first stream began just now is not there. */
type ResourceServers = ReadonlyMap<string, ResourceServer | null>;
type Stream = { readonly resourceServerId: string; readonly response: ServerResponse };

/** Tells the streams of one process. */
export class RevocationFeed {
  readonly #service: Service;
  readonly #onFailure: (error: unknown) => void;
  readonly #onLost: (resourceServerId: string) => void;
  readonly #streams = new StreamPlaces<Stream>();
  #sequence = 0;
  #asked: Promise<number> | null = null;
  #timer: NodeJS.Timeout | null = null;
  /** Since when the trail cannot be read up to now (ms, steady); null when it was whole at the last reading. */
  #heldUpSince: number | null = null;

  /**
   * `onFailure` is called with the reason when the streams end, `onLost` with the id of a resource server whose stream ends
   * to make room for one of another.
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

  /** Whether an event may be hidden, so that no stream may begin: `ready` would say that nothing is. */
  get isHeldUp(): boolean {
    return this.#heldUpSince !== null;
  }

  /**
   * Finds the place in the trail from which the first stream is told. Those who come at the same time ask once; and a
   * place that was found earlier stays, since a later one would pass over what somebody is still to be told. Throws
   * `StoreUnavailable`.
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

  /** Adds a stream, for which there must be a place, and tells it that it is ready. */
  add(stream: Stream): void {
    const { destroyed, socket } = stream.response;
    // Whoever hung up meanwhile is closed already, and would never be taken out again.
    if (destroyed) return;
    // Whoever sends no more would hear other answers to their end: this one has none.
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
    // At once, not when they are closed: nothing may be written after the end.
    this.#streams.clear();
  }

  async #tell(): Promise<void> {
    try {
      // First the registrations: a change of one that they do not show yet is among the events, or comes after them.
      const resourceServers = await this.#resourceServers();
      this.#write(await this.#read(), resourceServers);
      this.#heldUpSince = null;
    } catch (error) {
      if (!this.#isSilent(error)) {
        // What cannot be read cannot be told: readers must not go on as if nothing had ended.
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
      if (mustProve || response.writableLength > MOST_UNREAD) response.destroy();
      else response.write(text);
    }
  }

  async #resourceServers(): Promise<ResourceServers> {
    const ids = [...new Set([...this.#streams].map(({ resourceServerId }) => resourceServerId))];
    const find = async (id: string) => [id, await this.#service.resourceServers.findResourceServer(id)] as const;
    return new Map(await Promise.all(ids.map(find)));
  }

  /**
   * Whether nothing is said for now. While an event is hidden, anything that is said would tell a reader that it is up to
   * date, even a notice of an event before that one. Most often it is there at the next reading.
   */
  #isSilent(error: unknown): boolean {
    if (!(error instanceof TrailHeldUp)) return false;
    this.#heldUpSince ??= performance.now();
    return performance.now() - this.#heldUpSince < MOST_SILENT_MS;
  }

  /** All that happened since the last reading, or nothing of it. */
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

/** A resource server whose secret was retired must prove itself anew, as one that is gone must. */
function endsStreams({ action, clientId }: RecordedAuditEvent, resourceServerId: string): boolean {
  return action === 'resource_server_secret_retired' && clientId === resourceServerId;
}

/** What one resource server is told. Without anything, a sign: that events were for others alone is not to be seen. */
function asText(news: readonly RecordedAuditEvent[], resourceServer: ResourceServer | null): string {
  return news.map((event) => asEvent(noticeFor(event, resourceServer))).join('') || ':\n\n';
}

function asEvent(notice: RevocationNotice | null): string {
  if (!notice) return '';
  const { grantId, clientId, resourceOwnerId } = notice;
  const data = JSON.stringify({ grant_id: grantId, client_id: clientId, sub: resourceOwnerId });
  return `event: revoked\ndata: ${data}\n\n`;
}
