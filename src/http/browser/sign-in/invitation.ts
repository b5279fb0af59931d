/** The page of an invitation: an invited user sets a password, and then signs in with it. */

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Invited } from '../../../accounts/passwords/invitation.ts';
import type { Parameters } from '../../../oauth/parameters.ts';
import { invitationPage, passwordSetPage } from '../../../pages/sign-in/new-password-page.ts';
import type { PasswordProblemShown } from '../../../pages/sign-in/password-fields.ts';
import { answerProblem, BUSY_RETRY_AFTER, setRetryAfter } from '../../answer/send-problem.ts';
import { formOf } from '../../request/form.ts';
import { originOf } from '../../request/origin.ts';
import type { PageParts } from '../page-parts.ts';
import { keepAddress } from '../send-page.ts';
import { FORM_PROBLEMS } from '../session/browser-session.ts';

/** Adds the page where invited users set a password. */
export function addInvitation(app: FastifyInstance, parts: PageParts): void {
  const { service, pages, sessions } = parts;
  const { accounts, paths } = service;
  const config = { answers: pages.answers, limit: 'public' } as const;

  // Nothing is redeemed here: mail scanners and prefetching programs open addresses, too.
  app.get(paths.newPassword, { config }, async (request, reply) => {
    keepAddress(reply);
    const token = (request.query as Parameters).get('token') ?? '';
    const invited = await find(request, reply, token);
    return invited ? sendForm(request, reply, invited, token, null) : reply;
  });

  app.post(paths.newPassword, { config }, async (request, reply) => {
    keepAddress(reply);
    if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const form = formOf(request);
    const token = form.get('token') ?? '';
    const invited = await find(request, reply, token);
    if (!invited) return reply;
    const again = (status: number, problem: PasswordProblemShown) => {
      request.outcome = { error: problem.kind, account_id: invited.id };
      return sendForm(request, reply.code(status), invited, token, problem);
    };
    const shown = sessions.checkVisitorForm(request, 'invitation', token, form.get('form_token'));
    if (shown !== 'good') return again(403, { kind: FORM_PROBLEMS[shown] });
    const password = form.get('password') ?? '';
    if (password !== form.get('password_again'))
      return again(400, { kind: 'different', also: accounts.passwordProblem(invited, password) });
    const outcome = await accounts.useInvitation(invited, password, originOf(request));
    if (outcome.kind === 'set') return pages.send(reply, passwordSetPage(pages.context(request)));
    if (outcome.kind === 'dead') return pages.sendError(request, reply, 400, 'dead_invitation');
    if (outcome.kind === 'refused') return again(400, { kind: outcome.problem });
    setRetryAfter(reply, BUSY_RETRY_AFTER);
    return again(503, outcome as { kind: 'busy' });
  });

  /** Returns the account of an invitation's token. If the token is invalid, sends the answer and returns null. */
  async function find(request: FastifyRequest, reply: FastifyReply, token: string): Promise<Invited | null> {
    if (!accounts.takesPasswords) {
      answerProblem(pages.answers, request, reply, { kind: 'not_found' });
      return null;
    }
    const found = await accounts.findInvitation(token, originOf(request));
    if (found.kind === 'good') return found.invited;
    if (found.kind === 'dead') pages.sendError(request, reply, 400, 'dead_invitation');
    else
      answerProblem(pages.answers, request, reply, { kind: 'too_many_requests', retryAfter: found.retryAfterSeconds });
    return null;
  }

  function sendForm(
    request: FastifyRequest,
    reply: FastifyReply,
    { email }: Invited,
    token: string,
    problem: PasswordProblemShown | null,
  ): FastifyReply {
    const formToken = sessions.visitorFormToken(request, reply, 'invitation', token);
    return pages.send(reply, invitationPage(pages.context(request), { email, token, formToken, problem }));
  }
}
