/** The sign-in endpoint of a product, for any framework. */
import { type Profile, profileMembers } from './api.ts';
import { call, ValetkeyError } from './call.ts';
import { Credentials, isSafe, type Registration } from './credentials.ts';
import { type KeptRequest, KeptRequests } from './kept-request.ts';
import { type Answer, page, redirect } from './pages.ts';

/** The user who is signed in at the product. */
export type CurrentUser = Profile & {
  /** The product's own permanent ID of the user: never an email address, never used again. */
  readonly subject: string;
  /**
   * When the user last proved who they are, such as with a password; a number is in ms. Null if the product does not keep
   * it: then a user whom an app wants to sign in again must sign out first.
   */
  readonly signedInAt: Date | number | null;
  /** Methods of the sign-in (RFC 8176). */
  readonly amr?: readonly string[] | undefined;
};

/** Details for the sign-in page. App name, hint and languages come from the app: escape them. */
export type LoginWish = {
  /** The user must prove who they are, even if they are signed in. */
  readonly mustSignIn: boolean;
  readonly appName: string;
  /** The email address that the app expects. */
  readonly hint: string | null;
  /** Languages by preference, such as `fr-CA fr`. */
  readonly locales: string | null;
};

/** Something that went wrong, for the product's log. It holds no secret, and nothing of the request. */
export type Problem = {
  readonly code: string;
  readonly message: string;
  /** The HTTP status of Valetkey's answer; 0 without an answer. */
  readonly status?: number;
};

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

/** The parts of a request that the endpoint reads. */
export type Visit = {
  readonly method: string;
  /** Path and query, or the whole address; only the query counts. */
  readonly url: string;
  readonly header: (name: 'cookie' | 'origin' | 'sec-fetch-site') => string | null | undefined;
};

/** A request that waits for a sign-in, for the product's own sign-in page. */
export type Pending = {
  /** The app's name. Escape it. */
  readonly appName: string;
  /** The address that a form with `method="post" enctype="text/plain"` refuses at. */
  readonly refuseUrl: string;
};

/** How far ahead of Valetkey's own check a sign-in counts as too old (ms): Valetkey allows 60 s. */
const MARGIN = 50_000;
/** How long a browser waits for Valetkey (ms). */
const PATIENCE = 8000;

const BEGIN_AGAIN = 'Go back to the app, and begin again there.';

/** The steps that an address can name after the request: the page was loaded again, or a sign-in was asked for. */
const AGAIN = 'again';
const SENT = 'sent';

/** The user of a visit, with the time of the sign-in in ms, if it is known. */
type Present = { readonly user: CurrentUser; readonly signedInAt: number | null };

/** The endpoint. */
export class SignInEndpoint<R> {
  readonly #credentials: Credentials;
  readonly #options: SignInOptions<R>;
  readonly #kept: KeptRequests;
  readonly #address: URL;

  constructor(options: SignInOptions<R>) {
    const { address, currentUser, loginUrl } = options;
    const url = address && URL.canParse(address) ? new URL(address) : undefined;
    if (!url || !isSafe(url) || url.search || url.hash || url.username || url.pathname.startsWith('//'))
      throw new TypeError('address must be the endpoint’s public address without a query: https, or http on localhost');
    for (const [name, value] of Object.entries({ currentUser, loginUrl }))
      if (typeof value !== 'function') throw new TypeError(`${name} must be a function`);
    this.#credentials = new Credentials(options);
    this.#options = options;
    this.#address = url;
    this.#kept = new KeptRequests(this.#credentials.cookieKey, url.protocol === 'https:');
  }

