/** Sends a browser to an identity provider, with a sealed request that only it can finish. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { IdentityProvider } from '../../../accounts/people/identity-provider.ts';
import type { AuthorizationRequest } from '../../../oauth/protocol/authorization-request.ts';
import { answerProblem } from '../../answer/send-problem.ts';
import type { PageParts } from '../page-parts.ts';

/** The authorization request's demands on a sign-in; `tooLong` answers if they do not fit. */
export type Asked = Pick<AuthorizationRequest, 'client' | 'prompt' | 'maxAge' | 'loginHint' | 'uiLocales'> & {
  readonly tooLong: () => FastifyReply;
};

/** A sign-in at a provider: the address to continue to, and the authorization request's demands, if any. */
export type SignInElsewhere = {
  readonly provider: IdentityProvider;
  readonly continueTo: string;
  readonly asked: Asked | undefined;
  /** True if the user wants to choose another account there. */
  readonly isAnotherPerson?: boolean;
};

/**
 * Redirects to the provider's sign-in address. The provider cannot read the sealed request, so the demands are
 * repeated as plain parameters.
 */
export function goToProvider(
  { service, pages, sessions }: PageParts,
  request: FastifyRequest,
  reply: FastifyReply,
  { provider, continueTo, asked, isAnotherPerson = false }: SignInElsewhere,
): FastifyReply {
  const demandsLogin = asked?.prompt.includes('login') ?? false;
  const maxAge = asked?.maxAge ?? null;
  const begun = service.externalSignIns.begin(provider, { continueTo, demandsLogin, maxAge });
  if (!begun) return asked ? asked.tooLong() : answerProblem(pages.answers, request, reply, { kind: 'bad_request' });
  sessions.beginSignIn(request, reply, begun.browser);
  const prompts = new Set(asked?.prompt.filter((prompt) => prompt === 'login' || prompt === 'select_account'));
  if (isAnotherPerson) prompts.add('select_account');
  const url = new URL(provider.signInUrl);
  const readable = {
    sign_in_request: begun.signInRequest,
    client_id: asked?.client.id,
    client_name: asked?.client.name,
    login_hint: asked?.loginHint,
    ui_locales: asked?.uiLocales,
    prompt: [...prompts].join(' ') || undefined,
    max_age: maxAge?.toString(),
  };
  for (const [name, value] of Object.entries(readable)) if (value) url.searchParams.append(name, value);
  return pages.seeOther(reply.header('Referrer-Policy', 'no-referrer'), url.href, 'leaves');
}
