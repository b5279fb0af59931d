/** The sign-in endpoint of a product, for any framework. */
import type { IncomingMessage } from 'node:http';
import { membersOf, type Profile } from './api.ts';
import { type KeptRequest, KeptRequests } from './kept-request.ts';
import { type Answer, button, type Header, page, redirect, type Texts } from './pages.ts';
import { type Registration, safeUrl, Valetkey, ValetkeyError } from './valetkey.ts';

/** The user who is signed in at the product. */
export type CurrentUser = Profile & {
  /** The product's permanent ID of the user: never an email address, never used again. */
  readonly subject: string;
  /** When the user proved who they are; a number is in ms. Null if you do not keep it: some apps then ask to sign out first. */
  readonly signedInAt: Date | number | null;
  /** Methods of the sign-in (RFC 8176). */
  readonly amr?: readonly string[] | undefined;
};

/** Details for the sign-in page; `mustSignIn` also concerns users who are signed in. All others are the app's: escape them. */
export type LoginWish = Pick<KeptRequest, 'appName' | 'hint' | 'locales'> & { readonly mustSignIn: boolean };

/** A problem, for the product's log: without secrets and the request. `status` is that of Valetkey's answer; 0: none. */
export type Problem = { readonly code: string; readonly message: string; readonly status?: number };

/** Options of `signIn`; `R` is the framework's request. */
export type SignInOptions<R> = Registration & {
  /** The endpoint's own public address, as registered with `--sign-in-url`. */
  readonly address: string | undefined;
  /** Returns the signed-in user of a request, or null. */
  readonly currentUser: (request: R) => CurrentUser | null | undefined | Promise<CurrentUser | null | undefined>;
  /** Returns the address where users sign in. `next` is a path of this server that the browser opens afterwards. */
  readonly loginUrl: (next: string, wish: LoginWish) => string;
  /** Hears of problems. Default: `console.error`. */
  readonly onProblem?: ((problem: Problem) => void) | undefined;
};

/** A request of `node:http` or the Fetch API: the parts that the endpoint reads. */
export type Visit = Pick<IncomingMessage, 'method' | 'url' | 'headers'> | Pick<Request, 'method' | 'url' | 'headers'>;

/** A waiting request: its app's name (escape it), and the address that a form with `enctype="text/plain"` refuses at. */
export type Pending = { readonly appName: string; readonly refuseUrl: string };

/** The endpoint. */
export class SignInEndpoint<R> {
  readonly #valetkey: Valetkey;
  readonly #options: SignInOptions<R>;
  readonly #kept: KeptRequests;
  readonly #address: URL;

  constructor(options: SignInOptions<R>) {
    const url = safeUrl(options.address);
    if (!url || url.pathname.startsWith('//'))
      throw new TypeError('address must be the endpoint’s public address without a query: https, or http on localhost');
    if (typeof options.currentUser !== 'function' || typeof options.loginUrl !== 'function')
      throw new TypeError('currentUser and loginUrl must be functions');
    this.#valetkey = new Valetkey(options);
    this.#options = options;
    this.#address = url;
    this.#kept = new KeptRequests(this.#valetkey.cookieKey, url.protocol === 'https:');
  }

