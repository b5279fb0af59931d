/**
 * A browser's cookies, none of which is ever in a page or a log:
 * - `session`: the token of a signed-in session;
 * - `visitor`: a random value before sign-in, which binds the sign-in form to one browser;
 * - `known`: the marks of a known browser, which open nothing;
 * - `sign_in_…`: the secrets of sign-ins elsewhere that this browser began, so that no other can finish them;
 * - `choice`: the user's choice on the consent page, while they sign in again.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../../accounts/people/account.ts';
import { signedInFor } from '../../../accounts/people/session.ts';
import { TICKET_LIFETIME_MS } from '../../../accounts/providers/return-ticket.ts';
import { SIGN_IN_REQUEST_LIFETIME_MS } from '../../../accounts/providers/sign-in-request.ts';
import {
  checkFormToken,
  formTokenMadeAt,
  makeFormToken,
  SIGN_IN_LIFETIME_MS,
} from '../../../accounts/sign-in/form-token.ts';
import { KNOWN_BROWSER_LIFETIME } from '../../../accounts/sign-in/known-browser.ts';
import type { OwnerSession } from '../../../oauth/protocol/allow.ts';
import { isAboutAccount } from '../../../pages/layout/page-paths.ts';
import type { Service } from '../../service/service.ts';
import { isNavigation } from './navigation.ts';

/** A signed-in browser. */
export type SignedIn = {
  readonly account: Account;
  readonly sessionToken: string;
  /** Time of the sign-in for this request, in ms since the epoch. */
  readonly signedInAt: number;
  /** Time of the last authentication (ms): here, or at the identity provider, if it reports one. */
  readonly authTime: number | null;
  /** The session, as grants of this session record it. */
  readonly owner: OwnerSession;
};

/** The session to which forms of a signed-in user are bound. */
export type HasSession = Pick<SignedIn, 'account' | 'sessionToken'>;

/** Purpose of a form; a token for one purpose is refused for every other. */
export type FormPurpose = 'sign-out' | 'consent' | 'device' | 'account' | 'removed' | 'password' | 'password-changed';

/** Purpose of a form for users who are not signed in. */
export type VisitorFormPurpose = 'sign-in' | 'invitation' | 'must-change' | 'pick-up';

/**
 * Result of checking a form that needs no session. `no_cookies`: none of our cookies came, so the browser refuses
 * cookies.
 */
export type VisitorForm = 'good' | 'expired' | 'wrong' | 'no_cookies';

/** The page's message for a form that is not accepted. */
export const FORM_PROBLEMS = {
  expired: 'form_expired',
  wrong: 'opened_twice',
  no_cookies: 'no_cookies',
} as const satisfies Record<Exclude<VisitorForm, 'good'>, string>;

/** Maximum age of a demanded sign-in (ms). */
const DEMANDED_SIGN_IN_MS = 10 * 60 * 1000;

type CookieName = 'session' | 'visitor' | 'known' | 'choice' | `sign_in_${string}`;

const MONTH_SECONDS = 30 * 24 * 3600;
/** Lifetime of the secret of a sign-in elsewhere (s): until the last ticket of its request expires. */
const SIGN_IN_SECONDS = (SIGN_IN_REQUEST_LIFETIME_MS + TICKET_LIFETIME_MS) / 1000;
const TEN_MINUTES = 600;

/** Maximum number of unfinished sign-ins elsewhere of one browser. */
const MAX_SIGN_INS = 5;

/**
 * Lifetime of a form (ms); undefined for the default. Password forms live for hours, since each authenticates the
 * user anew, and so does the form of a hand-over, whose address is the proof. `must-change` does not: its token is the proof of the password.
 */
function lifetimeOf(purpose: FormPurpose | VisitorFormPurpose): number | undefined {
  return ['sign-in', 'invitation', 'pick-up', 'password'].includes(purpose) ? SIGN_IN_LIFETIME_MS : undefined;
}

/** Cookies and form tokens of one service. */
export class BrowserSessions {
  readonly #service: Service;
  readonly #isHttps: boolean;

  constructor(service: Service) {
    this.#service = service;
    this.#isHttps = service.appUrl.startsWith('https:');
  }

