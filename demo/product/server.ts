/** Tintype: a product with accounts of its own, whose people sign in there and allow apps through Valetkey. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { SeededPerson, SeededProduct } from '../seed.ts';
import { withoutSecrets } from '../shortened.ts';
import { cookieOf, fieldsOf, type Handler, redirect, runSite, sendPage, sendStylesheet, setCookie } from '../site.ts';
import { albumPage } from './album-page.ts';
import { type Message, messagePage } from './message-page.ts';
import { type Notice, newSession, People, type Session, Sessions } from './people.ts';
import { settingsPage } from './settings-page.ts';
import { signInForValetkey, takeSignInRequest } from './sign-in.ts';
import { signInPage } from './sign-in-page.ts';
import { stylesheet } from './stylesheet.ts';
import { type Hear, ValetkeyForProduct } from './valetkey.ts';

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
  readonly valetkey: ValetkeyForProduct;
  readonly people: People;
  readonly sessions: Sessions;
  readonly hear: Hear;
};

const COOKIE = 'tintype_session';

const ROUTES: Readonly<Record<string, Handler<Product>>> = {
  'GET /': home,
  'GET /tintype.css': (_product, _request, response) => sendStylesheet(response, stylesheet),
  'POST /sign-in': signIn,
  'POST /sign-out': signOut,
  [`GET ${SIGN_IN_PATH}`]: signInForApp,
  [`POST ${SIGN_IN_PATH}`]: signInForApp,
  [`GET ${APPS_PATH}`]: apps,
  [`POST ${APPS_PATH}`]: disconnect,
};

/** Runs the product on a server that listens at its origin; the returned function stops it. */
export function runProduct(server: Server, { origin, registration, people, hear }: ProductParts): () => Promise<void> {
  return runSite(server, {
    site: {
      valetkey: new ValetkeyForProduct(registration),
      people: new People(people),
      sessions: new Sessions(),
      hear,
    },
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
  else sendPage(response, 200, signInPage({ next: '/', appName: null, notice: takeNotice(session), goOnAs: null }));
}

/** The product's own sign-in, which knows nothing of Valetkey but the way back. */
async function signIn({ people, sessions }: Product, request: IncomingMessage, response: ServerResponse) {
  const fields = await fieldsOf(request);
  const person = people.signIn(fields.get('email') ?? '', fields.get('password') ?? '');
  const before = sessionOf(sessions, request) ?? newSession();
  const session: Session = person
    ? { ...before, person, signedInAt: Date.now() }
    : { ...before, notice: 'wrong_password' };
  setCookie(response, COOKIE, sessions.begin(session, cookieOf(request, COOKIE)));
  redirect(response, [SIGN_IN_PATH, APPS_PATH].find((path) => path === fields.get('next')) ?? '/');
}

async function signOut({ valetkey, sessions, hear }: Product, request: IncomingMessage, response: ServerResponse) {
  const person = sessionOf(sessions, request)?.person;
  if (person) await valetkey.endSessions(person.subject, hear);
  setCookie(response, COOKIE, sessions.begin(newSession(), cookieOf(request, COOKIE)));
  redirect(response, '/');
}

/** The address to which Valetkey sends users for sign-in. */
async function signInForApp(product: Product, request: IncomingMessage, response: ServerResponse, url: URL) {
  const { valetkey, sessions, hear } = product;
  const known = sessionOf(sessions, request);
  if (url.searchParams.has('sign_in_request')) {
    const session = known ?? newSession();
    session.asked = takeSignInRequest(url.searchParams);
    if (!known) setCookie(response, COOKIE, sessions.begin(session, ''));
    return redirect(response, SIGN_IN_PATH); // Out of the address.
  }
  if (!known?.asked) return sendMessage(response, 400, 'nothing_waits');
  const answer = request.method === 'POST' ? (await fieldsOf(request)).get('answer') : null;
  const outcome = await signInForValetkey({ valetkey, session: known, answer, hear: hearFor(known, hear) });
  if (outcome.kind === 'ask') {
    const { appName } = known.asked;
    sendPage(response, 200, signInPage({ next: SIGN_IN_PATH, appName, notice: takeNotice(known), ...outcome }));
  } else if (outcome.kind === 'gone_on') redirect(response, outcome.redirectTo);
  else sendMessage(response, 502, 'refused');
}

async function apps({ valetkey, sessions, hear }: Product, request: IncomingMessage, response: ServerResponse) {
  const session = sessionOf(sessions, request);
  if (!session?.person) {
    const notice = takeNotice(session);
    return sendPage(response, 200, signInPage({ next: APPS_PATH, appName: null, notice, goOnAs: null }));
  }
  const { person, calls } = session;
  const connections = await valetkey.connections(person.subject, hearFor(session, hear));
  sendPage(response, 200, settingsPage({ person, connections, notice: takeNotice(session), calls }));
}

async function disconnect({ valetkey, sessions, hear }: Product, request: IncomingMessage, response: ServerResponse) {
  const session = sessionOf(sessions, request);
  const clientId = (await fieldsOf(request)).get('client_id') ?? '';
  if (session?.person) {
    const isDone = await valetkey.disconnect(session.person.subject, clientId, hearFor(session, hear));
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
