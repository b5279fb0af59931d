/**
 * A browser's cookies, none of which is ever in a page or a log:
 * - `session`: the session's token, while somebody is signed in;
 * - `visitor`: a random value before that, so that the sign-in form too is bound to one browser;
 * - `known`: the marks of a known browser, which open nothing;
 * - `sign_in_…`: the secrets of sign-ins that it began elsewhere, so that it alone can finish them;
 * - `choice`: what somebody chose before they had to sign in again.
 */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Account } from '../../accounts/people/account.ts';
import { signedInFor } from '../../accounts/people/session.ts';
import { SIGN_IN_REQUEST_LIFETIME_MS } from '../../accounts/providers/sign-in-request.ts';
import { TICKET_LIFETIME_MS } from '../../accounts/providers/ticket.ts';
import {
  checkFormToken,
  formTokenMadeAt,
  makeFormToken,
  SIGN_IN_LIFETIME_MS,
} from '../../accounts/sign-in/form-token.ts';
import { KNOWN_BROWSER_LIFETIME } from '../../accounts/sign-in/known-browser.ts';
import type { OwnerSession } from '../../oauth/protocol/allow.ts';
import { isAboutAccount } from '../../pages/page-paths.ts';
import type { Service } from '../service.ts';
import { isNavigation } from './navigation.ts';

/** A signed-in browser. */
export type SignedIn = {
  readonly account: Account;
  readonly sessionToken: string;
  /** When they signed in for this request, in ms since the epoch. */
  readonly signedInAt: number;
  /** When they last proved who they are (ms): here, or as the identity provider says, if it does. */
  readonly authTime: number | null;
  /** The session, as what they allow in it remembers it. */
  readonly owner: OwnerSession;
};

/** Who is signed in: a form is bound to that session. */
export type HasSession = Pick<SignedIn, 'account' | 'sessionToken'>;

/** What a form is for; a token for one purpose is wrong for every other. */
export type FormPurpose = 'sign-out' | 'consent' | 'device' | 'apps' | 'removed' | 'password' | 'password-changed';

/** What a form is for that is shown to who is not signed in. */
export type VisitorFormPurpose = 'sign-in' | 'invitation' | 'must-change';

/** What the check of a form found that needs nobody signed in. `no_cookies`: none of our cookies came, so the browser keeps none. */
export type VisitorForm = 'good' | 'expired' | 'wrong' | 'no_cookies';

/** What a page says of a form that is not accepted. */
export const FORM_PROBLEMS = {
  expired: 'form_expired',
  wrong: 'opened_twice',
  no_cookies: 'no_cookies',
} as const satisfies Record<Exclude<VisitorForm, 'good'>, string>;

/** Maximum age of a sign-in that was demanded (ms). */
const DEMANDED_SIGN_IN_MS = 10 * 60 * 1000;

type CookieName = 'session' | 'visitor' | 'known' | 'choice' | `sign_in_${string}`;

const MONTH_SECONDS = 30 * 24 * 3600;
/** Lifetime of the secret of a sign-in elsewhere (s): as long as its request may bring a ticket, and that lives. */
const SIGN_IN_SECONDS = (SIGN_IN_REQUEST_LIFETIME_MS + TICKET_LIFETIME_MS) / 1000;
const TEN_MINUTES = 600;

/** Maximum number of sign-ins elsewhere that a browser has begun. */
const MAX_SIGN_INS = 5;

/**
 * Lifetime of a form (ms); undefined for the usual one. Forms where a password is typed live for hours, since each asks for
 * a proof of the person anew. `must-change` does not ask: its token is that proof.
 */
function lifetimeOf(purpose: FormPurpose | VisitorFormPurpose): number | undefined {
  return ['sign-in', 'invitation', 'password'].includes(purpose) ? SIGN_IN_LIFETIME_MS : undefined;
}

/** Cookies and form tokens of one service. */
export class BrowserSessions {
  readonly #service: Service;
  readonly #isHttps: boolean;

  constructor(service: Service) {
    this.#service = service;
    this.#isHttps = service.appUrl.startsWith('https:');
  }

