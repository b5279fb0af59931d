/** Tintype: a product with accounts of its own, whose people sign in there and allow apps through Valetkey. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { signIn as signInForValetkey } from '../../packages/product/src/express.ts';
import type { SeededPerson, SeededProduct } from '../seed.ts';
import { withoutSecrets } from '../shortened.ts';
import { cookieOf, fieldsOf, type Handler, redirect, runSite, sendPage, sendStylesheet, setCookie } from '../site.ts';
import { albumPage } from './album-page.ts';
import { type Message, messagePage } from './message-page.ts';
import { type Notice, newSession, People, type Session, Sessions } from './people.ts';
import { settingsPage } from './settings-page.ts';
import { signInPage } from './sign-in-page.ts';
import { stylesheet } from './stylesheet.ts';
import { callsOf, type Hear, heardBy, registrationOf } from './valetkey.ts';

/** The product's name. */
export const PRODUCT_NAME = 'Tintype';

/** The page that signs users in for Valetkey. */
export const SIGN_IN_PATH = '/oauth/sign-in';

/** The page on which users see their apps. */
export const APPS_PATH = '/settings/apps';

/** The parts that the product runs with. */
export type ProductParts = {
  readonly origin: string;
  readonly registration: SeededProduct & { readonly appUrl: string };
  readonly people: readonly SeededPerson[];
  /** Hears of each call that its server makes. */
  readonly hear: Hear;
};

/** The parts that all handlers share. */
export type Product = {
  readonly valetkey: ReturnType<typeof callsOf>;
  /** The address to which Valetkey sends users for sign-in. */
  readonly endpoint: ReturnType<typeof signInForValetkey<IncomingMessage>>;
  readonly people: People;
  readonly sessions: Sessions;
  readonly hear: Hear;
};

const COOKIE = 'tintype_session';

const ROUTES: Readonly<Record<string, Handler<Product>>> = {
  'GET /': home,
  'GET /tintype.css': (_product, _request, response) => sendStylesheet(response, stylesheet),
  'GET /sign-in': showSignIn,
  'POST /sign-in': signIn,
  'POST /sign-out': signOut,
  [`GET ${SIGN_IN_PATH}`]: signInForApp,
  [`POST ${SIGN_IN_PATH}`]: signInForApp,
  [`GET ${APPS_PATH}`]: apps,
  [`POST ${APPS_PATH}`]: disconnect,
};

/** Runs the product on a server that listens at its origin; the returned function stops it. */
export function runProduct(server: Server, { origin, registration, people, hear }: ProductParts): () => Promise<void> {
  const valetkey = registrationOf(registration);
  const sessions = new Sessions();
  const endpoint = signInForValetkey({
    ...valetkey,
    address: origin + SIGN_IN_PATH,
    currentUser: (request: IncomingMessage) => {
      const { person, signedInAt } = sessionOf(sessions, request) ?? newSession();
      return person && { ...person, emailVerified: true, signedInAt };
    },
    loginUrl: (next, { mustSignIn }) => signInUrl(next, mustSignIn),
  });
  return runSite(server, {
    site: { valetkey: callsOf(valetkey), endpoint, people: new People(people), sessions, hear },
    origin,
    routes: ROUTES,
    // Its sign-in form leads through Valetkey, and where somebody refuses to whatever app asked.
    formTargets: null,
    refuse: (response, status) => sendMessage(response, status, status === 403 ? 'foreign_form' : 'not_found'),
  });
}

/** The album, or the sign-in form. */
function home({ sessions }: Product, request: IncomingMessage, response: ServerResponse): void {
  const session = sessionOf(sessions, request);
  if (session?.person) sendPage(response, 200, albumPage(session.person));
  else sendPage(response, 200, signInPage({ next: '/', pending: null, notice: takeNotice(session) }));
}