  /** Answers a visit. Rejects only if `currentUser` or `loginUrl` fails. */
  async answer(visit: Visit, request: R): Promise<Answer> {
    const query = queryOf(visit.url);
    const isPost = visit.method === 'POST';
    if (!isPost && visit.method !== 'GET') return { ...page(405, NOT_HERE), headers: { Allow: 'GET, POST' } };
    if (isPost && !this.#isFromOwnPage(visit)) return this.#fail(403, 'foreign_form', NOT_HERE);
    if (!isPost && query.has('sign_in_request')) return this.#receive(query, visit);
    const kept = this.#kept.find(visit.header('cookie') ?? '', query.get('request') ?? '');
    if (!kept) return this.#fail(400, 'no_request', LOST);
    const answer = isPost ? this.#answerOf(kept, query) : null;
    if (answer === 'no') return this.#state(kept, { error: 'access_denied' });
    const user = (await this.#options.currentUser(request)) ?? null;
    if (!user) return this.#withoutUser(kept, query.get('step') ?? '', visit);
    const present = { user, signedInAt: timeOf(user) ?? this.#absentAt(kept, query.get('step') ?? '') };
    if (answer === 'other') return this.#login(kept, true, SENT);
    return this.#withUser(kept, present, query, answer);
  }

  /** Returns the request that waits for a sign-in in this browser: the one in the page's address, or the newest. */
  pending(visit: Pick<Visit, 'url' | 'header'>): Pending | null {
    const cookie = visit.header('cookie') ?? '';
    const named = /request(?:=|%3D)([\w-]{16})/i.exec(visit.url)?.[1];
    const kept = named === undefined ? this.#kept.all(cookie)[0] : this.#kept.find(cookie, named);
    return kept ? { appName: kept.appName, refuseUrl: this.#postUrl(kept, 'no') } : null;
  }

  /** Keeps a request that comes from Valetkey, and takes it out of the address. */
  #receive(query: URLSearchParams, visit: Visit): Answer {
    const request = this.#kept.receive(query, Date.now());
    if (!request) return this.#fail(400, 'request_too_long', TOO_LONG);
    return redirect(this.#path(request), this.#kept.keep(request, visit.header('cookie') ?? ''));
  }

  /** Nobody is signed in: the session's cookie may be missing, or the user must sign in. */
  #withoutUser(kept: KeptRequest, step: string, visit: Visit): Answer {
    const isFromElsewhere = visit.header('sec-fetch-site') === 'cross-site';
    if (step === SENT || this.#absentAt(kept, step) !== null) {
      const link = { to: this.#path(kept), words: 'Sign in' };
      return this.#fail(400, 'no_user_after_login', { ...NOT_SIGNED_IN, link });
    }
    // A browser keeps cookies back that are SameSite=Strict if it comes from another site: a page of ours brings them.
    if (isFromElsewhere && step !== AGAIN)
      return page(200, { title: 'One moment', words: '', goTo: this.#path(kept, AGAIN) });
    // Nobody is signed in now, so the next sign-in is later than this, unless the browser kept cookies back.
    const now = Date.now().toString(36);
    const absent = `${now}.${this.#kept.mac(['absent', kept.digest, now])}`;
    return this.#login(kept, mustSignIn(kept), isFromElsewhere ? SENT : absent);
  }

  /** Somebody is signed in: who may have to sign in again, or choose. */
  #withUser(
    kept: KeptRequest,
    present: Present,
    query: URLSearchParams,
    answer: string | null,
  ): Answer | Promise<Answer> {
    const { user, signedInAt } = present;
    const step = query.get('step') ?? '';
    const isNew = signedInAt !== null && isSince(signedInAt, kept.since);
    const wasSent = step === SENT;
    if (!isFresh(kept, signedInAt) || (wasSent && signedInAt !== null && !isNew)) {
      if (!wasSent && signedInAt !== null) return this.#login(kept, true, SENT);
      const link = { to: this.#path(kept), words: 'Go on' };
      return page(200, { title: 'Sign out first', words: signOutFirst(kept, user), link });
    }
    const mustChoose = kept.prompts.includes('select_account') && !isNew;
    // Somebody else may have signed in since the page of the button was shown.
    if (answer === null ? mustChoose : answer !== `as ${user.subject}`) return this.#choice(kept, user);
    const auth_time = signedInAt === null ? undefined : Math.floor(signedInAt / 1000);
    return this.#state(kept, { subject: user.subject, auth_time, amr: user.amr, ...profileMembers(user) });
  }

  #choice(kept: KeptRequest, user: CurrentUser): Answer {
    const buttons = [
      { to: this.#postUrl(kept, `as ${user.subject}`), words: `Go on as ${nameOf(user)}` },
      { to: this.#postUrl(kept, 'other'), words: 'Another account' },
      { to: this.#postUrl(kept, 'no'), words: 'No, go back' },
    ];
    const words = `${kept.appName} asks for access to your account.`;
    return page(200, { title: 'Choose an account', words, buttons });
  }

  /** Tells Valetkey who is signed in, or that the user refuses, and sends the browser on. */
  async #state(kept: KeptRequest, statement: object): Promise<Answer> {
    const body = { sign_in_request: kept.text, ...statement };
    try {
      const said = await call(this.#credentials, { method: 'POST', path: '/sign-in', body, within: PATIENCE });
      const { redirect_to } = said as { redirect_to?: unknown };
      if (typeof redirect_to === 'string' && URL.canParse(redirect_to)) {
        const { origin, href } = new URL(redirect_to);
        if (origin === this.#credentials.url) return redirect(href, this.#kept.forget(kept.digest));
      }
      throw new ValetkeyError(200, 'odd_answer', 'redirect_to is elsewhere: compare url with VALETKEY_APP_URL');
    } catch (error) {
      if (!(error instanceof ValetkeyError)) throw error;
      const { code, message, status } = error;
      const over = status === 400 && code === 'invalid_grant' ? LOST : code === 'access_denied' ? CLOSED : null;
      if (over) return this.#fail(400, code, over, { message, status }, this.#kept.forget(kept.digest));
      const link = { to: this.#path(kept), words: 'Try again' };
      return this.#fail(status === 0 || status >= 429 ? 503 : 500, code, { ...NOT_NOW, link }, { message, status });
    }
  }

  #login(kept: KeptRequest, mustSignIn: boolean, step: string): Answer {
    const { appName, hint, locales } = kept;
    const to = new URL(
      this.#options.loginUrl(this.#path(kept, step), { mustSignIn, appName, hint, locales }),
      this.#address,
    );
    if (to.protocol !== 'https:' && to.protocol !== 'http:') throw new TypeError('loginUrl must return an address');
    const isHere = to.origin === this.#address.origin && !to.pathname.startsWith('//');
    return redirect(isHere ? to.pathname + to.search + to.hash : to.href);
  }

  /** The endpoint as a path of this server, whose query names the kept request: nothing in it comes from outside. */
  #path({ digest }: KeptRequest, step?: string): string {
    return `${this.#address.pathname}?${new URLSearchParams({ request: digest, ...(step && { step }) })}`;
  }

  #postUrl(kept: KeptRequest, answer: string): string {
    const mac = this.#kept.mac(['answer', kept.digest, answer]);
    return `${this.#path(kept)}&${new URLSearchParams({ answer, mac })}`;
  }

  /** The answer that our own form posted; null for any other. */
  #answerOf({ digest }: KeptRequest, query: URLSearchParams): string | null {
    const answer = query.get('answer') ?? '';
    return this.#kept.isMac(query.get('mac') ?? '', ['answer', digest, answer]) ? answer : null;
  }

  /** When nobody was signed in at the last visit (ms), if the address says so and we wrote it. */
  #absentAt({ digest }: KeptRequest, step: string): number | null {
    const [time = '', mac = ''] = step.split('.');
    return this.#kept.isMac(mac, ['absent', digest, time]) ? Number.parseInt(time, 36) : null;
  }

  /** Browsers send at least one of the two headers with a post, and no page can forge them. */
  #isFromOwnPage({ header }: Visit): boolean {
    const [origin, site] = [header('origin') ?? 'null', header('sec-fetch-site') ?? null];
    if (site !== null && site !== 'same-origin') return false;
    return origin === this.#address.origin || (origin === 'null' && site !== null);
  }

  #fail(
    status: number,
    code: string,
    parts: Parameters<typeof page>[1],
    more: Omit<Problem, 'code'> = { message: `the page “${parts.title}” was shown` },
    cookies: readonly string[] = [],
  ): Answer {
    const report = this.#options.onProblem ?? ((problem: Problem) => console.error('Valetkey:', problem));
    report({ code, ...more });
    return page(status, parts, cookies);
  }
}

const OVER = `It took too long, began in another browser, or is done. ${BEGIN_AGAIN}`;
const NOT_HERE = { title: 'Not from here', words: BEGIN_AGAIN };
const LOST = { title: 'This sign-in is over', words: OVER };
const TOO_LONG = { title: 'The app asks too much', words: 'The app’s request is too long for this browser.' };
const NOT_SIGNED_IN = { title: 'You are not signed in', words: 'Your browser may refuse cookies of this site.' };
const CLOSED = { title: 'Your account is closed to apps', words: 'Ask the support why.' };
const NOT_NOW = { title: 'That did not work', words: 'Apps can’t be connected now. Try again in a minute.' };

function signOutFirst({ appName }: KeptRequest, user: CurrentUser): string {
  return `${appName} wants to be sure that it is you, but you are still signed in as ${nameOf(user)}. Sign out here, then go on and sign in again.`;
}

function nameOf({ name, email, username, subject }: CurrentUser): string {
  return name || email || username || subject;
}

function queryOf(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
}

/** Returns the time of the sign-in, in ms; null if the product keeps none. */
function timeOf({ signedInAt }: CurrentUser): number | null {
  if (signedInAt === null || signedInAt === undefined) return null;
  const time = Number(signedInAt);
  // A time in seconds would count as one of 1970.
  if (!(time > 1e11)) throw new TypeError('signedInAt must be a Date, or a number of milliseconds since 1970');
  return time;
}

function mustSignIn({ prompts, maxAge }: KeptRequest): boolean {
  return prompts.includes('login') || maxAge !== null;
}

/** Returns true if a sign-in at `time` satisfies what the app demands. */
function isFresh(kept: KeptRequest, time: number | null): boolean {
  if (!mustSignIn(kept)) return true;
  if (time === null) return false;
  const maxAge = kept.maxAge === null ? Number.POSITIVE_INFINITY : kept.maxAge * 1000;
  const needed = kept.prompts.includes('login') ? kept.since : kept.since - maxAge;
  return isSince(time, needed) && time >= Date.now() - maxAge - MARGIN;
}

/** Compares in seconds where the product keeps whole seconds. */
function isSince(time: number, since: number): boolean {
  return time >= (time % 1000 === 0 ? since - (since % 1000) : since);
}
