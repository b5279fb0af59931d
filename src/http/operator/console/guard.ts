/** The one check of the operators' pages: each route that names an act needs a session that may do it. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { SessionAccess } from '../../../operator/access/operator-sign-in.ts';
import { type AccessRefusal, type Act, refusalOf } from '../../../operator/access/rights.ts';
import { continuePage } from '../../../pages/operator/continue-page.ts';
import { sessionEndedPage } from '../../../pages/operator/session-ended-page.ts';
import { originOf } from '../../origin.ts';
import type { ConsoleParts } from './console-parts.ts';
import { withoutDone } from './done.ts';
import { isKept, unsentForm } from './unsent-form.ts';

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

/** Adds the check. Returns the access of a request that passed it. */
export function addGuard(
  app: FastifyInstance,
  { service, operators, pages, sessions }: Omit<ConsoleParts, 'accessOf'>,
): (request: FastifyRequest) => SessionAccess {
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
    const refusal = refusalOf(act, access, service.now());
    if (refusal !== null) return refuse(request, reply, access as SessionAccess, act, refusal);
    found.set(request, access as SessionAccess);
  });

  app.addHook('preHandler', async (request, reply) => {
    const { act } = request.routeOptions.config;
    if (act === undefined || found.has(request)) return;
    request.outcome = { error: 'not_signed_in' };
    return pages.send(reply.code(403), sessionEndedPage(pages.context, unsentForm(request)));
  });

  function signInFirst(request: FastifyRequest, reply: FastifyReply, token: string | null): FastifyReply {
    const isLink = request.method !== 'POST' && token === null && sessions.isFromElsewhere(request);
    if (isLink) return pages.send(reply, continuePage(pages.context, withoutDone(request.url)));
    request.outcome = { error: 'not_signed_in' };
    return pages.seeOther(reply, `/sign-in?${new URLSearchParams({ continue: pageOf(request, isPage) })}`);
  }

  async function refuse(
    request: FastifyRequest,
    reply: FastifyReply,
    access: SessionAccess,
    act: Act,
    refusal: AccessRefusal,
  ): Promise<FastifyReply> {
    request.outcome = { error: `refused_${refusal.replace(' ', '_')}`, detail: `${access.operator.id}: ${act}` };
    await operators.access.refused(act, access, refusal, originOf(request));
    if (refusal === 'presence')
      return pages.seeOther(reply, `/confirm?${new URLSearchParams({ continue: pageOf(request, isPage) })}`);
    return pages.sendProblem(reply, 403, { kind: 'not_allowed' });
  }

  return (request) => {
    const access = found.get(request);
    if (access === undefined) throw new Error(`no act is named for ${request.routeOptions.url}`);
    return access;
  };
}
