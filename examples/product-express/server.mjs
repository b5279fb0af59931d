// Photos: a product with accounts of its own, in one file with Express and the package @valetkey/product. The lines between the
// marks are all that it needs so that its people sign in here for Valetkey.
//
//     OAUTH_URL=http://localhost:3000 OAUTH_SECRET=… node examples/product-express/server.mjs

import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import express from 'express';
import { signIn } from '../../packages/product/src/express.ts'; // In your product: '@valetkey/product/express'.
import { createApi } from '../../packages/product/src/product.ts'; // In your product: '@valetkey/product'.

const { PORT = '8000', OAUTH_URL = 'http://localhost:3000', OAUTH_SECRET = '' } = process.env;

const people = [
  makePerson('p-17', 'Ada Lovelace', 'ada@example.com', 'numbers and poems'),
  makePerson('p-42', 'Grace Hopper', 'grace@example.com', 'a moth in relay 70'),
];

/**
 * The sessions of browsers: the signed-in user, and the time of the sign-in (ms). Yours may be those of
 * express-session.
 */
const sessions = new Map();

const app = express();
app.disable('x-powered-by');
app.use(express.urlencoded({ extended: false, limit: '10kb' }), (request, response, next) => {
  const id = /(?:^|; )photos=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
  const session = sessions.get(id);
  response.set('Cache-Control', 'no-store');
  // Another site's form comes without the cookie, which is SameSite=Lax.
  if (!session && request.method !== 'GET') return sendPage(response, 403, 'This form is not from here');
  request.session = session ?? beginSession(response, {});
  next();
});

// >>> Valetkey
const valetkey = { url: OAUTH_URL, id: 'product', secret: OAUTH_SECRET };
const endpoint = signIn({
  ...valetkey,
  address: `http://localhost:${PORT}/oauth/sign-in`,
  currentUser: ({ session: { person, signedInAt } }) =>
    person && { subject: person.id, name: person.name, email: person.email, emailVerified: true, signedInAt },
  loginUrl: (next, { mustSignIn }) => `/sign-in?${new URLSearchParams({ next, ...(mustSignIn && { again: 'yes' }) })}`,
});
app.all('/oauth/sign-in', endpoint);
const { users, connections } = createApi(valetkey);
// <<< Valetkey

app.get('/', ({ session }, response) => {
  if (!session.person) return response.redirect(303, '/sign-in');
  const more = '<p><a href="/settings">Connected apps</a></p>';
  const signOut = '<form method="post" action="/sign-out"><button>Sign out</button></form>';
  sendPage(response, 200, `${session.person.name}’s photos`, `<p>There are none yet.</p>${more}${signOut}`);
});

app.get('/sign-in', (request, response) => {
  const { session, query } = request;
  const next = String(query.next ?? '/');
  if (session.person && !query.again) return response.redirect(303, safePath(next));
  const pending = endpoint.pending(request);
  const asks = pending ? `<p>${html(pending.appName)} asks for your photos.</p>` : '';
  const refuse = pending
    ? `<form method="post" enctype="text/plain" action="${html(pending.refuseUrl)}"><button>No, go back</button></form>`
    : '';
  const { problem = '' } = session;
  delete session.problem;
  sendPage(
    response,
    200,
    'Sign in to Photos',
    `${asks}<p role="alert">${problem}</p>
    <form method="post" action="/sign-in"><input type="hidden" name="next" value="${html(next)}">
    <label>Email <input name="email" type="email" autocomplete="username" required></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
    <button>Sign in</button></form>${refuse}`,
  );
});

app.post('/sign-in', ({ session, body: { email, password = '', next = '/' } }, response) => {
  const person = people.find((one) => one.email === email);
  const isRight = timingSafeEqual(hash(String(password), person?.salt ?? ''), person?.hash ?? Buffer.alloc(32));
  // Another session id for whoever signs in.
  if (isRight) beginSession(response, { ...session, person, signedInAt: Date.now() });
  else session.problem = 'That is not right. Try again.';
  response.redirect(303, isRight ? safePath(String(next)) : `/sign-in?${new URLSearchParams({ next, again: 'yes' })}`);
});

app.post('/sign-out', async ({ session: { person } }, response) => {
  beginSession(response, {});
  if (person) await users.endSessions(person.id).catch(console.error);
  response.redirect(303, '/');
});

