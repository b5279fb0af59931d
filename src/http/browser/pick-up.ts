/** The page of a hand-over: a developer looks at it, and makes the secret by pressing the button. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Parameters } from '../../oauth/parameters.ts';
import { takesSecret } from '../../operator/hand-over/hand-over.ts';
import type { DeadHandOver, FoundHandOver } from '../../operator/hand-over/hand-overs.ts';
import { type PickUpProblem, pickedUpPage, pickUpPage, usedPickUpPage } from '../../pages/developers/pick-up-page.ts';
import { formOf } from '../request/form.ts';
import { originOf } from '../request/origin.ts';
import { developerValues } from '../service/developer-values.ts';
import type { PageParts } from './page-parts.ts';
import { keepAddress } from './send-page.ts';
import { FORM_PROBLEMS } from './session/browser-session.ts';

type GoodHandOver = Extract<FoundHandOver, { kind: 'good' }>;

/** Adds the page where developers pick up secrets. */
export function addPickUp(app: FastifyInstance, { service, pages, sessions }: PageParts): void {
  const { handOvers, paths } = service;
  const config = { answers: pages.answers, limit: 'public' } as const;

  // Nothing is used here: mail scanners, link previews and prefetching programs open addresses, too.
  app.get(paths.pickUp, { config }, async (request, reply) => {
    keepAddress(reply);
    const token = (request.query as Parameters).get('token') ?? '';
    const found = await handOvers.look(token);
    return found.kind === 'good' ? ask(request, reply, found, token, null) : sendDead(request, reply, found);
  });

  app.post(paths.pickUp, { config }, async (request, reply) => {
    keepAddress(reply);
    if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const form = formOf(request);
    const token = form.get('token') ?? '';
    const shown = sessions.checkVisitorForm(request, 'pick-up', token, form.get('form_token'));
    if (shown !== 'good') {
      const found = await handOvers.look(token);
      if (found.kind !== 'good') return sendDead(request, reply, found);
      request.outcome = { error: FORM_PROBLEMS[shown], client_id: found.subject.row.id };
      return ask(request, reply.code(403), found, token, FORM_PROBLEMS[shown]);
    }
    const picked = await handOvers.pickUp(token, sessions.visitor(request) as string, originOf(request));
    if (picked.kind !== 'picked_up') return sendDead(request, reply, picked);
    const { subject, secret, hasEarlier } = picked;
    request.outcome = { client_id: subject.row.id };
    const values = developerValues(subject, secret, service);
    const { name } = subject.row;
    const page = pickedUpPage(pages.context(request), { name, hasSecret: secret !== null, hasEarlier, values });
    return pages.send(reply, page);
  });

  function ask(
    request: FastifyRequest,
    reply: FastifyReply,
    { handOver: { expiresAt }, subject }: GoodHandOver,
    token: string,
    problem: PickUpProblem | null,
  ): FastifyReply {
    const formToken = sessions.visitorFormToken(request, reply, 'pick-up', token);
    const about = { name: subject.row.name, hasSecret: takesSecret(subject), expiresAt };
    return pages.send(reply, pickUpPage(pages.context(request), { ...about, token, formToken, problem }));
  }

  function sendDead(request: FastifyRequest, reply: FastifyReply, found: DeadHandOver): FastifyReply {
    if (found.kind === 'two_secrets') return pages.sendError(request, reply, 409, 'two_secrets');
    if (found.kind === 'dead') return pages.sendError(request, reply, 400, 'dead_hand_over');
    request.outcome = { error: 'used_hand_over' };
    return pages.send(reply.code(400), usedPickUpPage(pages.context(request), found.at));
  }
}
