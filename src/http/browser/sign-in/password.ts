/** The password page: a signed-in user changes the password. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { hasPassword, type PasswordAccount } from '../../../accounts/people/account.ts';
import type { Parameters } from '../../../oauth/parameters.ts';
import type { PasswordProblemShown } from '../../../pages/sign-in/password-fields.ts';
import { passwordPage } from '../../../pages/sign-in/password-page.ts';
import { answerProblem, BUSY_RETRY_AFTER, setRetryAfter } from '../../answer/send-problem.ts';
import { formOf } from '../../request/form.ts';
import { originOf } from '../../request/origin.ts';
import type { PageParts } from '../page-parts.ts';
import { pageAccount } from '../send-page.ts';
import { FORM_PROBLEMS, type SignedIn } from '../session/browser-session.ts';
import { untilHangUp } from './client-hang-up.ts';
import { sendSignedOut, sendSignIn } from './sign-in-form.ts';

type OfPassword = SignedIn & { readonly account: PasswordAccount };

/** Adds the page where a user changes the password. */
export function addPassword(app: FastifyInstance, parts: PageParts): void {
  const { service, pages, sessions } = parts;
  const { paths } = service;
  const config = { answers: pages.answers, limit: 'public' } as const;
  /** True if the user has a password to change, and the password is a way to sign in here. */
  const isOfPassword = (signedIn: SignedIn): signedIn is OfPassword =>
    service.accounts.takesPasswords && hasPassword(signedIn.account);

  app.get(paths.password, { config }, async (request, reply) => {
    const signedIn = await sessions.signedIn(request);
    if (signedIn && !isOfPassword(signedIn)) return answerProblem(pages.answers, request, reply, { kind: 'not_found' });
    if (!signedIn) return sendSignIn(parts, request, reply, { continueTo: paths.password, appName: null });
    const mark = (request.query as Parameters).get('changed');
    const wasChanged = sessions.checkForm(signedIn, 'password-changed', '', mark) === 'good';
    return sendForm(request, reply, signedIn, null, wasChanged);
  });

  app.post(paths.password, { config }, async (request, reply) => {
    if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const signedIn = await sessions.signedIn(request);
    // The first of two presses may have changed the password, and ended the session.
    if (!signedIn) return sendSignedOut(parts, request, reply, paths.password, 'pressed_twice');
    if (!isOfPassword(signedIn)) return answerProblem(pages.answers, request, reply, { kind: 'not_found' });
    const form = formOf(request);
    const shown = sessions.checkForm(signedIn, 'password', '', form.get('form_token'));
    if (shown !== 'good') {
      request.outcome = { error: 'form_outdated' };
      return sendForm(request, reply.code(403), signedIn, { kind: FORM_PROBLEMS[shown] });
    }
    const password = form.get('password') ?? '';
    if (password !== form.get('password_again'))
      return sendForm(request, reply.code(400), signedIn, {
        kind: 'different',
        also: service.accounts.passwordProblem(signedIn.account, password),
      });
    return change(request, reply, signedIn, { current: form.get('current_password') ?? '', password });
  });

  async function change(
    request: FastifyRequest,
    reply: FastifyReply,
    signedIn: OfPassword,
    typed: { current: string; password: string },
  ): Promise<FastifyReply> {
    const { account } = signedIn;
    const attempt = { ...typed, knownBrowser: sessions.knownBrowser(request) };
    const outcome = await untilHangUp(request, (signal) =>
      service.accounts.changePassword(account, attempt, originOf(request), signal),
    );
    if (outcome.kind === 'changed') {
      const { sessionToken, knownBrowser } = outcome;
      sessions.begin(reply, sessionToken, knownBrowser);
      const changed = sessions.formToken({ account, sessionToken }, 'password-changed', '');
      return pages.seeOther(reply, `${paths.password}?${new URLSearchParams({ changed })}`);
    }
    request.outcome = { error: outcome.kind, account_id: account.id };
    if (outcome.kind === 'throttled') setRetryAfter(reply.code(429), outcome.retryAfterSeconds);
    else if (outcome.kind === 'busy') setRetryAfter(reply.code(503), BUSY_RETRY_AFTER);
    else reply.code(400);
    return sendForm(request, reply, signedIn, outcome.kind === 'refused' ? { kind: outcome.problem } : outcome);
  }

  async function sendForm(
    request: FastifyRequest,
    reply: FastifyReply,
    signedIn: OfPassword,
    problem: PasswordProblemShown | null,
    wasChanged = false,
  ): Promise<FastifyReply> {
    const { id, email } = signedIn.account;
    const hasApps = await service.grants.hasConnectedApps(id);
    const formToken = sessions.formToken(signedIn, 'password', '');
    const page = passwordPage(pages.context(request), {
      account: await pageAccount(service, signedIn),
      signOutFormToken: sessions.formToken(signedIn, 'sign-out', ''),
      email,
      formToken,
      problem,
      wasChanged,
      hasApps,
    });
    return pages.send(reply, page, 'may-sign-in');
  }
}