app.get('/settings', async ({ session: { person }, query: { after } }, response) => {
  if (!person) return response.redirect(303, '/sign-in?next=/settings');
  const listed = await connections.list(person.id, after ? { after: String(after) } : {}).catch(console.error);
  if (!listed) return sendPage(response, 503, 'Connected apps', '<p>Your apps can’t be shown right now.</p>');
  const apps = listed.connections.map(connectionItem).join('') || '<p>No app is connected.</p>';
  const { next } = listed;
  const more = next === null ? '' : `<a href="/settings?${html(new URLSearchParams({ after: next }))}">More apps</a>`;
  sendPage(response, 200, 'Connected apps', apps + more);
});

app.post('/settings', async ({ session: { person }, body }, response) => {
  const connection_id = String(body.connection_id);
  if (person) await connections.revoke(person.id, { connection_id }).catch(console.error);
  response.redirect(303, '/settings');
});

app.listen(Number(PORT), 'localhost', () => console.log(`Photos: http://localhost:${PORT}`));

function beginSession(response, session) {
  const id = randomBytes(24).toString('base64url');
  sessions.set(id, session);
  response.cookie('photos', id, { httpOnly: true, sameSite: 'lax' }); // On https: secure as well.
  return session;
}

function makePerson(id, name, email, password) {
  const salt = randomBytes(16);
  return { id, name, email, salt, hash: hash(password, salt) };
}

function hash(password, salt) {
  return scryptSync(password, salt, 32);
}

/** A path of this server alone: browsers leave tabs out of an address, and read two slashes as another host. */
function safePath(next) {
  return /^\/(?![/\\])\P{Cc}*$/u.test(next) ? next : '/';
}

const FIELDS = { name: 'name', username: 'username', email: 'email', avatar_url: 'picture' };

/** A connection as Valetkey's own page shows it. Everything that an app says of itself is escaped. */
function connectionItem(one) {
  const facts = [
    one.publisher === null ? 'Publisher not stated' : `by ${one.publisher}`,
    one.is_checked ? 'checked' : 'not checked',
    ...(one.host === null ? [] : [`describes itself at ${one.host}`]),
    ...one.redirect_hosts,
  ];
  const links = [
    ['Website', one.homepage],
    ['Privacy', one.privacy_page],
    ['Contact', one.contact?.includes(':') ? one.contact : one.contact && `mailto:${one.contact}`],
  ].flatMap(([words, to]) => (to ? `<a href="${html(to)}" rel="noreferrer">${words}</a>` : []));
  const profile = one.profile.map((field) => FIELDS[field] ?? field).join(', ');
  const rights = one.permissions.map(({ name, sentence, effect, optional }) => {
    const notes = [effect, optional && 'optional'].filter(Boolean).join(', ');
    return `${sentence ?? `Use the permission ${name}`}${notes && ` (${notes})`}`;
  });
  const can = [`See who you are: ${profile ? `your ${profile}` : 'only an ID'}`, ...rights];
  const used = one.last_used_at === null ? 'Not used yet' : `Last used ${day(one.last_used_at)}`;
  const unused = one.expires_at < one.expires_at_the_latest ? `, or on ${day(one.expires_at)} without use` : '';
  const state = one.is_waiting
    ? `Allowed ${day(one.granted_at)}. Waiting for the app: expires if the app doesn’t fetch it.`
    : `Connected ${day(one.granted_at)}. ${used}. Ends on ${day(one.expires_at_the_latest)}${unused}.`;
  return `<section><h2>${html(one.name)}</h2>${one.device ? '<p>On a device</p>' : ''}
    <p>${html(facts.join(' · '))} ${links.join(' ')}</p><ul>${can.map((each) => `<li>${html(each)}</li>`).join('')}</ul>
    <p>${state}</p>
    <form method="post" action="/settings"><input type="hidden" name="connection_id" value="${html(one.connection_id)}">
    <button>Remove ${html(one.name)}</button></form></section>`;
}

function day(time) {
  return time.slice(0, 10);
}

function sendPage(response, status, title, content = '') {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html(title)}</title>`;
  const style =
    'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:3rem auto;padding:0 1rem;color:#1d2b2a;background:#f2f7f5}' +
    'label,form{display:block;margin:1rem 0}input,button{font:inherit;padding:.5rem .75rem;box-sizing:border-box}input{width:100%}' +
    'button{border:1px solid #14635a;border-radius:.4rem;background:#fff;cursor:pointer}';
  response
    .status(status)
    .send(`<!doctype html><html lang="en">${head}<style>${style}</style><h1>${html(title)}</h1>${content}`);
}

function html(words) {
  return String(words).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
