/** `/api/auth/oauth/users/disconnects`: a stream that tells identity providers when their people's apps are disconnected. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { IdentityProvider } from '../../accounts/identity-provider.ts';
import { openStreamPlace, sealStreamPlace } from '../../accounts/stream-place.ts';
import { Refusal, Unavailable } from '../../oauth/error.ts';
import { beginStream } from '../api/event-stream.ts';
import { oauthAnswers } from '../api/json-answers.ts';
import { TrailFeed } from '../api/trail-feed.ts';
import { PROVIDER_PATHS } from '../paths.ts';
import type { Service } from '../service.ts';
import { providers } from './disconnect-feed.ts';
import { authenticateProvider, sendProviderRefusal } from './requests.ts';
import { USERS } from './users-operations.ts';

/** Maximum number of events of the trail that are read anew for a stream that comes back. */
const MAX_BEHIND = 50_000;

/** Adds the stream to the app's address. */
export function addDisconnects(app: FastifyInstance, service: Service): void {
  const feed = new TrailFeed(
    service.audit,
    providers(service),
    (error) => app.log.warn({ err: error }, 'streams of disconnects end'),
    (id) => app.log.warn({ provider: id }, LOST_STREAM),
  );
  service.stopping.addEventListener('abort', () => feed.end());
  const config = { answers: oauthAnswers, operation: USERS.disconnects };
  app.get(PROVIDER_PATHS.disconnects, { config }, async (request, reply) => {
    const provider = await authenticateProvider(service, request, 'users');
    if (provider instanceof Refusal) return sendProviderRefusal(request, reply, provider);
    const refusal = service.providerUsers.countCall(provider);
    if (refusal) return sendProviderRefusal(request, reply, refusal);
    await feed.prepare();
    const missedFrom = await placeToGoOnFrom(service, feed, request, provider);
    // The last step: its secret may have ended meanwhile, by an event before the place where the stream begins.
    if (await service.providers.refusalNow(provider))
      return sendProviderRefusal(request, reply, new Unavailable(CHANGED, CHANGED, 1));
    const place = missedFrom ?? feed.place;
    const id = sealStreamPlace(service.keyring, provider.id, place, service.now());
    const ready = `id: ${id}\nevent: ready\ndata: ${JSON.stringify({ resumed: missedFrom !== null })}\n\n`;
    return beginStream(service, feed, request, reply, provider.id, { ready, place });
  });
}

/** The place that `Last-Event-ID` names, if everything after it can still be told; else null. */
async function placeToGoOnFrom(
  { keyring, audit, now }: Service,
  feed: TrailFeed,
  { headers }: FastifyRequest,
  { id }: IdentityProvider,
): Promise<number | null> {
  const sent = headers['last-event-id'];
  const place = typeof sent === 'string' ? openStreamPlace(keyring, id, sent, now()) : null;
  if (place === null || place < feed.place - MAX_BEHIND) return null;
  // Another instance may be ahead of this one. But after a restore the trail itself may be shorter.
  return place <= feed.place || place <= (await audit.lastAuditSequence()) ? place : null;
}

const CHANGED = 'the registration of this identity provider was changed just now: try again';
/** For the log. */
const LOST_STREAM =
  'all streams of disconnects are taken: the identity provider that has most lost one to another that had less than its share; let processes of the product share one, or run another instance';
