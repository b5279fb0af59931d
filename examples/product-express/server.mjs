// Photos: a product with accounts of its own, in one file with Express. The lines between the marks are all that it needs so
// that its people sign in here for Valetkey.
//
//     OAUTH_URL=http://localhost:3000 OAUTH_SECRET=… node examples/product-express/server.mjs

import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import express from 'express';

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
app.all('/oauth/sign-in', async ({ session, query, body }, response) => {
  if (query.sign_in_request) {
    session.asked = { ...query, since: Date.now() }; // Keep the query in the session, not in the URL.
    return response.redirect(303, '/oauth/sign-in');
  }
  const { asked, person, signedInAt } = session;
  if (!asked) return sendPage(response, 400, 'Nothing waits here', '<p>Go back to the app, and begin again there.</p>');
  const maxAge = asked.prompt?.includes('login') ? 0 : Number(asked.max_age ?? Infinity) * 1000;
  const isIn = person && signedInAt >= asked.since - maxAge;
  const isSure = !asked.prompt?.includes('select_account') || signedInAt >= asked.since || body?.answer === 'yes';
  const yes = isIn ? `<button name="answer" value="yes">Go on as ${html(person.name)}</button> ` : '';
  const more = `<form method="post">${yes}<button name="answer" value="no">No, go back</button></form>`;
  if (body?.answer !== 'no' && !(isIn && isSure)) return sendSignInPage(response, session, asked.client_name, more);
  const who = { subject: person?.id, name: person?.name, email: person?.email, auth_time: seconds(signedInAt) };
  const said = await post(`${OAUTH_URL}/api/auth/oauth/sign-in`, {
    ...{ client_id: 'product', client_secret: OAUTH_SECRET, sign_in_request: asked.sign_in_request },
    ...(body?.answer === 'no' ? { error: 'access_denied' } : { ...who, email_verified: true }),
  });
  delete session.asked;
  if (said.redirect_to) return response.redirect(303, said.redirect_to);
  console.error('Valetkey:', said); // For the operator. The user sees only the page below.
  const words = said.error === 'access_denied' ? 'Your account is closed there.' : 'Begin again at the app, please.';
  sendPage(response, 502, 'You are not connected', `<p>${words}</p>`);
});
// <<< Valetkey

app.get('/', ({ session }, response) => {
  if (!session.person) return sendSignInPage(response, session);
  const signOut = '<form method="post" action="/sign-out"><button>Sign out</button></form>';
  sendPage(response, 200, `${session.person.name}’s photos`, `<p>There are none yet.</p>${signOut}`);
});

app.post('/sign-in', ({ session, body: { email, password = '', next } }, response) => {
  const person = people.find((one) => one.email === email);
  const isRight = timingSafeEqual(hash(String(password), person?.salt ?? ''), person?.hash ?? Buffer.alloc(32));
  // Another session id for whoever signs in.
  if (isRight) beginSession(response, { ...session, person, signedInAt: Date.now() });
  else session.problem = 'That is not right. Try again.';
  response.redirect(303, next === '/oauth/sign-in' ? next : '/');
});

app.post('/sign-out', (_request, response) => {
  beginSession(response, {});
  response.redirect(303, '/');
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

async function post(url, body) {
  const headers = { 'Content-Type': 'application/json' };
  return fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
    .then((response) => response.json())
    .catch(String);
}

function seconds(time) {
  return time && Math.floor(time / 1000);
}

/** The password form. An app may be what somebody signs in for; what stands below it then leads back to that. */
function sendSignInPage(response, session, app = '', more = '') {
  const { problem = '' } = session;
  delete session.problem;
  const next = more && '/oauth/sign-in';
  sendPage(
    response,
    200,
    'Sign in to Photos',
    `<p>${app && `${html(app)} asks for your photos.`}</p><p role="alert">${problem}</p>
    <form method="post" action="/sign-in"><input type="hidden" name="next" value="${next}">
    <label>Email <input name="email" type="email" autocomplete="username" required></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
    <button>Sign in</button></form>${more}`,
  );
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
