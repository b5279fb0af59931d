/** The one check of the operators' pages: each route that names an act needs a session that may do it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SessionAccess } from '../../../../operator/access/operator-sign-in.ts';
import { type AccessRefusal, type Act, isPresent, refusalOf } from '../../../../operator/access/rights.ts';
import type { SignInRefusal } from '../../../../operator/access/sign-in-refusal.ts';
import { presencePage } from '../../../../pages/operator/sign-in/confirm-page.ts';
import { continuePage } from '../../../../pages/operator/sign-in/continue-page.ts';
import { sessionEndedPage } from '../../../../pages/operator/sign-in/session-ended-page.ts';
import { formOf } from '../../../request/form.ts';
import { originOf } from '../../../request/origin.ts';
import type { ConsoleParts } from '../console-parts.ts';
import { ownAddress } from './continue-to.ts';
import { nameOf } from './sign-in.ts';
import { ANSWER, ANSWERER, isKept, PASSKEY_NAME, unsentForm } from './unsent-form.ts';

/** Returns the page to go on to after a sign-in or confirmation: the requested one, or that of the posted form. */
function pageOf(request: FastifyRequest, isPage: (path: string) => boolean): string {
  if (request.method !== 'POST') return request.url;
  const from = URL.parse(request.headers.referer ?? '');
  if (from === null) return '/';
  if (isPage(from.pathname)) return from.pathname + from.search;
  // A refused act answers at its own address with the page that it belongs to, which lies above.
  let path = from.pathname;
  while (path !== '' && !isPage(path)) path = path.slice(0, path.lastIndexOf('/'));
  return path || '/';
}

/** True for a form that is sent again with the passkey's answer, where that is missing. */
function asksInPlace({ routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.asksInPlace === true;
}

/** Adds the check. Returns the access of a request that passed it, and what asks for a passkey. */
export function addGuard(
  app: FastifyInstance,
  { service, operators, pages, sessions }: Omit<ConsoleParts, 'accessOf' | 'refuse'>,
): Pick<ConsoleParts, 'accessOf' | 'refuse'> {
  const found = new WeakMap<FastifyRequest, SessionAccess>();
  const pagePaths: RegExp[] = [];
  const isPage = (path: string) => pagePaths.some((each) => each.test(path));

  app.addHook('onRoute', ({ method, url, config }) => {
    if (method === 'GET' && config?.act !== undefined) pagePaths.push(new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`));
  });

  app.addHook('onRequest', async (request, reply) => {
    if (request.method === 'POST' && !sessions.isFromOwnPage(request))
      return pages.sendProblem(reply, 403, { kind: 'form_refused' });
    const { act } = request.routeOptions.config;
    if (act === undefined) return;
    const token = sessions.token(request);
    const access = token === null ? null : await operators.access.bySession(token);
    if (access?.by.kind !== 'session') {
      // The form is read first.
      if (request.method === 'POST' && isKept(request)) return;
      return signInFirst(request, reply, token);
    }
    found.set(request, access as SessionAccess);
    const refusal = refusalOf(act, access, service.now());
    // The form is read first: it may bring the passkey's answer, and is kept if it does not.
    if (refusal === 'presence' && asksInPlace(request)) return;
    if (refusal !== null) return refuse(request, reply, act, refusal);
  });

  app.addHook('preHandler', async (request, reply) => {
    const { act } = request.routeOptions.config;
    if (act === undefined) return;
    const access = found.get(request);
    if (access === undefined) {
      request.outcome = { error: 'not_signed_in' };
      return pages.send(reply.code(403), sessionEndedPage(pages.context, unsentForm(request)));
    }
    if (!asksInPlace(request)) return;
    const form = formOf(request);
    const answer = form.get(ANSWER);
    if (answer !== undefined && form.get(ANSWERER) !== access.operator.id)
      return askPasskey(request, reply.code(403), act, null);
    // A page that is loaded again sends an answer again, which would count as a copied one.
    if (answer !== undefined && !isPresent(access.by, service.now())) {
      const browser = sessions.browser(request, reply);
      const name = nameOf(form.get(PASSKEY_NAME), browser.browser);
      const outcome = await operators.signIn.confirm(access, { act, answer, name }, browser);
      if (outcome.kind !== 'signed_in') {
        request.outcome = { error: `passkey_${outcome.kind}`, detail: outcome.detail };
        return askPasskey(request, reply.code(400), act, outcome.kind);
      }
      sessions.begin(reply, outcome.token);
      const confirmed = await operators.access.bySession(outcome.token);
      if (confirmed?.by.kind !== 'session') return signInFirst(request, reply, null);
      found.set(request, confirmed as SessionAccess);
    }
    const still = refusalOf(act, accessOf(request), service.now());
    if (still !== null) return refuse(request, reply, act, still);
  });

  function signInFirst(request: FastifyRequest, reply: FastifyReply, token: string | null): FastifyReply {
    const isLink = request.method !== 'POST' && token === null && sessions.isFromElsewhere(request);
    if (isLink) return pages.send(reply, continuePage(pages.context, ownAddress(request.url)));
    request.outcome = { error: 'not_signed_in' };
    return pages.seeOther(reply, `/sign-in?${new URLSearchParams({ continue: pageOf(request, isPage) })}`);
  }

  async function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    act: Act,
    refusal: AccessRefusal,
  ): Promise<FastifyReply> {
    const access = accessOf(request);
    request.outcome = { error: `refused_${refusal.replace(' ', '_')}`, detail: `${access.operator.id}: ${act}` };
    const { act: asked = act } = request.routeOptions.config;
    if (refusal === 'presence' && asksInPlace(request)) return askPasskey(request, reply.code(403), asked, null);
    await operators.access.refused(act, access, refusal, originOf(request));
    if (refusal !== 'presence') return pages.sendProblem(reply, 403, { kind: 'not_allowed' });
    return pages.seeOther(reply, `/confirm?${new URLSearchParams({ continue: pageOf(request, isPage) })}`);
  }

  /** Asks for a passkey, or for the first one, on a page that keeps the form, and sends it again with the answer. `act` is the route's. */
  async function askPasskey(
    request: FastifyRequest,
    reply: FastifyReply,
    act: Act,
    problem: SignInRefusal['kind'] | null,
  ): Promise<FastifyReply> {
    const access = accessOf(request);
    const { secret, browser } = sessions.browser(request, reply);
    const ceremony = await operators.signIn.confirmOptions(access, act, secret);
    const data = {
      act,
      operator: access.operator,
      ceremony,
      passkeyName: nameOf(formOf(request).get(PASSKEY_NAME), browser),
      form: unsentForm(request),
      back: ownAddress(pageOf(request, isPage)),
      problem,
    };
    return pages.send(reply, presencePage(pages.context, data));
  }

  function accessOf(request: FastifyRequest): SessionAccess {
    const access = found.get(request);
    if (access === undefined) throw new Error(`no act is named for ${request.routeOptions.url}`);
    return access;
  }

  return { accessOf, refuse };
}
