/** Sends the operators' pages with their headers, and problems as pages. English only. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Html } from '../../../pages/html/html.ts';
import { copyScript } from '../../../pages/layout/copy-script.ts';
import { pagePaths } from '../../../pages/layout/page-paths.ts';
import { consoleMessages } from '../../../pages/operator/messages.ts';
import { type ConsoleProblem, problemPage } from '../../../pages/operator/problem-page.ts';
import type { PasskeyContext } from '../../../pages/operator/sign-in/passkey-form.ts';
import { passkeyScript } from '../../../pages/operator/sign-in/passkey-script.ts';
import { consoleStylesheet } from '../../../pages/operator/stylesheet.ts';
import type { HttpProblem } from '../../answer/problem.ts';
import { hasScript, setSecurityHeaders, shortDigest } from '../../browser/send-page.ts';
import { isNavigation } from '../../browser/session/navigation.ts';
import type { Service } from '../../service/service.ts';

/** Sends the pages of the operators' address: the one place that knows their headers. */
export type ConsolePages = {
  readonly context: PasskeyContext;
  /** Sends a page to a window, and refuses frames, scripts and service workers. */
  readonly send: (reply: FastifyReply, page: Html) => FastifyReply;
  readonly sendProblem: (reply: FastifyReply, status: number, problem: ConsoleProblem) => FastifyReply;
  readonly answers: (request: FastifyRequest, reply: FastifyReply, problem: HttpProblem) => FastifyReply;
  /** Redirects by 303, so that the browser never posts a form twice. */
  readonly seeOther: (reply: FastifyReply, location: string) => FastifyReply;
  /** The files that pages use, each at an address with its digest. */
  readonly files: readonly { readonly path: string; readonly type: string; readonly text: string }[];
  readonly sendFile: (reply: FastifyReply, file: ConsolePages['files'][number]) => FastifyReply;
};

/** Prepares the pages of the operators' address. */
export function makeConsolePages({ brand, operatorUrl }: Service): ConsolePages {
  const isHttps = operatorUrl?.startsWith('https:') ?? false;
  const style = consoleStylesheet(brand.color);
  const stylePath = `/assets/console-${shortDigest(style)}.css`;
  const passkeyScriptPath = `/assets/passkeys-${shortDigest(passkeyScript)}.js`;
  const paths = pagePaths('');
  const copyScriptPath = paths.copyScript(shortDigest(copyScript));
  const context: PasskeyContext = {
    messages: consoleMessages,
    language: 'en',
    brand: { ...brand, logoHref: null, logoDarkHref: null },
    paths,
    stylesheetHref: stylePath,
    copyScriptHref: copyScriptPath,
    passkeyScriptHref: passkeyScriptPath,
  };
  const secure = (reply: FastifyReply, mayRunScript = false) =>
    setSecurityHeaders(reply, { formsStay: true, mayRunScript, isHttps });
  const sendHtml = (reply: FastifyReply, page: Html) =>
    secure(reply, hasScript(page))
      .header('Cache-Control', 'no-store')
      .header('Content-Type', 'text/html; charset=utf-8')
      .send(String(page));
  const sendProblem: ConsolePages['sendProblem'] = (reply, status, problem) => {
    reply.request.outcome ??= { error: problem.kind };
    return sendHtml(reply.code(status), problemPage(context, problem, reply.request.id));
  };
  return {
    context,
    send: (reply, page) =>
      isNavigation(reply.request) ? sendHtml(reply, page) : sendProblem(reply, 403, { kind: 'not_a_window' }),
    sendProblem,
    answers: (_request, reply, { kind, retryAfter }) =>
      sendProblem(reply, reply.statusCode, { kind: PROBLEMS[kind] ?? 'bad_request', retryAfterSeconds: retryAfter }),
    seeOther: (reply, location) =>
      secure(reply).header('Cache-Control', 'no-store').code(303).header('Location', location).send(),
    files: [
      { path: stylePath, type: 'text/css; charset=utf-8', text: style },
      { path: copyScriptPath, type: 'text/javascript; charset=utf-8', text: copyScript },
      { path: passkeyScriptPath, type: 'text/javascript; charset=utf-8', text: passkeyScript },
    ],
    sendFile: (reply, { type, text }) =>
      secure(reply)
        .header('Cache-Control', 'public, max-age=31536000, immutable')
        .header('Content-Type', type)
        .send(text),
  };
}

/** All others are requests that no page of ours makes. */
const PROBLEMS: Partial<Record<HttpProblem['kind'], ConsoleProblem['kind']>> = {
  not_found: 'not_found',
  method_not_allowed: 'not_found',
  plain_http: 'plain_http',
  misdirected_request: 'another_host',
  too_many_requests: 'too_many_requests',
  internal: 'internal',
  unavailable: 'unavailable',
};
