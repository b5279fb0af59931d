// Photos: a product with accounts of its own, in one file that needs Node.js alone. The lines between the marks are all that
// it needs so that its people sign in here for Valetkey.
//
//     OAUTH_URL=http://localhost:3000 OAUTH_SECRET=… node examples/product-plain-node/server.mjs

import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';

const { PORT = '8000', OAUTH_URL = 'http://localhost:3000', OAUTH_SECRET = '' } = process.env;

const people = [
  makePerson('p-17', 'Ada Lovelace', 'ada@example.com', 'numbers and poems'),
  makePerson('p-42', 'Grace Hopper', 'grace@example.com', 'a moth in relay 70'),
];

/** The sessions of browsers: the signed-in user, and the time of the sign-in (ms). */
const sessions = new Map();

// >>> Valetkey
async function signInForValetkey(session, query, answer) {
  if (query.sign_in_request) {
    session.asked = { ...query, since: Date.now() }; // Keep the query in the session, not in the URL.
    return redirect('/oauth/sign-in');
  }
  const { asked, person, signedInAt } = session;
  if (!asked) return page(400, 'Nothing waits here', '<p>Go back to the app, and begin again there.</p>');
  const maxAge = asked.prompt?.includes('login') ? 0 : Number(asked.max_age ?? Infinity) * 1000;
  const isIn = person && signedInAt >= asked.since - maxAge;
  const isSure = !asked.prompt?.includes('select_account') || signedInAt >= asked.since || answer === 'yes';
  const yes = isIn ? `<button name="answer" value="yes">Go on as ${html(person.name)}</button> ` : '';
  const buttons = `<form method="post">${yes}<button name="answer" value="no">No, go back</button></form>`;
  if (answer !== 'no' && !(isIn && isSure)) return signInPage(session, '/oauth/sign-in', asked.client_name, buttons);
  const who = { subject: person?.id, name: person?.name, email: person?.email, auth_time: seconds(signedInAt) };
  const said = await post(`${OAUTH_URL}/api/auth/oauth/sign-in`, {
    ...{ client_id: 'product', client_secret: OAUTH_SECRET, sign_in_request: asked.sign_in_request },
    ...(answer === 'no' ? { error: 'access_denied' } : { ...who, email_verified: true }),
  });
  delete session.asked;
  if (said.redirect_to) return redirect(said.redirect_to);
  console.error('Valetkey:', said); // For the operator. The user sees only the page below.
  const words = said.error === 'access_denied' ? 'Your account is closed there.' : 'Begin again at the app, please.';
  return page(502, 'You are not connected', `<p>${words}</p>`);
}
// <<< Valetkey

async function answerTo(method, path, session, query, fields) {
  if (path === '/oauth/sign-in') return signInForValetkey(session, query, fields.answer); // Valetkey
  if (path === '/') return session.person ? homePage(session.person) : signInPage(session, '/');
  if (method === 'POST' && path === '/sign-in') return signIn(session, fields);
  if (method === 'POST' && path === '/sign-out') return { ...redirect('/'), session: {} };
  return page(404, 'There is no such page', '<p><a href="/">Photos</a></p>');
}

function signIn(session, { email, password = '', next }) {
  const person = people.find((one) => one.email === email);
  const isRight = timingSafeEqual(hash(password, person?.salt ?? ''), person?.hash ?? Buffer.alloc(32));
  if (isRight) return { ...redirect(ownPath(next)), session: { ...session, person, signedInAt: Date.now() } };
  session.problem = 'That is not right. Try again.';
  return redirect(ownPath(next));
}

/** Only to a page of this product that sign-in knows. */
function ownPath(next) {
  return next === '/oauth/sign-in' ? next : '/';
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

function makePerson(id, name, email, password) {
  const salt = randomBytes(16);
  return { id, name, email, salt, hash: hash(password, salt) };
}

function hash(password, salt) {
  return scryptSync(password, salt, 32);
}

/** The password form. `next` is where it leads; an app may be what somebody signs in for, and more stand below. */
function signInPage(session, next, app = '', more = '') {
  const { problem = '' } = session;
  delete session.problem;
  return page(
    200,
    'Sign in to Photos',
    `<p>${app && `${html(app)} asks for your photos.`}</p><p role="alert">${problem}</p>
    <form method="post" action="/sign-in"><input type="hidden" name="next" value="${next}">
    <label>Email <input name="email" type="email" autocomplete="username" required></label>
    <label>Password <input name="password" type="password" autocomplete="current-password" required></label>
    <button>Sign in</button></form>${more}`,
  );
}

function homePage({ name }) {
  return page(
    200,
    `${name}’s photos`,
    '<p>There are none yet.</p><form method="post" action="/sign-out"><button>Sign out</button></form>',
  );
}

function page(status, title, content) {
  const style =
    'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:26rem;margin:3rem auto;padding:0 1rem;color:#1d2b2a;background:#f2f7f5}' +
    'label,form{display:block;margin:1rem 0}input,button{font:inherit;padding:.5rem .75rem;box-sizing:border-box}input{width:100%}' +
    'button{border:1px solid #14635a;border-radius:.4rem;background:#fff;cursor:pointer}';
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html(title)}</title>`;
  return {
    status,
    body: `<!doctype html><html lang="en">${head}<style>${style}</style><h1>${html(title)}</h1>${content}`,
  };
}

function html(words) {
  return String(words).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}

function redirect(location) {
  return { status: 303, location };
}

createServer(async (request, response) => {
  const { method, headers } = request;
  const [path, query] = request.url.split('?');
  const id = /(?:^|; )photos=([\w-]+)/.exec(headers.cookie ?? '')?.[1];
  const known = sessions.get(id);
  const session = known ?? {};
  let answer = page(403, 'This form is not from here', '<p><a href="/">Photos</a></p>');
  // Another site's form comes without the cookie, which is SameSite=Lax.
  if (method === 'GET' || (known && Number(headers['content-length']) < 10_000)) {
    const fields = method === 'GET' ? {} : Object.fromEntries(new URLSearchParams(await text(request)));
    answer = await answerTo(method, path, session, Object.fromEntries(new URLSearchParams(query)), fields);
  }
  if (!known || answer.session) {
    const fresh = randomBytes(24).toString('base64url'); // Another id for whoever signs in.
    sessions.delete(id);
    sessions.set(fresh, answer.session ?? session);
    response.setHeader('Set-Cookie', `photos=${fresh}; Path=/; HttpOnly; SameSite=Lax`); // On https: Secure as well.
  }
  if (answer.location) response.setHeader('Location', answer.location);
  response.setHeader('Content-Type', 'text/html; charset=utf-8').setHeader('Cache-Control', 'no-store');
  response.writeHead(answer.status).end(answer.body);
}).listen(Number(PORT), 'localhost', () => console.log(`Photos: http://localhost:${PORT}`));
