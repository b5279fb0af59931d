/**
 * `/oauth2/revocations`: a stream of server-sent events that tells resource servers at once when access ends. Reads
 * the audit trail, which has every revocation by every process (`revocation-feed.ts`).
 */
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../../oauth/error.ts';
import { oauthAnswers, sendOAuthRefusal } from '../../json/json-answers.ts';
import {
  answer,
  namedObject,
  type Operation,
  object,
  optional,
  refusals,
  STREAMED,
  text,
} from '../../json/operation.ts';
import { STANDARD_PATHS } from '../../service/paths.ts';
import type { Service } from '../../service/service.ts';
import { authenticateResourceServer } from '../introspection.ts';
import { beginStream } from './event-stream.ts';
import { resourceServers } from './revocation-feed.ts';
import { TrailFeed } from './trail-feed.ts';

/** Adds the stream to the app's address. */
export function addRevocations(app: FastifyInstance, service: Service): void {
  const feed = new TrailFeed(
    service.audit,
    resourceServers(service),
    (error) => app.log.warn({ err: error }, 'all streams of revocations end: the audit trail cannot be read'),
    (id) => app.log.warn({ client_id: id }, LOST_STREAM),
  );
  service.stopping.addEventListener('abort', () => feed.end());
  app.get(
    STANDARD_PATHS.revocations,
    { config: { answers: oauthAnswers, operation: OPERATION } },
    async (request, reply) => {
      const resourceServer = await authenticateResourceServer(service, request);
      if (resourceServer instanceof Refusal) return sendOAuthRefusal(request, reply, resourceServer);
      await feed.prepare();
      // Authenticate again: the secret may have been retired in between, by an event from before the stream's start.
      const still = await authenticateResourceServer(service, request);
      if (still instanceof Refusal) return sendOAuthRefusal(request, reply, still);
      return beginStream(service, feed, request, reply, resourceServer.id);
    },
  );
}

/** A log sentence. */
const LOST_STREAM =
  'all streams of revocations are in use: the resource server with the most streams lost one to another below its share; let processes of the API share one, or run another instance';

const NOTICE = namedObject('RevocationNotice', {
  grant_id: optional({ type: 'string', format: 'uuid' }),
  client_id: optional({ type: 'string', examples: ['app_example'] }),
  sub: optional(
    text('The user. With `client_id`, only that app’s access to this user ended.', {
      examples: ['usr_example'],
    }),
  ),
});
const STREAM = {
  schema: text('Server-sent events. After one second without data, the stream is lost: open another.', {
    examples: ['event: ready\ndata: {}\n\n:\n\nevent: revoked\ndata: {"client_id":"app_example"}\n\n'],
  }),
  /**
   * The events' data by name: `ready` comes first. An omitted field of a notice means "all": a notice without fields
   * ends everything.
   */
  'x-events': { ready: object({}), revoked: NOTICE },
};
const OPERATION: Operation = {
  operationId: 'revocations',
  tags: ['resource servers'],
  summary: 'Tells at once when access ends',
  description:
    'An endless stream. Every 250 ms it sends the news, or a comment if there are none; a revocation arrives within 250 ms of its answer. It sends nothing while an earlier event may be missing.',
  security: [{ resourceServerBasic: [] }],
  responses: {
    200: { ...answer('The stream.', {}, STREAMED), content: { 'text/event-stream': STREAM } },
    ...refusals(),
  },
};
