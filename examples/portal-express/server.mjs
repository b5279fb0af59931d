// A company's own portal for app developers, in one file with Express: it registers an app through the operators' API, and hands
// its secret over by a one-time address. The portal never sees the secret.
//
//     OPERATOR_URL=http://localhost:3002 OPERATOR_KEY=vk_ok_… node examples/portal-express/server.mjs

import { createHmac, randomBytes } from 'node:crypto';
import express from 'express';

const { PORT = '8100', OPERATOR_URL = 'http://localhost:3002', OPERATOR_KEY = '' } = process.env;

/** The apps that were registered here, by browser session. Yours may be a table, by the signed-in developer. */
const sessions = new Map();

const portal = express();
portal.disable('x-powered-by');
portal.use(express.urlencoded({ extended: false, limit: '10kb' }), (request, response, next) => {
  const id = /(?:^|; )portal=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1];
  const session = sessions.get(id);
  // A pick-up address must not stay in a cache, and not go to another site as the referrer.
  response.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  // Another site's form comes without the cookie, which is SameSite=Strict.
  if (!session && request.method !== 'GET') return sendPage(response, 403, 'This form is not from here');
  request.session = session ?? beginSession(response);
  next();
});

portal.get('/', async ({ session }, response) => {
  const rows = await Promise.all(
    session.apps.map(async (id) => {
      const { body } = await valetkey('GET', `/clients/${encodeURIComponent(id)}`);
      return `<li>${html(body.name ?? id)} (${html(id)}), ${html(body.status ?? 'unknown')}</li>`;
    }),
  );
  const { problem = '' } = session;
  delete session.problem;
  sendPage(
    response,
    200,
    'Your apps',
    `<ul>${rows.join('')}</ul><p role="alert">${html(problem)}</p>
    <form method="post" action="/apps"><input type="hidden" name="order" value="${randomBytes(16).toString('hex')}">
    <label>Name <input name="name" required maxlength="100"></label>
    <label>Redirect URI <input name="redirect_uri" type="url" required></label>
    <button>Register an app</button></form>`,
  );
});

portal.post('/apps', async ({ session, body: { name = '', redirect_uri = '', order = '' } }, response) => {
  if (!order) return sendPage(response, 400, 'Open the form again: a part of it is missing');
  // The key is that of the form in this session: a second press of the button registers no second app.
  const key = createHmac('sha256', session.key).update(String(order)).digest('hex');
  const app = { name: String(name).trim(), redirect_uris: [String(redirect_uri)], hand_over: true };
  const { status, body } = await valetkey('POST', '/clients', app, { 'Idempotency-Key': key });
  if (status !== 201) {
    session.problem = body.error?.message ?? 'The service cannot be reached. Try again later.';
    return response.redirect(303, '/');
  }
  if (!session.apps.includes(body.client_id)) session.apps.push(body.client_id);
  const address = body.hand_over.pick_up_url;
  sendPage(
    response,
    200,
    `${name} is registered`,
    address === null
      ? '<p>It was registered before, and its address was shown then.</p><p><a href="/">Your apps</a></p>'
      : `<p>Client ID: <code>${html(body.client_id)}</code></p>
        <p><a href="${html(address)}">Make and see its secret</a>: once, until ${html(body.hand_over.expires_at)}.</p>`,
  );
});

portal.listen(Number(PORT), 'localhost', () => console.log(`Portal: http://localhost:${PORT}`));

/** Calls the operators' API. The key needs the rights clients.read, clients.write and clients.secrets. */
async function valetkey(method, path, json, headers = {}) {
  const type = json ? { 'Content-Type': 'application/json' } : {};
  return fetch(`${OPERATOR_URL}/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${OPERATOR_KEY}`, ...type, ...headers },
    ...(json ? { body: JSON.stringify(json) } : {}),
  })
    .then(async (response) => ({ status: response.status, body: await response.json() }))
    .catch((error) => {
      console.error('Valetkey:', error.message); // For the operator. The developer sees only a sentence.
      return { status: 0, body: {} };
    });
}

/** Here stands your own sign-in: whoever gets a session may register apps. */
function beginSession(response) {
  const id = randomBytes(24).toString('base64url');
  const session = { apps: [], key: randomBytes(32) };
  sessions.set(id, session);
  response.cookie('portal', id, { httpOnly: true, sameSite: 'strict' }); // On https: secure as well.
  return session;
}

function sendPage(response, status, title, content = '') {
  const head = `<meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${html(title)}</title>`;
  const style =
    'body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:3rem auto;padding:0 1rem;color:#1d2b2a;background:#f2f7f5}' +
    'label,form{display:block;margin:1rem 0}input,button{font:inherit;padding:.5rem .75rem;box-sizing:border-box}input{width:100%}';
  response
    .status(status)
    .send(`<!doctype html><html lang="en">${head}<style>${style}</style><h1>${html(title)}</h1>${content}`);
}

function html(words) {
  return String(words).replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
