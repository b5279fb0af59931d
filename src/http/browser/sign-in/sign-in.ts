/** Sign-in with a password, and sign-out. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Session } from '../../../accounts/people/session.ts';
import type { Parameters } from '../../../oauth/parameters.ts';
import { notSignedInLocation } from '../../../oauth/protocol/authorization-response.ts';
import { signedOutPage, signOutPage } from '../../../pages/sign-in/sign-out-page.ts';
import { BUSY_RETRY_AFTER, setRetryAfter } from '../../answer/send-problem.ts';
import { formOf } from '../../request/form.ts';
import { originOf } from '../../request/origin.ts';
import type { Service } from '../../service/service.ts';
import type { PageParts } from '../page-parts.ts';
import { type BrowserSessions, FORM_PROBLEMS, type HasSession } from '../session/browser-session.ts';
import { untilHangUp } from './client-hang-up.ts';
import { goToProvider } from './go-to-provider.ts';
import { sendMustChange } from './must-change.ts';
import { continuation } from './page-after-sign-in.ts';
import { requestOnTheWay } from './request-behind-sign-in.ts';
import { type NeededSignIn, sendSignIn } from './sign-in-form.ts';
import { findDeviceClient } from './waiting-device.ts';

/** Adds sign-in and sign-out. */
export function addSignIn(app: FastifyInstance, parts: PageParts): void {
  const { service, pages, sessions } = parts;
  const { paths } = service;
  /** Page after sign-in, if the user came for no other. */
  const start = paths.apps;
  const config = { answers: pages.answers, limit: 'public' } as const;

  app.get(paths.signIn, { config }, async (request, reply) => {
    const continueTo = continuation(paths, (request.query as Parameters).get('continue'));
    if (await sessions.signedIn(request, continueTo ?? start))
      return pages.seeOther(reply, continueTo ?? start, 'leaves');
    return sendSignIn(parts, request, reply, await onTheWayTo(service, sessions, request, continueTo));
  });

  app.post(paths.signIn, { config }, async (request, reply) => {
    if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const form = formOf(request);
    const continueTo = continuation(paths, form.get('continue'));
    const email = form.get('email') ?? '';
    const again = { ...(await onTheWayTo(service, sessions, request, continueTo)), email };
    const shown = sessions.checkVisitorForm(request, 'sign-in', '', form.get('form_token'));
    if (shown !== 'good') {
      // The user may have signed in in another tab. A browser that lost the visitor's cookie gets a new form.
      if (!again.isAgain && (await sessions.signedIn(request, continueTo ?? start)))
        return pages.seeOther(reply, continueTo ?? start, 'leaves');
      const problem = { kind: FORM_PROBLEMS[shown] } as const;
      request.outcome = { error: problem.kind };
      return sendSignIn(parts, request, reply.code(403), { ...again, problem });
    }
    if (!service.accounts.takesPasswords) {
      request.outcome = { error: 'password_left_out' };
      return sendSignIn(parts, request, reply.code(403), again);
    }
    const attempt = {
      email,
      password: form.get('password') ?? '',
      replaces: sessions.sessionToken(request),
      knownBrowser: sessions.knownBrowser(request),
    };
    let tried: string | null = null;
    const tell = (accountId: string | null) => {
      tried = accountId;
    };
    const outcome = await untilHangUp(request, (signal) =>
      service.accounts.signIn(attempt, originOf(request), tell, signal),
    );
    if (outcome.kind === 'signed_in') {
      sessions.begin(reply, outcome.sessionToken, outcome.knownBrowser);
      return pages.seeOther(reply, continueTo ?? start, 'leaves');
    }
    request.outcome = { error: outcome.kind, account_id: tried };
    if (outcome.kind === 'must_change') {
      const { account } = outcome;
      return sendMustChange(pages, sessions, request, reply, { account, continueTo, problem: null });
    }
    if (outcome.kind === 'throttled') setRetryAfter(reply.code(429), outcome.retryAfterSeconds);
    else if (outcome.kind === 'busy') setRetryAfter(reply.code(503), BUSY_RETRY_AFTER);
    else reply.code(400);
    return sendSignIn(parts, request, reply, { ...again, problem: outcome });
  });

  app.get(paths.signOut, { config }, async (request, reply) => {
    const signedIn = await sessions.anySession(request);
    const from = (request.query as Parameters).get('from') ?? null;
    if (!signedIn) return pages.send(reply, signedOutPage(pages.context(request), await productName(from)));
    return askSignOut(request, reply, signedIn, null);
  });

  app.post(paths.signOut, { config }, async (request, reply) => {
    if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');
    const form = formOf(request);
    const continueTo = continuation(paths, form.get('continue'));
    const signedIn = await sessions.anySession(request);
    if (signedIn) {
      const token = sessions.checkForm(signedIn, 'sign-out', '', form.get('form_token'));
      if (token !== 'good') {
        request.outcome = { error: 'form_outdated' };
        return askSignOut(request, reply.code(403), signedIn, continueTo);
      }
      await service.accounts.signOut(signedIn.sessionToken, signedIn.account, originOf(request));
    }
    sessions.end(reply);
    if (continueTo !== null && signedIn?.session.external) return signInAsAnother(request, reply, continueTo, signedIn);
    const providerId = signedIn?.session.providerId ?? null;
    const from = providerId === null ? '' : `?${new URLSearchParams({ from: providerId })}`;
    return pages.seeOther(reply, continueTo ?? paths.signOut + from, 'leaves');
  });

  /** Returns the product where a user signed in and stays signed in; null for this service, or an unknown id. */
  async function productName(providerId: string | null): Promise<string | null> {
    return providerId === null ? null : ((await service.externalSignIns.way(providerId))?.name ?? null);
  }

  /** "Not you?": leads back to the place of the sign-in, to choose another account. */
  async function signInAsAnother(
    request: FastifyRequest,
    reply: FastifyReply,
    continueTo: string,
    { session, account }: HasSession & { readonly session: Session },
  ): Promise<FastifyReply> {
    const provider = await service.externalSignIns.way(session.providerId ?? '');
    if (!provider) return pages.seeOther(reply, continueTo, 'leaves');
    const device = await findDeviceClient(service, request, account.id, continueTo);
    const asked = device
      ? { client: device, prompt: [], maxAge: null, loginHint: null, uiLocales: null }
      : await requestOnTheWay(service, continueTo);
    const tooLong = () => pages.seeOther(reply, continueTo, 'leaves');
    const about = asked ? { ...asked, tooLong } : undefined;
    return goToProvider(parts, request, reply, { provider, continueTo, asked: about, isAnotherPerson: true });
  }

  async function askSignOut(
    request: FastifyRequest,
    reply: FastifyReply,
    signedIn: HasSession & { readonly session: Session },
    continueTo: string | null,
  ): Promise<FastifyReply> {
    const formToken = sessions.formToken(signedIn, 'sign-out', '');
    const signedInAt = await productName(signedIn.session.providerId);
    const hasApps = await service.grants.hasConnectedApps(signedIn.account.id);
    return pages.send(
      reply,
      signOutPage(pages.context(request), { formToken, continueTo, signedInAt, hasApps }),
      'may-sign-in',
    );
  }
}

/**
 * Returns the form's data about the path to continue to. For an authorization request: the app, and whether it
 * demands a new sign-in.
 */
async function onTheWayTo(
  service: Service,
  sessions: BrowserSessions,
  request: FastifyRequest,
  continueTo: string | null,
): Promise<Pick<NeededSignIn, 'continueTo' | 'appName' | 'backToApp' | 'isAgain'>> {
  const asked = await requestOnTheWay(service, continueTo);
  if (!asked) return { continueTo, appName: null };
  const isAgain = asked.prompt.includes('login') && (await sessions.signedIn(request, continueTo ?? '')) !== null;
  return { continueTo, appName: asked.client.name, backToApp: notSignedInLocation(asked), isAgain };
}
