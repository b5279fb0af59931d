/** Sends pages with their headers, in the browser's language, and problems as pages. */
import { hash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { callName, verifiedEmail } from '../../accounts/people/account.ts';
import type { Client } from '../../oauth/clients/client.ts';
import { documentHost } from '../../oauth/clients/client-document.ts';
import type { AppProfile } from '../../pages/consent/app-profile.ts';
import { type ErrorDetails, type ErrorKind, errorPage } from '../../pages/error-page.ts';
import type { Html } from '../../pages/html/html.ts';
import { copyScript } from '../../pages/layout/copy-script.ts';
import type { PageContext } from '../../pages/layout/layout.ts';
import type { PageAccount } from '../../pages/layout/signed-in-account.ts';
import { stylesheet } from '../../pages/layout/stylesheet.ts';
import { chooseLanguage, messagesFor } from '../../pages/messages/messages.ts';
import type { HttpProblem } from '../answer/problem.ts';
import type { Service } from '../service/service.ts';
import type { SignedIn } from './session/browser-session.ts';
import { isNavigation } from './session/navigation.ts';

/**
 * The target of a page's forms. Browsers apply `form-action` to the whole chain of redirects, which would break
 * Allow. A form for signed-in users is `may-sign-in`: if the session ends before it is sent, it may lead to an
 * identity provider.
 */
export type FormTarget = 'this-site' | 'may-sign-in' | 'leaves';

/** Sends the pages of one service: the one place that knows their headers. */
export type Pages = {
  /** Returns the data that every page of this request needs. */
  readonly context: (request: FastifyRequest) => PageContext;
  /** Sends a page to a window, and refuses other requests: form tokens and names are only for the user who looks at it. */
  readonly send: (reply: FastifyReply, page: Html, target?: FormTarget) => FastifyReply;
  readonly sendError: (
    request: FastifyRequest,
    reply: FastifyReply,
    status: number,
    kind: ErrorKind,
    more?: ErrorDetails,
  ) => FastifyReply;
  readonly answers: (request: FastifyRequest, reply: FastifyReply, problem: HttpProblem) => FastifyReply;
  /** Redirects by 303, so that the browser never posts a form twice (RFC 9700 §4.12). */
  readonly seeOther: (reply: FastifyReply, location: string, target?: FormTarget) => FastifyReply;
  readonly stylesheet: { readonly path: string; readonly text: string };
  readonly copyScript: { readonly path: string; readonly text: string };
  /** Sets the headers of all other answers to browsers at the app's address. */
  readonly secure: (reply: FastifyReply, target?: FormTarget) => FastifyReply;
};

/** Prepares the pages of a service. */
export function makePages(service: Service): Pages {
  const { brand, paths } = service;
  const text = stylesheet(brand.color);
  const path = paths.stylesheet(shortDigest(text));
  const scriptPath = paths.copyScript(shortDigest(copyScript));
  const isHttps = service.appUrl.startsWith('https:');
  const signInLeaves = service.externalSignIns.isUsed;
  const secure = (reply: FastifyReply, target: FormTarget = 'this-site', mayRunScript = false) => {
    const formsStay = target === 'this-site' || (target === 'may-sign-in' && !signInLeaves);
    return setSecurityHeaders(reply, { formsStay, mayRunScript, isHttps });
  };
  const context = (request: FastifyRequest): PageContext => {
    const language = chooseLanguage(request.headers['accept-language']);
    return {
      messages: messagesFor(language),
      language,
      brand,
      paths,
      stylesheetHref: path,
      copyScriptHref: scriptPath,
    };
  };
  const sendHtml = (reply: FastifyReply, page: Html, target?: FormTarget) =>
    secure(reply, target, hasScript(page))
      .header('Cache-Control', 'no-store')
      .header('Vary', 'Accept-Language')
      .header('Content-Type', 'text/html; charset=utf-8')
      .send(String(page));
  const sendError: Pages['sendError'] = (request, reply, status, kind, more = {}) => {
    request.outcome ??= { error: kind, ...(kind in DETAILS ? { detail: DETAILS[kind] } : {}) };
    return sendHtml(reply.code(status), errorPage(context(request), { kind, requestId: request.id, ...more }));
  };
  const send: Pages['send'] = (reply, page, target) =>
    isNavigation(reply.request) ? sendHtml(reply, page, target) : sendError(reply.request, reply, 403, 'not_a_window');
  const answers: Pages['answers'] = (request, reply, problem) =>
    sendError(request, reply, reply.statusCode, ERROR_KINDS[problem.kind], {
      retryAfterSeconds: problem.retryAfter,
      meant: problem.meant,
    });
  const seeOther: Pages['seeOther'] = (reply, location, target) =>
    secure(reply, target).header('Cache-Control', 'no-store').code(303).header('Location', location).send();
  const files = { stylesheet: { path, text }, copyScript: { path: scriptPath, text: copyScript } };
  return { context, send, sendError, answers, seeOther, ...files, secure };
}

/** Returns true for a page that has a script. Only our own markup can hold its tag: foreign text is escaped (`pages/html/html.ts`). */
export function hasScript(page: Html): boolean {
  return String(page).includes('<script');
}

/** Returns a part of a file's address, so that browsers may cache the file forever. */
export function shortDigest(text: string): string {
  return hash('sha256', text, 'hex').slice(0, 12);
}

/** Log details: the operator may use another name of the same machine, or a service worker. */
const DETAILS: Partial<Record<ErrorKind, string>> = {
  form_refused:
    'the form was sent from another address than VALETKEY_APP_URL, or by a script, a frame or a service worker',
  not_a_window: 'a script, a frame or a service worker asked for the page',
};

const ERROR_KINDS: Readonly<Record<HttpProblem['kind'], ErrorKind>> = {
  bad_request: 'bad_request',
  plain_http: 'plain_http',
  not_found: 'not_found',
  method_not_allowed: 'method_not_allowed',
  timeout: 'bad_request',
  too_large: 'too_large',
  unsupported_media_type: 'bad_request',
  misdirected_request: 'bad_request',
  too_many_requests: 'too_many_requests',
  headers_too_large: 'bad_request',
  internal: 'internal',
  unavailable: 'unavailable',
};

/** Sets the headers of every answer to browsers: RFC 9700 §4.16 (framing), ASVS 3.4. */
export function setSecurityHeaders(
  reply: FastifyReply,
  { formsStay, mayRunScript, isHttps }: { formsStay: boolean; mayRunScript: boolean; isHttps: boolean },
): FastifyReply {
  const policy = "default-src 'none'; style-src 'self'; img-src 'self' data:; base-uri 'none'; frame-ancestors 'none'";
  reply
    .header(
      'Content-Security-Policy',
      [policy, ...(formsStay ? ["form-action 'self'"] : []), ...(mayRunScript ? ["script-src 'self'"] : [])].join('; '),
    )
    .header('X-Frame-Options', 'DENY')
    .header('X-Content-Type-Options', 'nosniff')
    .header('Cross-Origin-Opener-Policy', 'same-origin')
    // Together they isolate a page from every window of this host that does not have both as well (decision 0053).
    .header('Cross-Origin-Embedder-Policy', 'require-corp')
    .header('Permissions-Policy', 'camera=(), microphone=(), geolocation=(), payment=()');
  // With no-referrer, a browser would post our own forms with `Origin: null`. A page may have set a stricter policy.
  if (!reply.hasHeader('Referrer-Policy')) reply.header('Referrer-Policy', 'same-origin');
  return isHttps ? reply.header('Strict-Transport-Security', 'max-age=31536000') : reply;
}

/** Returns the publisher's data that pages show of an app; null stands for a deleted client. */
export function pageProfile(client: Client | null): AppProfile {
  return client ? { ...client, documentHost: documentHost(client) } : UNKNOWN;
}

const UNKNOWN: AppProfile = {
  publisher: null,
  homepage: null,
  privacyPage: null,
  contact: null,
  isChecked: false,
  documentHost: null,
};

/**
 * Returns the account that pages show as signed in. A user without a name is shown by the place of the sign-in: a
 * provider, or here. Only a provider has a home page.
 */
export async function pageAccount(
  { brand, providers }: Service,
  { account, owner: { providerId } }: Pick<SignedIn, 'account' | 'owner'>,
): Promise<PageAccount> {
  const provider = providerId === null ? null : await providers.find(providerId);
  return {
    name: callName(account),
    email: verifiedEmail(account),
    at: provider?.name ?? brand.productName,
    homePage: provider?.homePage ?? null,
  };
}

/**
 * Keeps an address that gives access, or makes a secret, to its page: no other request may carry it, not even to this host, whose
 * proxy may log it. With `no-referrer`, browsers would post our form with `Origin: null`, like a foreign form.
 */
export function keepAddress(reply: FastifyReply): void {
  reply.header('Referrer-Policy', 'strict-origin');
}
