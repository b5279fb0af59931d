/** Sign-in at an identity provider, on the browser's side: the start by choice, and the return. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { ReturnOutcome } from '../../../accounts/providers/external-return.ts';
import type { Parameters } from '../../../oauth/parameters.ts';
import { notSignedInLocation } from '../../../oauth/protocol/authorization-response.ts';
import type { ErrorKind } from '../../../pages/error-page.ts';
import { answerProblem } from '../../answer/send-problem.ts';
import { originOf } from '../../request/origin.ts';
import type { PageParts } from '../page-parts.ts';
import { isLoadedAhead } from '../session/navigation.ts';
import { goToProvider } from './go-to-provider.ts';
import { continuation } from './page-after-sign-in.ts';
import { requestOnTheWay } from './request-behind-sign-in.ts';

/** Adds both addresses. */
export function addExternalSignIn(app: FastifyInstance, parts: PageParts): void {
  const { service, pages, sessions } = parts;
  const { paths } = service;
  const config = { answers: pages.answers, limit: 'public' } as const;

  app.get(paths.signInWith, { config }, async (request, reply) => {
    const query = request.query as Parameters;
    const provider = await service.externalSignIns.way(query.get('provider') ?? '');
    const continueTo = continuation(paths, query.get('continue')) ?? paths.apps;
    if (!provider) return answerProblem(pages.answers, request, reply, { kind: 'not_found' });
    const asked = await requestOnTheWay(service, continueTo);
    const tooLong = () => answerProblem(pages.answers, request, reply, { kind: 'bad_request' });
    return goToProvider(parts, request, reply, {
      provider,
      continueTo,
      asked: asked ? { ...asked, tooLong } : undefined,
    });
  });

  // The only GET that writes: it redeems the ticket. The same browser may repeat it, and a prefetch redeems nothing.
  app.get(paths.signInContinue, { config }, async (request, reply) => {
    if (isLoadedAhead(request)) return lead(reply).code(204).send();
    const returned = {
      ticket: (request.query as Parameters).get('ticket') ?? '',
      browsers: sessions.signInSecrets(request),
      sessionToken: sessions.sessionToken(request),
    };
    const outcome = await service.externalSignIns.complete(returned, originOf(request));
    if (outcome.kind === 'denied') return denied(request, reply, outcome.continueTo);
    if (outcome.kind === 'dead' || outcome.kind === 'refused') return refuse(request, reply, outcome);
    if (outcome.sessionToken !== null) sessions.begin(reply, outcome.sessionToken, null);
    return pages.seeOther(lead(reply), outcome.continueTo, 'leaves');
  });

  function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    outcome: Extract<ReturnOutcome, { kind: 'dead' | 'refused' }>,
  ): FastifyReply {
    const kind = outcome.kind === 'dead' ? 'sign_in_dead' : REFUSED[outcome.why];
    const error = kind === 'unavailable' ? 'provider_paused' : kind;
    request.outcome = { error, ...(outcome.kind === 'dead' ? { detail: outcome.detail } : {}) };
    const status = kind === 'unavailable' ? 503 : outcome.kind === 'dead' ? 400 : 403;
    return pages.sendError(request, lead(reply), status, kind);
  }

  /** Sends the error to the app of the request; without an app, shows an error page. */
  async function denied(request: FastifyRequest, reply: FastifyReply, continueTo: string): Promise<FastifyReply> {
    request.outcome = { error: 'access_denied' };
    const asked = await requestOnTheWay(service, continueTo);
    if (!asked) return pages.sendError(request, lead(reply), 403, 'sign_in_denied');
    return pages.seeOther(lead(reply), notSignedInLocation(asked), 'leaves');
  }

  /** The address holds a ticket: no referrer may carry it elsewhere. */
  function lead(reply: FastifyReply): FastifyReply {
    return pages.secure(reply, 'leaves').header('Cache-Control', 'no-store').header('Referrer-Policy', 'no-referrer');
  }
}

const REFUSED: Readonly<Record<'paused' | 'disabled' | 'too_old', ErrorKind>> = {
  paused: 'unavailable',
  disabled: 'sign_in_disabled',
  too_old: 'sign_in_too_old',
};
