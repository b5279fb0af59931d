/**
 * `/oauth2/revocations`: a stream of server-sent events that tells resource servers at once when access ends. It
 * reads the audit trail, which has every such act of every process (`revocation-feed.ts`).
 */
import type { FastifyInstance } from 'fastify';
import { Refusal } from '../../oauth/error.ts';
import { STANDARD_PATHS } from '../paths.ts';
import type { Service } from '../service.ts';
import { beginStream } from './event-stream.ts';
import { authenticateResourceServer } from './introspection.ts';
import { oauthAnswers, sendOAuthRefusal } from './json-answers.ts';
import { answer, component, type Operation, object, refusals, STREAMED, text } from './operation.ts';
import { resourceServers } from './revocation-feed.ts';
import { TrailFeed } from './trail-feed.ts';

/** Adds the stream to the app's address. */
export function addRevocations(app: FastifyInstance, service: Service): void {
  const feed = new TrailFeed(
    service.audit,
    resourceServers(service),
    (error) => app.log.warn({ err: error }, 'the revocation streams end'),
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
      // Again: its secret may have ended meanwhile, by an event before the place where the stream begins.
      const still = await authenticateResourceServer(service, request);
      if (still instanceof Refusal) return sendOAuthRefusal(request, reply, still);
      return beginStream(service, feed, request, reply, resourceServer.id);
    },
  );
}

/** For the log. */
const LOST_STREAM =
  'all streams of revocations are taken: the resource server that has most lost one to another that had less than its share; let processes of APIs share one, or run another instance';

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
    'A stream without end. Something is sent every 250 ms, a comment if there is nothing to tell; a revocation is told within 250 ms of its answer. Nothing is sent while it is not known whether all has been told.',
  security: [{ resourceServerBasic: [] }],
  responses: {
    200: { ...answer('The stream.', {}, STREAMED), content: { 'text/event-stream': STREAM } },
    ...refusals(),
  },
};