  /** Answers a visit. Rejects only if `currentUser` or `loginUrl` fails. */
  async answer(visit: Visit, request: R): Promise<Answer> {
    const query = new URLSearchParams(/\?.*/.exec(visit.url ?? '')?.[0]);
    const cookie = headerOf(visit, 'cookie');
    const isPost = visit.method === 'POST';
    if (isPost && !this.#isFromOwnPage(visit)) return this.#fail(403, NOT_HERE, { code: 'foreign_form' });
    if (!isPost && query.has('sign_in_request')) {
      const received = this.#kept.receive(query);
      if (!received) return this.#fail(400, TOO_LONG, { code: 'request_too_long' });
      return redirect(this.#path(received), this.#kept.keep(received, cookie));
    }
    const kept = this.#kept.all(cookie).find(({ digest }) => digest === query.get('request'));
    if (!kept) return this.#fail(400, LOST, { code: 'no_request' });
    const says = query.get('says') ?? '';
    const said = this.#kept.isMac(query.get('mac') ?? '', 'says', kept.digest, says) ? says : '';
    const [answer, step] = isPost ? [said, ''] : ['', said];
    if (answer === 'no') return this.#state(kept, { error: 'access_denied' });
    const user = await this.#options.currentUser(request);
    if (!user) return this.#withoutUser(kept, step, headerOf(visit, 'sec-fetch-site') === 'cross-site');
    if (answer === 'other') return this.#login(kept, true, 'sent');
    return this.#withUser(kept, user, step, answer);
  }

  /** Returns the request that waits for a sign-in in this browser: the one in the page's address, or the newest. */
  pending(visit: Visit): Pending | null {
    const named = /request(?:=|%3D)([\w-]{16})/i.exec(visit.url ?? '')?.[1];
    const kept = this.#kept.all(headerOf(visit, 'cookie')).find(({ digest }) => digest === (named ?? digest));
    return kept ? { appName: kept.appName, refuseUrl: this.#path(kept, 'no') } : null;
  }

  #withoutUser(kept: KeptRequest, step: string, isFromElsewhere: boolean): Answer {
    if (step === 'sent' || step.startsWith('absent'))
      return this.#fail(400, NOT_SIGNED_IN, { code: 'no_user_after_login' }, button(this.#path(kept), 'Sign in'));
    // A browser that comes from another site keeps SameSite=Strict cookies back: a page of ours brings them.
    if (isFromElsewhere && step !== 'again')
      return page(200, ['One moment', ''], '', [['Refresh', `0;url=${this.#path(kept, 'again')}`]]);
    // Nobody is signed in now, so the next sign-in is later than this, unless the browser kept cookies back.
    return this.#login(kept, kept.oldest !== null, isFromElsewhere ? 'sent' : `absent ${Date.now()}`);
  }

  #withUser(kept: KeptRequest, user: CurrentUser, step: string, answer: string): Answer | Promise<Answer> {
    const time = timeOf(user, step);
    const isNew = time !== null && isSince(time, kept.since);
    const isFresh = kept.oldest === null || (time !== null && isSince(time, kept.oldest));
    if (!isFresh || (step === 'sent' && time !== null && !isNew)) {
      if (step !== 'sent' && time !== null) return this.#login(kept, true, 'sent');
      const words = `${kept.appName} wants to be sure that it is you, but you are still signed in as ${nameOf(user)}. Sign out here, then go on and sign in again.`;
      return page(200, ['Sign out first', words], button(this.#path(kept), 'Go on'));
    }
    const goOn = `as ${user.subject}`;
    // After an answer, somebody else may have signed in since the page of the button was shown.
    if (answer === '' ? kept.mustChoose && !isNew : answer !== goOn) {
      const answers = { [goOn]: `Go on as ${nameOf(user)}`, other: 'Another account', no: 'No, go back' };
      const buttons = Object.entries(answers).map(([says, words]) => button(this.#path(kept, says), words));
      return page(200, ['Choose an account', `${kept.appName} asks for access to your account.`], buttons.join(''));
    }
    const auth_time = time === null ? undefined : Math.floor(time / 1000);
    return this.#state(kept, { ...membersOf(user), auth_time, amr: user.amr });
  }

  async #state(kept: KeptRequest, statement: object): Promise<Answer> {
    const forget = this.#kept.cookies(kept.digest);
    try {
      const said = await this.#valetkey.call('POST /sign-in', { sign_in_request: kept.text, ...statement }, 8000);
      const to = String((said as { redirect_to?: unknown }).redirect_to);
      if (to.startsWith(`${this.#valetkey.url}/`)) return redirect(to, forget);
      throw new ValetkeyError(200, 'odd_answer', 'redirect_to is elsewhere: compare url with VALETKEY_APP_URL');
    } catch (error) {
      if (!(error instanceof ValetkeyError)) throw error;
      const { code, message, httpStatus: status } = error;
      if (code === 'access_denied') return this.#fail(400, CLOSED, { code, message, status }, '', forget);
      const lost = message.includes('not for this identity provider') ? FOREIGN : LOST;
      if (code === 'invalid_grant') return this.#fail(400, lost, { code, message, status }, '', forget);
      const now = status === 0 || status >= 429 ? 503 : 500;
      return this.#fail(now, NOT_NOW, { code, message, status }, button(this.#path(kept), 'Try again'));
    }
  }

  #login(kept: KeptRequest, mustSignIn: boolean, step: string): Answer {
    const { appName, hint, locales } = kept;
    return redirect(this.#options.loginUrl(this.#path(kept, step), { mustSignIn, appName, hint, locales }));
  }

  /** Returns the endpoint's path: it names a request, and says, with a MAC, a button's answer or the step that is done. */
  #path({ digest }: KeptRequest, says = ''): string {
    const mac = this.#kept.mac('says', digest, says);
    return `${this.#address.pathname}?${new URLSearchParams({ request: digest, ...(says && { says, mac }) })}`;
  }

  /** Browsers send at least one of the two headers with a post, and no page can forge them. */
  #isFromOwnPage(visit: Visit): boolean {
    const origin = headerOf(visit, 'origin') || 'null';
    const site = headerOf(visit, 'sec-fetch-site');
    if (site === '') return origin === this.#address.origin;
    return site === 'same-origin' && (origin === this.#address.origin || origin === 'null');
  }

  #fail(
    status: number,
    texts: Texts,
    problem: Pick<Problem, 'code'> & Partial<Problem>,
    more = '',
    headers: Header[] = [],
  ): Answer {
    const report = this.#options.onProblem ?? ((said: Problem) => console.error('Valetkey:', said));
    report({ message: `the page “${texts[0]}” was shown`, ...problem });
    return page(status, texts, more, headers);
  }
}

const BEGIN_AGAIN = 'Go back to the app, and begin again there.';
const NOT_HERE = ['Not from here', BEGIN_AGAIN] as const;
const LOST = [
  'This sign-in is over',
  `It took too long, began in another browser, or is done. ${BEGIN_AGAIN}`,
] as const;
const FOREIGN = [
  'This request is not for here',
  'It was made for another product or installation, or is too old: go back to the app, begin again there, and ask its support if this page comes back.',
] as const;
const TOO_LONG = ['The app asks too much', 'The app’s request is too long for this browser.'] as const;
const NOT_SIGNED_IN = ['You are not signed in', 'Your browser may refuse cookies of this site.'] as const;
const CLOSED = ['Your account is closed to apps', 'Ask the support why.'] as const;
const NOT_NOW = ['That did not work', 'Apps can’t be connected now. Try again in a minute.'] as const;

function headerOf({ headers }: Visit, name: string): string {
  return String((headers instanceof Headers ? headers.get(name) : headers[name]) ?? '');
}

function nameOf({ name, email, username, subject }: CurrentUser): string {
  return name || email || username || subject;
}

/** Returns the time of the sign-in (ms). If the product keeps none: when nobody was signed in at the last visit, or null. */
function timeOf({ signedInAt }: CurrentUser, step: string): number | null {
  const time = Number(signedInAt ?? /^absent (\d+)$/.exec(step)?.[1] ?? 0);
  // A time in seconds would count as one of 1970.
  if (signedInAt && !(time > 1e11)) throw new TypeError('signedInAt must be a Date, or milliseconds since 1970');
  return time || null;
}

/** Compares in seconds where the product keeps whole seconds. */
function isSince(time: number, since: number): boolean {
  return time >= (time % 1000 === 0 ? since - (since % 1000) : since);
}
