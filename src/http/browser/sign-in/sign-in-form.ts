/** Leads a user to sign-in from a page that needs it: the form in its place, or an identity provider. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type SignInData, signInPage } from '../../../pages/sign-in/sign-in-page.ts';
import { answerProblem } from '../../answer/send-problem.ts';
import type { PageParts } from '../page-parts.ts';
import { type Asked, goToProvider } from './go-to-provider.ts';

/** A page's knowledge of the sign-in that it needs. */
export type NeededSignIn = Pick<SignInData, 'continueTo' | 'appName'> &
  Partial<Omit<SignInData, 'formToken' | 'providers' | 'hasPassword'>> & {
    /** The authorization request's demands, and the answer if they are too long to carry. */
    readonly asked?: Asked;
  };

/** Shows the sign-in form, on its own page or in place of another; or redirects to the only provider. */
export async function sendSignIn(
  parts: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { asked, ...needed }: NeededSignIn,
): Promise<FastifyReply> {
  const { service, pages, sessions } = parts;
  const { paths } = service;
  const ways = await service.externalSignIns.ways();
  const providers = ways.filter((way) => way !== 'password');
  const hasPassword = ways.includes('password');
  const [provider] = providers;
  if (!provider && !hasPassword)
    return answerProblem(pages.answers, request, reply, { kind: 'unavailable', retryAfter: NO_WAY_RETRY_AFTER });
  const continueTo = needed.continueTo ?? paths.apps;
  if (provider && !hasPassword && providers.length === 1)
    return goToProvider(parts, request, reply, { provider, continueTo, asked });
  const formToken = sessions.visitorFormToken(request, reply, 'sign-in');
  const links = providers.map(({ id, name }) => ({
    name,
    href: `${paths.signInWith}?${new URLSearchParams({ provider: id, continue: continueTo })}`,
  }));
  const data = { email: '', problem: null, backToApp: null, ...needed, hasPassword, providers: links, formToken };
  return pages.send(reply, signInPage(pages.context(request), data), 'leaves');
}

/**
 * Answers a form that came without a session and did nothing: leads to sign-in and back to its page. `signedOut` is
 * the message for browsers that accept cookies.
 */
export async function sendSignedOut(
  parts: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  continueTo: string,
  signedOut: 'signed_out' | 'pressed_twice' = 'signed_out',
): Promise<FastifyReply> {
  const why = parts.sessions.whyNotSignedIn(request);
  const problem = { kind: why === 'signed_out' ? signedOut : why };
  request.outcome = { error: problem.kind };
  return sendSignIn(parts, request, reply.code(403), { continueTo, appName: null, problem });
}

/** `Retry-After` while every way to sign in is paused (s). */
const NO_WAY_RETRY_AFTER = 60;