  /** True if a cookie of this service came more than once. */
  hasRepeatedCookie({ headers }: FastifyRequest): boolean {
    const names = (headers.cookie ?? '').split(';').map((pair) => pair.replace(/=.*$/s, '').trim());
    const own = names.filter((name) => name.startsWith(this.#prefix));
    return new Set(own).size < own.length;
  }

  /** Returns the signed-in user, if the session is good for the requested address or for another one of ours; or null. */
  async signedIn(request: FastifyRequest, forUrl = request.url): Promise<SignedIn | null> {
    const found = await this.anySession(request);
    if (!found) return null;
    const reach = this.#reachOf(forUrl);
    const signedInAt = signedInFor(found.session, (continueTo) => this.#reachOf(continueTo) === reach);
    if (signedInAt === null) return null;
    const { account, session, sessionToken } = found;
    const { digest, providerId, external } = session;
    const externalId = external?.externalId ?? null;
    const authTime = external ? external.authTime : signedInAt;
    const who = { resourceOwnerId: account.id, providerId, externalId };
    const owner = { session: digest, ...who, signedInAt, authTime, amr: external?.amr ?? [] };
    return { account, sessionToken, signedInAt, authTime, owner };
  }

  /** Returns the browser's session, valid for any request or not; or null. */
  async anySession(request: FastifyRequest) {
    const sessionToken = this.sessionToken(request);
    const found = sessionToken === null ? null : await this.#service.accounts.accountOfSession(sessionToken);
    return found && { ...found, sessionToken: sessionToken as string };
  }

  /** Returns the reach of a sign-in for an address: all account pages, or this exact address with its query. */
  #reachOf(url: string): string {
    const { paths } = this.#service;
    return isAboutAccount(paths, url) ? paths.account : url;
  }

  /** Returns the session token that the browser sent, valid or not. */
  sessionToken(request: FastifyRequest): string | null {
    return request.cookies[this.#name('session')] ?? null;
  }

  /** Returns the known browser's mark that the browser sent, valid or not; or null. */
  knownBrowser(request: FastifyRequest): string | null {
    return request.cookies[this.#name('known')] ?? null;
  }

  /**
   * Gives the browser its new session, and its marks (null after a sign-in elsewhere, which makes none). Clears the
   * visitor's value, so that earlier forms become invalid.
   */
  begin(reply: FastifyReply, sessionToken: string, knownBrowser: string | null): void {
    this.#set(reply, 'session', sessionToken, MONTH_SECONDS);
    if (knownBrowser !== null) this.#set(reply, 'known', knownBrowser, KNOWN_BROWSER_LIFETIME);
    this.#clear(reply, 'visitor');
  }

  /** Returns the secrets of the sign-ins elsewhere that the browser began, oldest first. */
  signInSecrets(request: FastifyRequest): readonly string[] {
    return this.#signInCookies(request).map((name) => request.cookies[name] ?? '');
  }

  /** Gives the browser the secret of a new sign-in elsewhere. Beyond five, the oldest is cleared. */
  beginSignIn(request: FastifyRequest, reply: FastifyReply, secret: string): void {
    const at = this.#service.now().toString(36).padStart(9, '0');
    const id = `sign_in_${at}${randomBytes(4).toString('hex')}` as const;
    const before = this.#signInCookies(request);
    const goes = before.slice(0, Math.max(0, before.length - MAX_SIGN_INS + 1));
    for (const name of goes) this.#clear(reply, name.slice(this.#prefix.length) as CookieName);
    this.#set(reply, id, secret, SIGN_IN_SECONDS);
  }

  /** Returns their names, oldest first: each begins with a time. Other names are not ours, and we could not clear them. */
  #signInCookies({ cookies }: FastifyRequest): string[] {
    const start = `${this.#prefix}sign_in_`;
    return Object.keys(cookies)
      .filter((name) => name.startsWith(start) && /^[0-9a-z]{17}$/.test(name.slice(start.length)))
      .sort();
  }

  /**
   * Ends the browser's session, and leaves a visitor's value: without one, it would look like a browser that refuses
   * cookies.
   */
  end(reply: FastifyReply): void {
    this.#clear(reply, 'session');
    this.#set(reply, 'visitor', newVisitor());
  }

  /** Returns the reason why a form of a signed-in user came without a session. */
  whyNotSignedIn(request: FastifyRequest): 'signed_out' | 'no_cookies' {
    return this.#hasCookie(request) ? 'signed_out' : 'no_cookies';
  }

  /** Returns the token for a form of a signed-in user, about one subject. */
  formToken(signedIn: HasSession, purpose: FormPurpose, subject: string): string {
    return makeFormToken(this.#service.keyring, bindingOf(signedIn, purpose, subject), this.#service.now());
  }

  /** Checks the token of a form of a signed-in user. */
  checkForm(
    signedIn: HasSession,
    purpose: FormPurpose,
    subject: string,
    token: string | undefined,
  ): 'good' | 'expired' | 'wrong' {
    const { keyring, now } = this.#service;
    return checkFormToken(keyring, bindingOf(signedIn, purpose, subject), token, now(), lifetimeOf(purpose));
  }

  /** Returns the mark that demands a sign-in for one request from now on. The sign-in form brings it back. */
  signInDemand(subject: string): string {
    return makeFormToken(this.#service.keyring, demandBinding(subject), this.#service.now());
  }

  /** True if the user signed in after the mark was made, and recently. */
  meetsDemand({ signedInAt }: SignedIn, subject: string, mark: string | undefined): boolean {
    const { keyring, now } = this.#service;
    return (
      checkFormToken(keyring, demandBinding(subject), mark, now(), SIGN_IN_LIFETIME_MS) === 'good' &&
      signedInAt >= formTokenMadeAt(mark as string) &&
      now() - signedInAt <= DEMANDED_SIGN_IN_MS
    );
  }

  /** Keeps the user's choice in the browser, while they sign in again. */
  keepChoice(reply: FastifyReply, choice: string): void {
    this.#set(reply, 'choice', choice, TEN_MINUTES);
  }

  /** Returns the choice that the browser sent, marked by us or not; empty if none. */
  choice(request: FastifyRequest): string {
    return request.cookies[this.#name('choice')] ?? '';
  }

  /** Returns the mark of a choice that is kept during a sign-in. */
  choiceMark(subject: string): string {
    return makeFormToken(this.#service.keyring, choiceBinding(subject), this.#service.now());
  }

  /** True if the mark is ours, for this choice, and has not expired. */
  isChoiceMark(subject: string, mark: string | undefined): boolean {
    const { keyring, now } = this.#service;
    return checkFormToken(keyring, choiceBinding(subject), mark, now()) === 'good';
  }

  /**
   * Returns the token for a form without a session, about one subject; gives the browser a visitor value if it has
   * none.
   */
  visitorFormToken(request: FastifyRequest, reply: FastifyReply, purpose: VisitorFormPurpose, subject = ''): string {
    const known = request.cookies[this.#name('visitor')];
    const visitor = known ?? newVisitor();
    if (known === undefined) this.#set(reply, 'visitor', visitor);
    return makeFormToken(this.#service.keyring, { session: visitor, purpose, subject }, this.#service.now());
  }

  /** Returns the value that only this browser has before it signs in, or null. */
  visitor(request: FastifyRequest): string | null {
    return request.cookies[this.#name('visitor')] ?? null;
  }

  /** Checks the token of a form without a session. */
  checkVisitorForm(
    request: FastifyRequest,
    purpose: VisitorFormPurpose,
    subject: string,
    token: string | undefined,
  ): VisitorForm {
    const visitor = this.visitor(request);
    if (visitor === null) return this.#hasCookie(request) ? 'wrong' : 'no_cookies';
    const { keyring, now } = this.#service;
    return checkFormToken(keyring, { session: visitor, purpose, subject }, token, now(), lifetimeOf(purpose));
  }

  /**
   * True for a browser that was here before, even after signing out. A browser without our cookies refuses them, or
   * is new.
   */
  #hasCookie({ cookies }: FastifyRequest): boolean {
    return Object.keys(cookies).some((name) => name.startsWith(this.#prefix));
  }

  /**
   * True if a post comes from our own page in its own window, according to Fetch Metadata, else `Origin`, else
   * `Referer`. A request with none of these comes from no browser that another site could use; it still needs the
   * form token.
   */
  isFromOwnPage(request: FastifyRequest): boolean {
    if (!isNavigation(request)) return false;
    const site = request.headers['sec-fetch-site'];
    if (site !== undefined) return site === 'same-origin';
    const { origin, referer } = request.headers;
    if (origin !== undefined) return origin === this.#service.appUrl;
    return referer === undefined || URL.parse(referer)?.origin === this.#service.appUrl;
  }

  /** `__Host-` ties a cookie to this host and to https; on loopback without TLS browsers would refuse it. */
  get #prefix(): string {
    return this.#isHttps ? '__Host-valetkey_' : 'valetkey_';
  }

  #name(what: CookieName): string {
    return this.#prefix + what;
  }

  /** HEAD is safe and may come from programs (RFC 9110 §9.2.1), so it sets no cookie. */
  #set(reply: FastifyReply, what: CookieName, value: string, maxAge?: number): void {
    if (reply.request.method === 'HEAD') return;
    const options = { path: '/', httpOnly: true, secure: this.#isHttps, sameSite: 'lax' } as const;
    reply.setCookie(this.#name(what), value, maxAge === undefined ? options : { ...options, maxAge });
  }

  #clear(reply: FastifyReply, what: CookieName): void {
    this.#set(reply, what, '', 0);
  }
}

/** Returns a new visitor's value. */
function newVisitor(): string {
  return randomBytes(32).toString('base64url');
}

/** Bound to no session, since signing in begins a new one. */
function demandBinding(subject: string) {
  return { session: '', purpose: 'sign-in-demand', subject };
}

/** Bound to no session: the next user to sign in gets it, and still has to press Allow. */
function choiceBinding(subject: string) {
  return { session: '', purpose: 'choice', subject };
}

function bindingOf({ account, sessionToken }: HasSession, purpose: FormPurpose, subject: string) {
  return { session: sessionToken, purpose, subject: JSON.stringify([account.id, subject]) };
}
