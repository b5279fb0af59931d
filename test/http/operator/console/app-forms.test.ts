// The console's forms that register and change an app, on the wire.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { changesIn, readMembers } from '../../../../src/oauth/trail/event-members.ts';
import { CLIENT_SETTINGS } from '../../../../src/operator/fields/client-fields.ts';
import { described } from '../../../../src/operator/fields/setting.ts';
import { formOf, type PostedFields, type Visit } from '../../../support/browser.ts';
import {
  confirmInPlace,
  enrolledOperator,
  keptFields,
  postOwn,
  startConsole,
  type TestConsole,
} from '../../../support/console.ts';
import { textOf } from '../../../support/html.ts';
import { addClient, REDIRECT_URI } from '../../../support/service.ts';
import { addResourceServer } from '../../../support/standard.ts';

const SECRET = /vk_cs_[A-Za-z0-9_-]{40,}/;
/** Seconds after which a passkey must be used again. */
const PAST_PRESENCE = 6 * 60;
const NEW_APP = {
  name: 'Calendar',
  type: 'confidential',
  hand_over: 'secret',
  redirect_uris: REDIRECT_URI,
  consent: 'ask',
  person_fields: ['name', 'email'],
};

/** Settings that the page of an app omits without a value. */
const FULL = {
  ...{ homepage: 'https://example.com/', privacyPage: 'https://example.com/privacy', contact: 'help@example.com' },
  keys: [{ kty: 'OKP', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', kid: 'k1' }],
};

/** Further settings that are open. */
const FURTHER_OPEN = /<details class="part further" open>/;

/** The text of a page, without its markup. */
/** A fact of the page after a registration. */
const factOf = (body: string, name: string) =>
  new RegExp(`<dt>${name}</dt><dd><span class="copyable inline" data-label="${name}"><code[^>]*>([^<]*)</code>`).exec(
    body,
  )?.[1] ?? null;
/** The text that is shown once. */
const onceOf = (body: string) => /<div class="secret copyable"[^>]*><code>([^<]*)<\/code>/.exec(body)?.[1] ?? '';
/** A text field of a form, with its attributes. */
const fieldOf = (body: string, name: string) =>
  new RegExp(`<(?:input|textarea) id="[a-z_]*" name="${name}"[^>]*>`).exec(body)?.[0] ?? '';
/** A hidden field. */
const hidden = (body: string, name: string) => formOf(body, '/apps/').fields[name] ?? '';

async function appsOf({ installation }: TestConsole) {
  const apps = [];
  for await (const page of installation.clients.list({}, null)) apps.push(...page.map(({ client }) => client));
  return apps;
}

async function start(t: Parameters<typeof startConsole>[0], role: 'admin' | 'support' = 'admin') {
  const service = await startConsole(t);
  const { browser, operator, passkey } = await enrolledOperator(service, role);
  const at = `${service.operatorUrl}/apps/new`;
  const send = (url: string, fields: PostedFields): Promise<Visit> => postOwn(browser, url, fields);
  return { service, browser, operator, passkey, at, send };
}

test('operators §7: an app is registered, and its secret is shown once', async (t) => {
  const { service, browser, at, send } = await start(t);
  const form = await browser.get(at);
  assert.equal(form.status, 200);
  const { status, body, headers } = await send(at, {
    ...NEW_APP,
    once: hidden(form.body, 'once'),
    scopes: 'mail.read',
    optional_scopes: ['mail.read', 'mail.send'],
    other_scopes: ' mail.write\tmail.delete ',
    publisher: 'Example Ltd',
    homepage: 'https://example.com/',
    require_pkce: 'true',
  });
  assert.equal(status, 200);
  assert.equal(headers.get('cache-control'), 'no-store');
  const [app] = await appsOf(service);
  assert.ok(app);
  assert.equal(factOf(body, 'Client ID'), app.id);
  assert.match(onceOf(body), SECRET);
  assert.equal(factOf(body, 'Scopes, as “scope” takes them'), 'mail.read mail.write mail.delete');
  assert.equal(factOf(body, 'Authorization URL'), `${service.appUrl}/auth/oauth2/authorize`);
  assert.equal(factOf(body, 'Access Token Request URL'), `${service.appUrl}/api/auth/oauth/token`);
  assert.equal(factOf(body, 'Refresh Token Request URL'), `${service.appUrl}/api/auth/oauth/refreshToken`);
  assert.match(body, new RegExp(`href="/apps/${app.id}"`));
  const { name, type, redirectUris, publisher, homepage, privacyPage, requirePkce, personFields, isChecked } = app;
  assert.deepEqual(
    { name, type, redirectUris, publisher, homepage, privacyPage, requirePkce, personFields, isChecked },
    {
      ...{ name: 'Calendar', type: 'confidential', redirectUris: [REDIRECT_URI], publisher: 'Example Ltd' },
      ...{ homepage: 'https://example.com/', privacyPage: null, requirePkce: true, personFields: ['name', 'email'] },
      isChecked: false,
    },
  );
  assert.deepEqual(
    app.scopes.map((scope) => [scope.name, scope.optional]),
    [
      ['mail.read', true],
      ['mail.write', false],
      ['mail.delete', false],
    ],
    'a scope that is only ticked as optional is none',
  );
});

test('operators §5: with a one-time link no secret exists yet, and the page says how long the link is good', async (t) => {
  const { service, browser, at, send } = await start(t);
  const once = hidden((await browser.get(at)).body, 'once');
  const { body } = await send(at, { ...NEW_APP, once, hand_over: 'link' });
  const [app] = await appsOf(service);
  assert.deepEqual(app?.secrets, []);
  const link = onceOf(body);
  assert.match(link, /pick-up\?token=/);
  const page = await fetch(link);
  assert.equal(page.status, 200);
  const [, until] = /works once, until (.*?) UTC/.exec(textOf(await page.text())) ?? [];
  assert.match(
    textOf(body),
    new RegExp(`It works once, until ${until} UTC. Please tell us if it says that it was used`),
  );
  assert.match(textOf(body), /Email or a direct message is fine if only the developer reads it/);
  assert.match(body, /<a class="button secondary" [^>]*>I have sent it: go to the app</);
});

test('operators §7: an app without a secret gets its addresses, and needs no passkey', async (t) => {
  const { service, at, send } = await start(t);
  service.clock.advance(PAST_PRESENCE);
  const { status, body } = await send(at, { ...NEW_APP, type: 'public', hand_over: 'link' });
  assert.equal(status, 200);
  assert.equal(factOf(body, 'Authorization URL'), `${service.appUrl}/oauth2/authorize`);
  assert.doesNotMatch(body, /pick-up\?token/);
  assert.equal((await appsOf(service))[0]?.type, 'public');
});

test('operators §4: a form that is sent twice registers one app, and shows its secret in the first answer alone', async (t) => {
  const { service, browser, at, send } = await start(t);
  const once = hidden((await browser.get(at)).body, 'once');
  const both = await Promise.all([send(at, { ...NEW_APP, once }), send(at, { ...NEW_APP, once })]);
  assert.deepEqual(
    both.map(({ status }) => status),
    [200, 200],
  );
  assert.equal(both.filter(({ body }) => SECRET.test(body)).length, 1);
  const second = both.find(({ body }) => !SECRET.test(body))?.body ?? '';
  assert.match(textOf(second), /The form was sent twice. One app was registered./);
  assert.equal((await appsOf(service)).length, 1);

  const other = await send(at, { ...NEW_APP, once, name: 'Notes' });
  assert.equal(other.status, 400, 'the way back, and another name');
  assert.match(textOf(other.body), /This form was sent before, with other values/);
  assert.match(fieldOf(other.body, 'name'), /value="Notes"/);
  assert.equal((await send(at, { ...NEW_APP, once: hidden(other.body, 'once'), name: 'Notes' })).status, 200);
  assert.equal((await appsOf(service)).length, 2);
});

test('operators §7: a refused field is named at the top and at the field, and everything that was typed stays', async (t) => {
  const { service, browser, at, send } = await start(t);
  await service.installation.scopes.define('mail.read', { en: 'Read your mail' }, service.installation.operator);
  const typed = {
    ...{ ...NEW_APP, redirect_uris: 'http://client.example/callback', other_scopes: 'b a', scopes: 'mail.read' },
    ...{ optional_scopes: 'mail.read', publisher: '"><script>', contact: 'help@example.com', device_flow: 'true' },
    ...{ once: hidden((await browser.get(at)).body, 'once'), consent: 'remember', person_fields: 'username' },
  };
  const { status, body } = await send(at, typed);
  assert.equal(status, 400);
  assert.match(body, /role="alert".*Nothing happened/s);
  const field = fieldOf(body, 'redirect_uris');
  assert.match(field, /aria-invalid="true"/);
  assert.match(field, /aria-describedby="redirect_uris-hint redirect_uris-problem"/);
  assert.match(body, /id="redirect_uris-problem"/);
  assert.match(body, />\nhttp:\/\/client\.example\/callback<\/textarea>/);
  assert.match(fieldOf(body, 'other_scopes'), /value="b a"/);
  assert.match(fieldOf(body, 'publisher'), /value="&quot;&gt;&lt;script&gt;"/);
  assert.match(fieldOf(body, 'contact'), /value="help@example.com"/);
  const ticked = [...body.matchAll(/name="([^"]*)" value="([^"]*)" checked/g)].map(
    ([, name, value]) => `${name} ${value}`,
  );
  assert.deepEqual(ticked, [
    ...['type confidential', 'hand_over secret', 'scopes mail.read', 'optional_scopes mail.read'],
    ...['person_fields username', 'consent remember', 'device_flow true', 'assertion_audience any'],
  ]);
  assert.equal(hidden(body, 'once'), typed.once);
  assert.deepEqual(await appsOf(service), []);

  assert.match(body, /<a href="#redirect_uris">/);
  assert.match(body, FURTHER_OPEN, 'typed further settings are in sight');
  const plain = await send(at, { ...NEW_APP, redirect_uris: 'http://client.example/callback' });
  assert.doesNotMatch(plain.body, FURTHER_OPEN, 'the defaults are not');

  const unsure = await send(at, { ...NEW_APP, refresh_overlap: '99999' });
  assert.match(unsure.body, /<details class="part further" open>.*id="refresh_overlap-problem"/s);
  const comma = await send(at, { ...NEW_APP, other_scopes: 'a=b' });
  assert.match(fieldOf(comma.body, 'other_scopes'), /aria-invalid="true"/);
});

test('operators §3: secrets, links and trust need presence; the form is kept, and done with the passkey', async (t) => {
  const { service, browser, passkey, at, send } = await start(t);
  service.clock.advance(PAST_PRESENCE);
  const needing = [
    { hand_over: 'secret' },
    { hand_over: 'link' },
    { type: 'public', consent: 'skip' },
    { type: 'public', is_checked: 'true', publisher: 'Example Ltd' },
  ];
  for (const fields of needing) {
    const asked = await send(at, { ...NEW_APP, ...fields });
    assert.equal(asked.status, 403, JSON.stringify(fields));
    assert.deepEqual(await appsOf(service), []);
    const kept = keptFields(asked);
    for (const [name, value] of Object.entries({ ...NEW_APP, ...fields })) assert.deepEqual(kept[name], [value].flat());
  }
  const asked = await send(at, { ...NEW_APP, hand_over: 'link' });
  assert.match(textOf((await confirmInPlace(browser, passkey, asked)).body), /Calendar is registered .* It works once/);
  assert.equal((await appsOf(service)).length, 1);
});

test('operators §3: only an admin registers or changes apps', async (t) => {
  const { service, browser, at, send } = await start(t, 'support');
  const { clientId } = await addClient(service);
  const edit = `${service.operatorUrl}/apps/${clientId}/edit`;
  const answers = [await browser.get(at), await send(at, NEW_APP), await browser.get(edit), await send(edit, NEW_APP)];
  for (const { status, body } of answers) {
    assert.equal(status, 403);
    assert.match(textOf(body), /Your role does not/i);
  }
  assert.equal((await appsOf(service)).length, 1);
});

/** The form of an app that is there, with the fields that a browser would send. */
async function openEdit(t: Parameters<typeof startConsole>[0]) {
  const started = await start(t);
  const { service, browser, send } = started;
  const { clientId } = await addClient(service, {
    ...{ name: 'Calendar', publisher: 'Example Ltd', isChecked: true, personFields: ['email', 'name'] },
    scopes: [
      { name: 'mail.send', sentence: 'Send your letters', optional: true },
      { name: 'mail.read', sentence: null, optional: false },
    ],
  });
  const url = `${service.operatorUrl}/apps/${clientId}/edit`;
  const open = async () => {
    const { body } = await browser.get(url);
    return {
      ...{
        tag: hidden(body, 'tag'),
        shown: hidden(body, 'shown'),
        name: 'Calendar',
        redirect_uris: REDIRECT_URI,
        publisher: 'Example Ltd',
      },
      ...{ scopes: ['mail.send', 'mail.read'], optional_scopes: 'mail.send', person_fields: ['name', 'email'] },
      ...{ is_checked: 'true', consent: 'ask' },
    };
  };
  const app = () => service.installation.clients.show(clientId);
  return { ...started, url, open, app, clientId, save: (fields: PostedFields) => send(url, fields) };
}

test('operators §7: each setting of an app has a field, and a line on its page', async (t) => {
  const { service, browser, at, clientId } = await openEdit(t);
  const [form, page] = [await browser.get(at), await browser.get(`${service.operatorUrl}/apps/${clientId}`)];
  const defaultResource = 'https://mail.example';
  await addResourceServer(service, { resource: defaultResource });
  const all = { ...FULL, defaultResource };
  await service.installation.clients.update(clientId, all, service.installation.operator);
  const full = await browser.get(`${service.operatorUrl}/apps/${clientId}`);
  for (const { member, label } of described(CLIENT_SETTINGS)) {
    assert.match(form.body, new RegExp(` name="${member === 'scopes' ? 'other_scopes' : member}"`), member);
    if (member !== 'name') assert.match(full.body, new RegExp(`<dt>${label}</dt>`), member);
  }
  assert.match(textOf(page.body), /Refresh overlap \d+ s, the default .*Public keys None/);
});

test('operators §7: sign-in is set in the form by a passkey, and changes the default of consent', async (t) => {
  const { service, browser, passkey, open, save, app } = await openEdit(t);
  service.clock.advance(PAST_PRESENCE);
  const asked = await save({ ...(await open()), sign_in: 'true' });
  assert.equal(asked.status, 403);
  assert.equal((await confirmInPlace(browser, passkey, asked)).status, 303);
  const { signIn, consent, id } = await app();
  assert.deepEqual([signIn, consent], [true, 'remember']);
  const page = await browser.get(`${service.operatorUrl}/apps/${id}`);
  assert.match(textOf(page.body), /Sign-in With OpenID Connect/);
  const off = await save({ ...(await open()), sign_in: [] });
  assert.deepEqual([off.status, (await app()).signIn], [303, false]);
});

test('operators §7: a new app with sign-in remembers consent, unless the form names another', async (t) => {
  const { service, browser, at, send } = await start(t);
  for (const [named, consent] of [
    ['ask', 'remember'],
    ['skip', 'skip'],
  ] as const) {
    const once = hidden((await browser.get(at)).body, 'once');
    await send(at, { ...NEW_APP, once, name: `Postcards ${named}`, sign_in: 'true', consent: named });
    const made = (await appsOf(service)).find(({ name }) => name === `Postcards ${named}`);
    assert.deepEqual([made?.signIn, made?.consent], [true, consent]);
  }
});

test('operators §7: keys, durations, audience and external ID are set in the form; a key needs the passkey', async (t) => {
  const { service, browser, passkey, open, save, app } = await openEdit(t);
  const keys = JSON.stringify({ keys: FULL.keys });
  const further = { keys, refresh_overlap: '7', refresh_retry_window: '', assertion_audience: 'issuer' };
  service.clock.advance(PAST_PRESENCE);
  const asked = await save({ ...(await open()), ...further, sees_external_id: 'true' });
  assert.equal(asked.status, 403);
  assert.equal((await confirmInPlace(browser, passkey, asked)).status, 303);
  const { refreshOverlap, refreshRetryWindow, assertionAudience, seesExternalId, ...set } = await app();
  assert.deepEqual([refreshOverlap, refreshRetryWindow, assertionAudience, seesExternalId], [7, null, 'issuer', true]);
  assert.deepEqual(set.keys, FULL.keys);

  const wrong = [
    ['keys', 'no JSON', /keys must be a list of public keys/i],
    ['keys', '{"keys":[{"kid":"a"}]}', /key 1: its kty must be EC, RSA or OKP/i],
    ['refresh_overlap', 'soon', /refresh_overlap must be a whole number of seconds/i],
    ['refresh_overlap', '99999', /refresh overlap must not be longer/],
  ] as const;
  for (const [name, typed, message] of wrong) {
    const { status, body } = await save({ ...(await open()), ...further, sees_external_id: 'true', [name]: typed });
    assert.equal(status, 400, typed);
    assert.match(textOf(body), message);
    assert.match(fieldOf(body, name), /aria-invalid="true"/);
  }
  const older = await save({ ...(await open()), sees_external_id: 'true', contact: 'help@example.com' });
  assert.equal(older.status, 303, 'a form of an earlier release has none of these');
  assert.deepEqual([(await app()).keys, (await app()).refreshOverlap], [FULL.keys, 7]);
});

test('operators §7: an app with keys of its own is registered without a secret', async (t) => {
  const { service, at, send } = await start(t);
  const { status, body } = await send(at, { ...NEW_APP, hand_over: 'link', keys: JSON.stringify(FULL.keys) });
  assert.equal(status, 200);
  assert.doesNotMatch(body, /pick-up\?token/);
  const [app] = await appsOf(service);
  assert.deepEqual([app?.secrets, app?.keys], [[], FULL.keys]);
});

test('operators §7: only what changed is written, and what the form does not show stays', async (t) => {
  const { service, open, save, app, clientId } = await openEdit(t);
  await service.installation.clients.update(clientId, { refreshOverlap: 3 }, service.installation.operator);
  const before = await app();
  service.clock.advance(PAST_PRESENCE);
  const unchanged = await save(await open());
  assert.deepEqual([unchanged.status, unchanged.headers.get('location')], [303, `/apps/${clientId}`]);
  assert.deepEqual(await app(), before);

  const saved = await save({
    ...(await open()),
    contact: 'help@example.com',
    scopes: 'mail.send',
    other_scopes: 'new',
  });
  assert.deepEqual([saved.status, saved.headers.get('location')], [303, `/apps/${clientId}?done=updated`]);
  assert.deepEqual(await app(), {
    ...{ ...before, contact: 'help@example.com', isChecked: false },
    scopes: [
      { name: 'mail.send', sentence: 'Send your letters', optional: true },
      { name: 'new', sentence: null, optional: false },
    ],
  });
  const [event] = await service.installation.audit.listAuditEvents({ clientId, limit: 1 });
  assert.deepEqual(changesIn(readMembers(event?.detail ?? null)), [
    { name: 'contact', removed: [], added: ['help@example.com'] },
    { name: 'scopes', removed: ['mail.read'], added: ['new'] },
    { name: 'is_checked', removed: ['true'], added: ['false'] },
  ]);
});

test('operators §4: a form of an app that somebody else changed writes nothing, keeps what was typed, and shows the present values', async (t) => {
  const { service, open, save, app, clientId } = await openEdit(t);
  const typed = { ...(await open()), name: 'My calendar', contact: 'help@example.com' };
  const { clients, operator } = service.installation;
  await clients.update(clientId, { name: 'Team calendar', requirePkce: true }, operator);
  const late = await save(typed);
  assert.equal(late.status, 400);
  assert.match(textOf(late.body), /Somebody else changed the app while you typed/);
  assert.match(fieldOf(late.body, 'name'), /value="My calendar"/);
  assert.match(fieldOf(late.body, 'contact'), /value="help@example.com"/);
  assert.match(textOf(late.body), /Present value: Team calendar/);
  assert.match(late.body, /name="require_pkce" value="true" checked/, 'what was not touched has its present value');
  assert.equal([...late.body.matchAll(/Present value/g)].length, 2, 'below the name and the contact');
  assert.match(fieldOf(late.body, 'name'), /aria-describedby="name-hint name-present"/);
  assert.equal((await app()).name, 'Team calendar');

  const present = { ...typed, require_pkce: 'true', tag: hidden(late.body, 'tag'), shown: hidden(late.body, 'shown') };
  const names = ['One', 'Two', 'Three', 'Four', 'Five'];
  const many = await Promise.all(names.map((name) => save({ ...present, name })));
  assert.equal(many.filter(({ status }) => status === 303).length, 1, 'of many at once, one');
  const refused = many.filter(({ status }) => status === 400);
  assert.equal(refused.length, 4);
  for (const { body } of refused) assert.match(textOf(body), /Somebody else changed the app while you typed/);
  const told = refused[0]?.body ?? '';
  const again = await save({ ...present, tag: hidden(told, 'tag') });
  assert.equal(again.status, 303);
  const { name, contact, requirePkce } = await app();
  assert.deepEqual([name, contact, requirePkce], ['My calendar', 'help@example.com', true]);
});

test('operators §3: a change that makes trust needs presence; the form is kept, and saved with the passkey', async (t) => {
  const { service, browser, passkey, open, save, app } = await openEdit(t);
  service.clock.advance(PAST_PRESENCE);
  const asked = await save({ ...(await open()), consent: 'skip', contact: 'help@example.com' });
  assert.equal(asked.status, 403);
  assert.equal((await app()).consent, 'ask');
  assert.equal((await confirmInPlace(browser, passkey, asked)).status, 303);
  const { consent, contact } = await app();
  assert.deepEqual([consent, contact], ['skip', 'help@example.com']);
});

test('operators §7: an app that is gone has no form, before and after it was opened', async (t) => {
  const { service, browser, open, save, clientId, url } = await openEdit(t);
  const typed = await open();
  await service.installation.clients.delete(clientId, service.installation.operator);
  const failures = url.replace(/edit$/, 'failures');
  for (const { status, body } of [await save(typed), await browser.get(url), await browser.get(failures)]) {
    assert.equal(status, 404);
    assert.match(body, /href="\/apps">Go to Apps</, 'the way back');
  }
});

test('operators §7: the form of an app with all scopes that it can have stays below 50 KB, and saves', async (t) => {
  const { service, browser, open, save, app, clientId, url } = await openEdit(t);
  const named = (n: number) => `files.${String(n).padStart(3, '0')}.${'x'.repeat(32)}`;
  const sentence = 'Read your files and folders, and those that others share'.padEnd(80, '.');
  const scopes = Array.from({ length: 100 }, (_, n) => ({ name: named(n), sentence, optional: true }));
  const { clients, scopes: defined, operator } = service.installation;
  for (let n = 0; n < 60; n += 1) await defined.define(`defined.${n}`, { en: 'Read your files and folders' }, operator);
  const sizeOf = async (address: string) => Buffer.byteLength((await browser.get(address)).body);
  assert.ok((await sizeOf(`${service.operatorUrl}/apps/new`)) < 50_000);
  await clients.update(clientId, { scopes }, operator);
  const size = await sizeOf(url);
  assert.ok(size < 50_000, `${size} bytes`);
  const names = scopes.map(({ name }) => name);
  const saved = await save({ ...(await open()), scopes: names, optional_scopes: names, contact: 'help@example.com' });
  assert.equal(saved.status, 303);
  const { contact, scopes: kept } = await app();
  assert.deepEqual([contact, kept], ['help@example.com', scopes]);
});

test('operators §7: the form of an app with 20 long redirect URIs stays below 50 KB, and saves', async (t) => {
  const { service, browser, open, save, app, clientId, url } = await openEdit(t);
  const redirectUris = Array.from({ length: 20 }, (_, n) => `https://client.example/${n}/${'a%2F'.repeat(425)}`);
  await service.installation.clients.update(clientId, { redirectUris }, service.installation.operator);
  const size = Buffer.byteLength((await browser.get(url)).body);
  assert.ok(size < 50_000, `${size} bytes`);
  const saved = await save({
    ...(await open()),
    redirect_uris: redirectUris.join('\r\n'),
    contact: 'help@example.com',
  });
  assert.equal(saved.status, 303);
  const { contact, redirectUris: kept } = await app();
  assert.deepEqual([contact, kept], ['help@example.com', redirectUris]);
});

test('operators §7: a form that is refused keeps a chosen scope whose definition was deleted meanwhile', async (t) => {
  const { service, open, save, at, send, clientId } = await openEdit(t);
  const { clients, scopes, operator } = service.installation;
  await scopes.define('new.scope', { en: 'Read your files' }, operator);
  const chosen = { scopes: ['mail.send', 'new.scope'], optional_scopes: 'new.scope' };
  const typed = { ...(await open()), ...chosen };
  await scopes.delete('new.scope', operator);
  await clients.update(clientId, { name: 'Team calendar' }, operator);
  const refused = [await save(typed), await send(at, { ...NEW_APP, ...chosen, redirect_uris: 'http://a.example/' })];
  for (const { status, body } of refused) {
    assert.equal(status, 400);
    for (const field of ['scopes', 'optional_scopes'])
      assert.match(body, new RegExp(`name="${field}" value="new.scope" checked`));
  }
});