/** The sign-in page, which knows of Valetkey only who asks and the way back. */
function showSignIn({ endpoint, sessions }: Product, request: IncomingMessage, response: ServerResponse, url: URL) {
  const session = sessionOf(sessions, request);
  const next = ownPath(url.searchParams.get('next'));
  if (session?.person && !url.searchParams.has('again')) return redirect(response, next);
  sendPage(response, 200, signInPage({ next, pending: endpoint.pending(request), notice: takeNotice(session) }));
}

/** The product's own sign-in. */
async function signIn({ people, sessions }: Product, request: IncomingMessage, response: ServerResponse) {
  const fields = await fieldsOf(request);
  const person = people.signIn(fields.get('email') ?? '', fields.get('password') ?? '');
  const before = sessionOf(sessions, request) ?? newSession();
  const session: Session = person
    ? { ...before, person, signedInAt: Date.now() }
    : { ...before, notice: 'wrong_password' };
  setCookie(response, COOKIE, sessions.begin(session, cookieOf(request, COOKIE)));
  const next = ownPath(fields.get('next'));
  redirect(response, person ? next : signInUrl(next, true));
}

async function signOut({ valetkey, sessions, hear }: Product, request: IncomingMessage, response: ServerResponse) {
  const person = sessionOf(sessions, request)?.person;
  if (person) await heardBy(hear, () => valetkey.endSessions(person.subject));
  setCookie(response, COOKIE, sessions.begin(newSession(), cookieOf(request, COOKIE)));
  redirect(response, '/');
}

/** Signs a user in for Valetkey, and keeps the call for the page that shows them. */
function signInForApp({ endpoint, sessions, hear }: Product, request: IncomingMessage, response: ServerResponse) {
  const session = sessionOf(sessions, request);
  return heardBy(session ? hearFor(session, hear) : hear, () => endpoint(request, response));
}

function signInUrl(next: string, mustSignIn: boolean): string {
  return `/sign-in?${new URLSearchParams({ next, ...(mustSignIn && { again: 'yes' }) })}`;
}

/** A page of this site that a sign-in may lead to. */
function ownPath(next: string | null): string {
  return next === APPS_PATH || next?.startsWith(`${SIGN_IN_PATH}?`) ? next : '/';
}

async function apps({ valetkey, sessions, hear }: Product, request: IncomingMessage, response: ServerResponse) {
  const session = sessionOf(sessions, request);
  if (!session?.person) {
    const notice = takeNotice(session);
    return sendPage(response, 200, signInPage({ next: APPS_PATH, pending: null, notice }));
  }
  const { person, calls } = session;
  const connections = await heardBy(hearFor(session, hear), () => valetkey.connections(person.subject));
  sendPage(response, 200, settingsPage({ person, connections, notice: takeNotice(session), calls }));
}

async function disconnect({ valetkey, sessions, hear }: Product, request: IncomingMessage, response: ServerResponse) {
  const session = sessionOf(sessions, request);
  const connectionId = (await fieldsOf(request)).get('connection_id') ?? '';
  if (session?.person) {
    const { subject } = session.person;
    const isDone = await heardBy(hearFor(session, hear), () => valetkey.disconnect(subject, connectionId));
    session.notice = isDone ? 'disconnected' : 'not_disconnected';
  }
  redirect(response, APPS_PATH);
}

/** Keeps each call for the page that shows them to this browser. */
function hearFor(session: Session, hear: Hear): Hear {
  return (purpose, exchange) => {
    session.calls.push({ at: new Date(), exchange: withoutSecrets(exchange) });
    hear(purpose, exchange);
  };
}

function sessionOf(sessions: Sessions, request: IncomingMessage): Session | undefined {
  return sessions.find(cookieOf(request, COOKIE));
}

function takeNotice(session: Session | undefined): Notice | null {
  const notice = session?.notice ?? null;
  if (session) session.notice = null;
  return notice;
}

function sendMessage(response: ServerResponse, status: number, message: Message): void {
  sendPage(response, status, messagePage(message));
}
