/**
 * The cookies of operators' browsers: the token of a session, and a secret that binds passkeys' challenges to one browser.
 * Both are `SameSite=Strict`. The API never reads them.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { OPERATOR_SESSION_LIFETIMES } from '../../../operator/access/operator-session.ts';
import type { AskingBrowser } from '../../../operator/access/operator-sign-in.ts';
import { isNavigation } from '../../browser/session/navigation.ts';
import { originOf } from '../../request/origin.ts';
import type { Service } from '../../service/service.ts';
import { browserWords } from './browser-name.ts';

type CookieName = 'operator_session' | 'operator_browser';

/** The cookies of one service, and the checks of a post. */
export class ConsoleSessions {
  readonly #origin: string;
  readonly #isHttps: boolean;

  constructor({ operatorUrl }: Service) {
    this.#origin = operatorUrl ?? '';
    this.#isHttps = this.#origin.startsWith('https:');
  }

  /** Returns the session token that the browser sent, valid or not; or null. */
  token(request: FastifyRequest): string | null {
    return request.cookies[this.#name('operator_session')] ?? null;
  }

  /** Gives the browser its new session. */
  begin(reply: FastifyReply, token: string): void {
    this.#set(reply, 'operator_session', token, OPERATOR_SESSION_LIFETIMES.passkey / 1000);
  }

  /** Takes the session from the browser. */
  end(reply: FastifyReply): void {
    this.#set(reply, 'operator_session', '', 0);
  }

  /** Returns the asking browser; gives it a secret if it has none. */
  browser(request: FastifyRequest, reply: FastifyReply): AskingBrowser {
    const known = request.cookies[this.#name('operator_browser')];
    const secret = known ?? randomBytes(32).toString('base64url');
    if (known === undefined) this.#set(reply, 'operator_browser', secret);
    const browser = browserWords(request.headers['user-agent']);
    return { ...originOf(request), secret, browser, earlier: this.token(request) };
  }

  /** True if a cookie of ours came more than once. */
  hasRepeatedCookie({ headers }: FastifyRequest): boolean {
    const names = (headers.cookie ?? '').split(';').map((pair) => pair.replace(/=.*$/s, '').trim());
    const comesTwice = (own: CookieName) => names.filter((name) => name === this.#name(own)).length > 1;
    return comesTwice('operator_session') || comesTwice('operator_browser');
  }

  /**
   * True if a post comes from our own page in its own window. Every browser with passkeys sends `Sec-Fetch-Site`, or at
   * least `Origin`; a request with neither is refused (decision 0008).
   */
  isFromOwnPage(request: FastifyRequest): boolean {
    const { origin, 'sec-fetch-site': site } = request.headers;
    if (!isNavigation(request) || (site !== undefined && site !== 'same-origin')) return false;
    return origin === this.#origin || (origin === undefined && site === 'same-origin');
  }

  /** True if another site led here: then the browser kept its `Strict` cookies to itself (RFC 6265bis §5.2). */
  isFromElsewhere(request: FastifyRequest): boolean {
    return ['cross-site', 'same-site'].includes(String(request.headers['sec-fetch-site']));
  }

  /** `__Host-` ties a cookie to this host and to https; without TLS browsers would refuse it. */
  #name(what: CookieName): string {
    return (this.#isHttps ? '__Host-' : '') + what;
  }

  #set(reply: FastifyReply, what: CookieName, value: string, maxAge?: number): void {
    if (reply.request.method === 'HEAD') return;
    const options = { path: '/', httpOnly: true, secure: this.#isHttps, sameSite: 'strict' } as const;
    reply.setCookie(this.#name(what), value, maxAge === undefined ? options : { ...options, maxAge });
  }
}