  /** Whether a cookie of this service came more than once. */
  hasRepeatedCookie({ headers }: FastifyRequest): boolean {
    const names = (headers.cookie ?? '').split(';').map((pair) => pair.replace(/=.*$/s, '').trim());
    const own = names.filter((name) => name.startsWith(this.#prefix));
    return new Set(own).size < own.length;
  }

  /** Who is signed in for the address that is asked for, or for another one of ours; or null. */
  async signedIn(request: FastifyRequest, forUrl = request.url): Promise<SignedIn | null> {
    const found = await this.anySession(request);
    if (!found) return null;
    const reach = this.#reachOf(forUrl);
    const signedInAt = signedInFor(found.session, (continueTo) => this.#reachOf(continueTo) === reach);
    if (signedInAt === null) return null;
    const { account, session, sessionToken } = found;
    const { digest, providerId, external } = session;
    const externalId = external?.externalId ?? null;
    const owner = { session: digest, resourceOwnerId: account.id, providerId, externalId, signedInAt };
    return { account, sessionToken, signedInAt, authTime: external ? external.authTime : signedInAt, owner };
  }

  /** Whose session the browser has, whatever it is good for; or null. */
  async anySession(request: FastifyRequest) {
    const sessionToken = this.sessionToken(request);
    const found = sessionToken === null ? null : await this.#service.accounts.accountOfSession(sessionToken);
    return found && { ...found, sessionToken: sessionToken as string };
  }

  /** What a sign-in for an address is good for: all pages about the account, or this very address with its query. */
  #reachOf(url: string): string {
    const { paths } = this.#service;
    return isAboutAccount(paths, url) ? paths.account : url;
  }

  /** The session token that the browser sent, whether it is good or not. */
  sessionToken(request: FastifyRequest): string | null {
    return request.cookies[this.#name('session')] ?? null;
  }

  /** The mark of a known browser that it sent, whether it is good or not; or null. */
  knownBrowser(request: FastifyRequest): string | null {
    return request.cookies[this.#name('known')] ?? null;
  }

  /**
   * Gives the browser its new session, and its marks (null after a sign-in elsewhere, which makes none). Takes the visitor's
   * value, so that no form from before is good any more.
   */
  begin(reply: FastifyReply, sessionToken: string, knownBrowser: string | null): void {
    this.#set(reply, 'session', sessionToken, MONTH_SECONDS);
    if (knownBrowser !== null) this.#set(reply, 'known', knownBrowser, KNOWN_BROWSER_LIFETIME);
    this.#clear(reply, 'visitor');
  }

  /** The secrets of the sign-ins elsewhere that the browser began, oldest first. */
  signInSecrets(request: FastifyRequest): readonly string[] {
    return this.#signInCookies(request).map((name) => request.cookies[name] ?? '');
  }

  /** Gives the browser the secret of a sign-in that it begins elsewhere. It keeps five; the oldest goes. */
  beginSignIn(request: FastifyRequest, reply: FastifyReply, secret: string): void {
    const at = this.#service.now().toString(36).padStart(9, '0');
    const id = `sign_in_${at}${randomBytes(4).toString('hex')}` as const;
    const before = this.#signInCookies(request);
    const goes = before.slice(0, Math.max(0, before.length - MAX_SIGN_INS + 1));
    for (const name of goes) this.#clear(reply, name.slice(this.#prefix.length) as CookieName);
    this.#set(reply, id, secret, SIGN_IN_SECONDS);
  }

  /** Their names, oldest first, since each begins with a time. Other names are left out: we did not set them, and could not clear them. */
  #signInCookies({ cookies }: FastifyRequest): string[] {
    const start = `${this.#prefix}sign_in_`;
    return Object.keys(cookies)
      .filter((name) => name.startsWith(start) && /^[0-9a-z]{17}$/.test(name.slice(start.length)))
      .sort();
  }

  /** Takes the session from the browser, and leaves a visitor's value: without it, it would look like one that keeps no cookies. */
  end(reply: FastifyReply): void {
    this.#clear(reply, 'session');
    this.#set(reply, 'visitor', newVisitor());
  }

  /** Why a form of a signed-in person came from nobody. */
  whyNotSignedIn(request: FastifyRequest): 'signed_out' | 'no_cookies' {
    return this.#hasCookie(request) ? 'signed_out' : 'no_cookies';
  }

  /** The token for a form of a signed-in person, about one subject. */
  formToken(signedIn: HasSession, purpose: FormPurpose, subject: string): string {
    return makeFormToken(this.#service.keyring, bindingOf(signedIn, purpose, subject), this.#service.now());
  }

  /** Checks the token that a form of a signed-in person posted. */
  checkForm(
    signedIn: HasSession,
    purpose: FormPurpose,
    subject: string,
    token: string | undefined,
  ): 'good' | 'expired' | 'wrong' {
    const { keyring, now } = this.#service;
    return checkFormToken(keyring, bindingOf(signedIn, purpose, subject), token, now(), lifetimeOf(purpose));
  }

  /** The mark of a demanded sign-in, for one request and from now on. It goes to the sign-in form and comes back. */
  signInDemand(subject: string): string {
    return makeFormToken(this.#service.keyring, demandBinding(subject), this.#service.now());
  }

  /** Whether the person signed in after the mark was made, and not long ago. */
  meetsDemand({ signedInAt }: SignedIn, subject: string, mark: string | undefined): boolean {
    const { keyring, now } = this.#service;
    return (
      checkFormToken(keyring, demandBinding(subject), mark, now(), SIGN_IN_LIFETIME_MS) === 'good' &&
      signedInAt >= formTokenMadeAt(mark as string) &&
      now() - signedInAt <= DEMANDED_SIGN_IN_MS
    );
  }

  /** Has the browser keep what somebody chose, while they sign in again. */
  keepChoice(reply: FastifyReply, choice: string): void {
    this.#set(reply, 'choice', choice, TEN_MINUTES);
  }

  /** The choice that the browser sent, whether we marked it or not; empty without one. */
  choice(request: FastifyRequest): string {
    return request.cookies[this.#name('choice')] ?? '';
  }

  /** The mark of what somebody chose before they have to sign in again. */
  choiceMark(subject: string): string {
    return makeFormToken(this.#service.keyring, choiceBinding(subject), this.#service.now());
  }

  /** Whether a mark was made for this choice, and has not expired. */
  isChoiceMark(subject: string, mark: string | undefined): boolean {
    const { keyring, now } = this.#service;
    return checkFormToken(keyring, choiceBinding(subject), mark, now()) === 'good';
  }

  /** The token for a form that needs nobody signed in, about one subject; gives the browser a visitor value if it has none. */
  visitorFormToken(request: FastifyRequest, reply: FastifyReply, purpose: VisitorFormPurpose, subject = ''): string {
    const known = request.cookies[this.#name('visitor')];
    const visitor = known ?? newVisitor();
    if (known === undefined) this.#set(reply, 'visitor', visitor);
    return makeFormToken(this.#service.keyring, { session: visitor, purpose, subject }, this.#service.now());
  }

  /** Checks the token that such a form posted. */
  checkVisitorForm(
    request: FastifyRequest,
    purpose: VisitorFormPurpose,
    subject: string,
    token: string | undefined,
  ): VisitorForm {
    const visitor = request.cookies[this.#name('visitor')];
    if (visitor === undefined) return this.#hasCookie(request) ? 'wrong' : 'no_cookies';
    const { keyring, now } = this.#service;
    return checkFormToken(keyring, { session: visitor, purpose, subject }, token, now(), lifetimeOf(purpose));
  }

  /** A browser that has been here has a cookie of ours, also once it signed out. One without any keeps none, or is here for the first time. */
  #hasCookie({ cookies }: FastifyRequest): boolean {
    return Object.keys(cookies).some((name) => name.startsWith(this.#prefix));
  }

  /**
   * Whether a post comes from our own page in a window of its own, as the browser says: by Fetch Metadata, else by
   * `Origin`, else by `Referer`. A request with none of them is from no browser that another site could use; it still needs
   * the form token.
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

  /** HEAD is safe, and whoever asks by it may be no browser (RFC 9110 §9.2.1). */
  #set(reply: FastifyReply, what: CookieName, value: string, maxAge?: number): void {
    if (reply.request.method === 'HEAD') return;
    const options = { path: '/', httpOnly: true, secure: this.#isHttps, sameSite: 'lax' } as const;
    reply.setCookie(this.#name(what), value, maxAge === undefined ? options : { ...options, maxAge });
  }

  #clear(reply: FastifyReply, what: CookieName): void {
    this.#set(reply, what, '', 0);
  }
}

/** A visitor's value. */
function newVisitor(): string {
  return randomBytes(32).toString('base64url');
}

/** Bound to no session, since signing in begins a new one. */
function demandBinding(subject: string) {
  return { session: '', purpose: 'sign-in-demand', subject };
}

/** Bound to no session either: it is kept for whoever signs in next, who still has to press. */
function choiceBinding(subject: string) {
  return { session: '', purpose: 'choice', subject };
}

function bindingOf({ account, sessionToken }: HasSession, purpose: FormPurpose, subject: string) {
  return { session: sessionToken, purpose, subject: JSON.stringify([account.id, subject]) };
}
