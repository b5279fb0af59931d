/**
 * `/oauth2/revocations`: a stream of server-sent events that tells resource servers at once when access ends, whoever
 * ended it and in whichever process, since every such act is in the audit trail. It always says something within a
 * quarter of a second, so that who hears nothing knows that the stream is lost.
 */
import type { ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { RecordedAuditEvent } from '../oauth/audit.ts';
import { Refusal } from '../oauth/error.ts';
import { type RevocationNotice, revocationNotice } from '../oauth/revocation-notice.ts';
import { answerTrouble } from './answer.ts';
import { authenticateResourceServer } from './introspection.ts';
import { oauthAnswers, sendOAuthRefusal } from './json-answers.ts';
import { answer, component, type Operation, object, refusals, text } from './operation.ts';
import { STANDARD_PATHS } from './paths.ts';
import type { Service } from './service.ts';

const EVERY_MS = 250;
const MOST_STREAMS = 1000;
const EVENTS_AT_ONCE = 500;
/** A reader that is so far behind has lost the stream (bytes). */
const MOST_UNREAD = 64 * 1024;
const FULL_RETRY_AFTER = 5;

type Stream = { readonly resourceServerId: string; readonly response: ServerResponse };

/** Adds the stream to the app's address. */
export function addRevocations(app: FastifyInstance, service: Service): void {
  const feed = new RevocationFeed(service, (error) => app.log.warn({ err: error }, 'the revocation streams end'));
  service.stopping.addEventListener('abort', () => feed.end());
  app.get(
    STANDARD_PATHS.revocations,
    { config: { answers: oauthAnswers, operation: OPERATION } },
    async (request, reply) => {
      const resourceServer = await authenticateResourceServer(service, request);
      if (resourceServer instanceof Refusal) return sendOAuthRefusal(request, reply, resourceServer);
      await feed.prepare();
      // Again, as what ended its secret meanwhile may stand before the place from which it is told.
      const still = await authenticateResourceServer(service, request);
      if (still instanceof Refusal) return sendOAuthRefusal(request, reply, still);
      if (feed.isFull || service.stopping.aborted)
        return answerTrouble(oauthAnswers, request, reply, { kind: 'unavailable', retryAfter: FULL_RETRY_AFTER });
      reply.hijack();
      reply.raw.writeHead(200, {
        'Content-Type': 'text/event-stream',
        'Cache-Control': 'no-store',
        // Proxies that buffer would hold back what must arrive at once.
        'X-Accel-Buffering': 'no',
        'X-Request-Id': request.id,
      });
      feed.add({ resourceServerId: resourceServer.id, response: reply.raw });
      return reply;
    },
  );
}

class RevocationFeed {
  readonly #service: Service;
  readonly #onFailure: (error: unknown) => void;
  readonly #streams = new Set<Stream>();
  #sequence = 0;
  #asked: Promise<number> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(service: Service, onFailure: (error: unknown) => void) {
    this.#service = service;
    this.#onFailure = onFailure;
  }

  get isFull(): boolean {
    return this.#streams.size >= MOST_STREAMS;
  }

  /**
   * Finds the place in the trail from which the first stream is told. Those who come at the same time ask once; and a
   * place that was found earlier stays, since a later one would pass over what somebody is still to be told.
   */
  async prepare(): Promise<void> {
    if (this.#streams.size > 0) return;
    this.#asked ??= this.#service.audit.lastAuditSequence().finally(() => {
      this.#asked = null;
    });
    const last = await this.#asked;
    if (this.#streams.size === 0) this.#sequence = last;
  }

  add(stream: Stream): void {
    const { destroyed, socket } = stream.response;
    // Whoever hung up meanwhile is closed already, and would never be taken out again.
    if (destroyed) return;
    // Whoever sends no more would hear other answers to their end: this one has none.
    if (!socket || socket.readableEnded) return void stream.response.destroy();
    socket.once('end', () => stream.response.destroy());
    this.#streams.add(stream);
    stream.response.once('close', () => this.#streams.delete(stream));
    stream.response.write('event: ready\ndata: {}\n\n');
    this.#timer ??= setTimeout(() => void this.#tell(), EVERY_MS);
  }

  end(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const { response } of this.#streams) response.end();
    // At once, not when they are closed: nothing may be written after the end.
    this.#streams.clear();
  }

  async #tell(): Promise<void> {
    try {
      const news = await this.#read();
      const text = news.map(revocationNotice).map(asEvent).join('') || ':\n\n';
      for (const stream of this.#streams) {
        const isLost = stream.response.writableLength > MOST_UNREAD || news.some((event) => endsStream(event, stream));
        if (isLost) stream.response.destroy();
        else stream.response.write(text);
      }
    } catch (error) {
      // What cannot be read cannot be told: readers must not go on as if nothing had ended.
      this.#onFailure(error);
      this.end();
    }
    this.#timer = this.#streams.size > 0 ? setTimeout(() => void this.#tell(), EVERY_MS) : null;
  }

  async #read(): Promise<RecordedAuditEvent[]> {
    const news: RecordedAuditEvent[] = [];
    for (;;) {
      const next = await this.#service.audit.listAuditEventsAfter(this.#sequence, EVENTS_AT_ONCE);
      news.push(...next);
      this.#sequence = next.at(-1)?.sequence ?? this.#sequence;
      if (next.length < EVENTS_AT_ONCE) return news;
    }
  }
}

/** A resource server that is gone, or whose secret was retired, must prove itself anew. */
function endsStream({ action, clientId }: RecordedAuditEvent, { resourceServerId }: Stream): boolean {
  const isEnd = action === 'resource_server_deleted' || action === 'resource_server_secret_retired';
  return isEnd && clientId === resourceServerId;
}

function asEvent(notice: RevocationNotice | null): string {
  if (!notice) return '';
  const { grantId, clientId, resourceOwnerId } = notice;
  const data = JSON.stringify({ grant_id: grantId, client_id: clientId, sub: resourceOwnerId });
  return `event: revoked\ndata: ${data}\n\n`;
}

const NOTICE = component(
  'schemas',
  'RevocationNotice',
  object(
    {
      grant_id: { type: 'string', format: 'uuid' },
      client_id: { type: 'string', examples: ['app_example'] },
      sub: text('With `client_id` as well, only what is of both.', { examples: ['usr_example'] }),
    },
    ['grant_id', 'client_id', 'sub'],
  ),
);
const STREAM = {
  schema: text('Server-sent events. Who hears nothing for a second has lost the stream.', {
    examples: ['event: ready\ndata: {}\n\n:\n\nevent: revoked\ndata: {"client_id":"app_example"}\n\n'],
  }),
  /** The data of the events by name: `ready` comes first, and a notice without any name is about everything. */
  'x-events': { ready: object({}), revoked: NOTICE },
};
const OPERATION: Operation = {
  operationId: 'revocations',
  tags: ['resource servers'],
  summary: 'Tells at once when access ends',
  description:
    'A stream without end. Something is sent every 250 ms, a comment if there is nothing to tell; a revocation is told within 250 ms of its answer.',
  security: [{ resourceServerBasic: [] }],
  responses: {
    200: { ...answer('The stream.', {}), content: { 'text/event-stream': STREAM } },
    ...refusals(),
  },
};
