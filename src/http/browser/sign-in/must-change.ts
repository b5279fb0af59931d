/**
 * The page on which a user replaces a password that somebody else knows, during sign-in. The session begins only
 * after that, so no other page is reachable before. Only a user with the right password sees the form, so its token
 * proves the password in the next request. The token is bound to the browser, the account and the password's stamp.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { PasswordAccount } from '../../../accounts/people/account.ts';
import { mustChangePage } from '../../../pages/sign-in/new-password-page.ts';
import type { PasswordProblemShown } from '../../../pages/sign-in/password-fields.ts';
import { BUSY_RETRY_AFTER, setRetryAfter } from '../../answer/send-problem.ts';
import { formOf } from '../../request/form.ts';
import { originOf } from '../../request/origin.ts';
import type { PageParts } from '../page-parts.ts';
import type { Pages } from '../send-page.ts';
import { type BrowserSessions, FORM_PROBLEMS, type VisitorForm } from '../session/browser-session.ts';
import { continuation } from './page-after-sign-in.ts';
import { sendSignIn } from './sign-in-form.ts';

/** Adds the address that the form posts to. Opening it leads to sign-in. */
export function addMustChange(app: FastifyInstance, parts: PageParts): void {
  const { service, pages, sessions } = parts;
  const { accounts, paths } = service;
  const config = { answers: pages.answers, limit: 'public' } as const;

  app.get(paths.mustChange, { config }, async (_request, reply) => pages.seeOther(reply, paths.signIn, 'leaves'));

  app.post(paths.mustChange, { config }, async (request, reply) => {
    if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const form = formOf(request);
    const continueTo = continuation(paths, form.get('continue'));
    const account = accounts.takesPasswords ? await accounts.findMustChange(form.get('account') ?? '') : null;
    const fromStart = (kind: 'pressed_twice' | (typeof FORM_PROBLEMS)[Exclude<VisitorForm, 'good'>]) => {
      request.outcome = { error: 'form_outdated' };
      return sendSignIn(parts, request, reply.code(403), { continueTo, appName: null, problem: { kind } });
    };
    if (!account) return fromStart('pressed_twice');
    const shown = sessions.checkVisitorForm(request, 'must-change', subjectOf(account), form.get('form_token'));
    if (shown !== 'good') return fromStart(FORM_PROBLEMS[shown]);
    const again = (status: number, problem: PasswordProblemShown) => {
      request.outcome = { error: problem.kind, account_id: account.id };
      return sendMustChange(pages, sessions, request, reply.code(status), { account, continueTo, problem });
    };
    const password = form.get('password') ?? '';
    if (password !== form.get('password_again'))
      return again(400, { kind: 'different', also: accounts.passwordProblem(account, password) });
    const replacement = {
      password,
      knownBrowser: sessions.knownBrowser(request),
      replaces: sessions.sessionToken(request),
    };
    const outcome = await accounts.replacePassword(account, replacement, originOf(request));
    if (outcome.kind === 'changed') {
      sessions.begin(reply, outcome.sessionToken, outcome.knownBrowser);
      return pages.seeOther(reply, continueTo ?? paths.apps, 'leaves');
    }
    if (outcome.kind === 'refused') return again(400, { kind: outcome.problem });
    if (outcome.kind === 'wrong_credentials') return fromStart('pressed_twice');
    setRetryAfter(reply, BUSY_RETRY_AFTER);
    return again(503, { kind: 'busy' });
  });
}

/** Data of the form. */
export type MustChange = {
  readonly account: PasswordAccount;
  readonly continueTo: string | null;
  readonly problem: PasswordProblemShown | null;
};

/** Shows the form to a user whose password was right just now. */
export function sendMustChange(
  pages: Pages,
  sessions: BrowserSessions,
  request: FastifyRequest,
  reply: FastifyReply,
  { account, continueTo, problem }: MustChange,
): FastifyReply {
  const { id: accountId, email } = account;
  const formToken = sessions.visitorFormToken(request, reply, 'must-change', subjectOf(account));
  const page = mustChangePage(pages.context(request), { accountId, email, continueTo, formToken, problem });
  return pages.send(reply, page, 'leaves');
}

function subjectOf({ id, passwordSetAt }: PasswordAccount): string {
  return JSON.stringify([id, passwordSetAt]);
}
