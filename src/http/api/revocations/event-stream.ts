/** Begins streams of server-sent events for authenticated listeners; a feed fills them. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { answerProblem } from '../../answer/send-problem.ts';
import { oauthAnswers } from '../../json/json-answers.ts';
import type { Service } from '../../service/service.ts';
import type { TrailFeed } from './trail-feed.ts';

const RETRY_AFTER = 5;

/** Begins a stream for a listener, or refuses it if none can begin now. */
export function beginStream(
  { stopping }: Service,
  feed: TrailFeed,
  request: FastifyRequest,
  reply: FastifyReply,
  listenerId: string,
): FastifyReply {
  if (feed.isHeldUp || stopping.aborted)
    return answerProblem(oauthAnswers, request, reply, { kind: 'unavailable', retryAfter: RETRY_AFTER });
  const limitReached = feed.refusal(listenerId);
  if (limitReached) {
    const { isOfOne, detail } = limitReached;
    const kind = isOfOne ? 'too_many_requests' : 'unavailable';
    const description = isOfOne ? TOO_MANY_OF_ONE : TOO_MANY_IN_ALL;
    request.outcome = { error: kind, detail, client_id: listenerId };
    return answerProblem(oauthAnswers, request, reply, { kind, description, retryAfter: RETRY_AFTER });
  }
  if (request.method === 'HEAD') return reply.headers(HEADERS).send();
  reply.hijack();
  reply.raw.writeHead(200, { ...HEADERS, 'X-Request-Id': request.id });
  feed.add({ listenerId, response: reply.raw });
  return reply;
}

const HEADERS = {
  'Content-Type': 'text/event-stream',
  // Proxies that compress or buffer would delay events.
  'Cache-Control': 'no-store, no-transform',
  'X-Accel-Buffering': 'no',
};

const TOO_MANY_OF_ONE = 'you have the maximum number of open streams: close one first';
const TOO_MANY_IN_ALL = 'all streams are in use, and you have your share: try again later';
