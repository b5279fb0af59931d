/** The sign-in form, which several pages show in their place. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type SignInData, signInPage } from '../../pages/sign-in-page.ts';
import type { BrowserSessions } from './browser-session.ts';
import type { Pages } from './page-answers.ts';

/** Shows the sign-in form: on its own page, or in place of one that needs somebody signed in. */
export function sendSignIn(
  pages: Pages,
  sessions: BrowserSessions,
  request: FastifyRequest,
  reply: FastifyReply,
  data: Pick<SignInData, 'continueTo' | 'appName'> & Partial<SignInData>,
): FastifyReply {
  const formToken = sessions.signInFormToken(request, reply);
  const page = signInPage(pages.context(request), { email: '', problem: null, ...data, formToken });
  return pages.send(reply, page, 'leaves');
}
