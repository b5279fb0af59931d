// Passkeys of operators on the wire: enrollment, sign-in and confirmation, and every answer that must not be taken.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MAX_PASSKEYS } from '../../../src/operator/access/passkey.ts';
import { Browser } from '../../support/browser.ts';
import {
  addOperator,
  addSignInAddress,
  enrolledOperator,
  postOwn,
  startConsole,
  usePasskey,
} from '../../support/console.ts';
import { sampleChallenge, samplePasskey } from '../../support/operators.ts';
import { ceremonyIn, SoftPasskey } from '../../support/passkeys.ts';
import { freePort } from '../../support/service.ts';
import { event } from '../../support/storage.ts';

test('operators §2: an operator enrolls at a one-time address, is signed in, and signs in again with the passkey', async (t) => {
  const service = await startConsole(t);
  const { operatorUrl } = service;
  const { operator, enrollUrl } = await addOperator(service, 'support', 'Ann');
  const [browser, passkey] = [new Browser(), new SoftPasskey(operatorUrl)];
  const page = await browser.get(enrollUrl);
  assert.equal(page.status, 200, page.body);
  assert.match(page.body, /Welcome, <bdi>Ann<\/bdi>/);
  const done = await postOwn(browser, enrollUrl, { answer: passkey.create(page), name: 'laptop' });
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/'], done.body);
  const home = await browser.get(`${operatorUrl}/`);
  assert.match(home.body, /Hello, <bdi>Ann<\/bdi>/);
  assert.match(home.body, /You have one passkey/);
  const elsewhere = new Browser();
  assert.equal((await usePasskey(elsewhere, passkey, `${operatorUrl}/sign-in`)).status, 303);
  assert.match((await elsewhere.get(`${operatorUrl}/`)).body, /Hello, <bdi>Ann/);
  const events = (await service.installation.audit.listAuditEvents({ limit: 10 })).map(({ action, actor, detail }) => [
    action,
    actor.id === operator.id,
    detail,
  ]);
  assert.deepEqual(events.slice(0, 2), [
    ['operator_signed_in', true, '{"passkey":"laptop"}'],
    ['operator_passkey_added', true, '{"passkey":"laptop","enrolled":true}'],
  ]);
});

test('operators §2: a clock that is set back lengthens no one-time address', async (t) => {
  const service = await startConsole(t);
  service.clock.advance(24 * 3600);
  const { operator, enrollUrl } = await addOperator(service);
  const signInUrl = await addSignInAddress(service, operator);
  const browser = new Browser();
  const statuses = async () => [(await browser.get(enrollUrl)).status, (await browser.get(signInUrl)).status];
  service.clock.advance(-60);
  assert.deepEqual(await statuses(), [200, 200], 'a small step');
  service.clock.advance(-1);
  assert.deepEqual(await statuses(), [400, 400]);
});

test('operators §2: a passkey that is known already or beyond 20 is refused with the remedy, and the address still works', async (t) => {
  const service = await startConsole(t);
  const { store } = service.installation.operators;
  const { browser, passkey, operator } = await enrolledOperator(service);
  const adding = `${service.operatorUrl}/passkeys/new`;
  const { enrollUrl, operator: other } = await addOperator(service, 'read', 'Bob');
  const create = async (who: Browser, url: string, made: SoftPasskey) =>
    postOwn(who, url, { answer: made.create(await who.get(url)), name: 'my stick' });
  const bob = new Browser();
  for (const known of [await create(browser, adding, passkey), await create(bob, enrollUrl, passkey)]) {
    assert.equal(known.status, 400);
    assert.match(known.body, /enrolled already.*create one on another device/s);
    assert.match(known.body, /value="my stick"/);
  }
  const session = (await store.listOperatorSessions(operator.id))[0]?.digest ?? assert.fail();
  const fill = async (operatorId: string, digest: Buffer) => {
    while ((await store.listPasskeys(operatorId)).length < MAX_PASSKEYS)
      await store.addPasskey(samplePasskey({ operatorId }), digest, sampleChallenge(), event('operator_passkey_added'));
  };
  await fill(operator.id, session);
  await postOwn(new Browser(), await addSignInAddress(service, other));
  await fill(other.id, (await store.listOperatorSessions(other.id))[0]?.digest ?? assert.fail());
  const next = new SoftPasskey(service.operatorUrl);
  for (const full of [await create(browser, adding, next), await create(bob, enrollUrl, next)]) {
    assert.equal(full.status, 400);
    assert.match(full.body, new RegExp(`${MAX_PASSKEYS} passkeys.*Remove one first`, 's'));
  }
  for (const { id } of [operator, other]) {
    const [first] = await store.listPasskeys(id);
    await store.removePasskey(first?.id ?? '', id, session, event('operator_passkey_removed'));
  }
  assert.equal((await create(bob, enrollUrl, next)).status, 303);
});

test('operators §2: a one-time address to sign in at binds one browser, for an hour', async (t) => {
  const service = await startConsole(t);
  const { operator } = await addOperator(service);
  const url = await addSignInAddress(service, operator);
  const browser = new Browser();
  const page = await browser.get(url);
  assert.match(page.body, /once, for an hour/);
  assert.equal((await browser.get(url)).status, 200, 'GET uses nothing');
  assert.equal((await postOwn(browser, url)).status, 303);
  assert.match((await browser.get(`${service.operatorUrl}/`)).body, /one-time link/);
  assert.equal((await postOwn(new Browser(), url)).status, 400, 'used');
  for (let minutes = 0; minutes < 60; minutes += 20) {
    assert.equal((await browser.get(`${service.operatorUrl}/`)).status, 200);
    service.clock.advance(20 * 60);
  }
  assert.equal((await browser.get(`${service.operatorUrl}/`)).status, 303);
});

test('operators §2: a confirmation and a sign-in give the session a new token; the old one is dead', async (t) => {
  const service = await startConsole(t);
  const home = `${service.operatorUrl}/`;
  const { browser, passkey } = await enrolledOperator(service);
  const copied = () => {
    const copy = new Browser();
    for (const [name, value] of browser.cookies) copy.cookies.set(name, value);
    return copy;
  };
  const before = copied();
  const confirmed = await usePasskey(browser, passkey, `${home}confirm?continue=/operators`);
  assert.deepEqual([confirmed.status, confirmed.headers.get('location')], [303, '/operators']);
  assert.equal((await before.get(home)).status, 303);
  assert.equal((await browser.get(home)).status, 200);

  const otherTab = copied();
  otherTab.cookies.delete('operator_session');
  const page = await otherTab.get(`${home}sign-in`);
  const between = copied();
  assert.equal((await postOwn(browser, `${home}sign-in`, { answer: passkey.get(page) })).status, 303);
  assert.equal((await between.get(home)).status, 303);
  assert.equal((await browser.get(home)).status, 200);
});

test('operators §2: whoever signs in, by passkey or one-time address, ends the session that the browser had', async (t) => {
  const service = await startConsole(t);
  const home = `${service.operatorUrl}/`;
  const [ann, bob] = [await enrolledOperator(service, 'admin', 'Ann'), await enrolledOperator(service, 'read', 'Bob')];
  const { browser } = ann;
  const sessions = async ({ id }: { id: string }) =>
    (await service.installation.operators.store.listOperatorSessions(id)).length;
  /** In another tab, whose page was opened before the session began. */
  const signIn = async ({ passkey }: { passkey: SoftPasskey }) => {
    const session = String(browser.cookies.get('operator_session'));
    browser.cookies.delete('operator_session');
    const page = await browser.get(`${home}sign-in`);
    browser.cookies.set('operator_session', session);
    return postOwn(browser, `${home}sign-in`, { answer: passkey.get(page) });
  };
  assert.equal((await signIn(bob)).status, 303, 'another operator');
  assert.match((await browser.get(home)).body, /Hello, <bdi>Bob/);
  assert.deepEqual([await sessions(ann.operator), await sessions(bob.operator)], [0, 2]);
  service.clock.advance(31 * 60);
  assert.equal((await usePasskey(browser, ann.passkey, `${home}sign-in`)).status, 303, 'after the other’s idled out');
  service.clock.advance(31 * 60);
  assert.equal((await usePasskey(browser, ann.passkey, `${home}sign-in`)).status, 303, 'after one’s own idled out');
  assert.deepEqual([await sessions(ann.operator), await sessions(bob.operator)], [1, 1]);

  assert.equal((await postOwn(browser, await addSignInAddress(service, bob.operator))).status, 303);
  assert.deepEqual([await sessions(ann.operator), await sessions(bob.operator)], [0, 2], 'an address to sign in at');
  const { enrollUrl, operator } = await addOperator(service, 'read', 'Cem');
  const answer = new SoftPasskey(service.operatorUrl).create(await browser.get(enrollUrl));
  assert.equal((await postOwn(browser, enrollUrl, { answer })).status, 303);
  assert.deepEqual([await sessions(bob.operator), await sessions(operator)], [1, 1], 'an address to enroll at');
});

test('operators §2: a one-time address works for its purpose alone, for 24 hours or 5 minutes, and a newer one ends it', async (t) => {
  const service = await startConsole(t);
  const { operator, enrollUrl } = await addOperator(service);
  const signInUrl = await addSignInAddress(service, operator);
  const works = async (url: string) => {
    const { status } = await new Browser().get(url);
    assert.ok(status === 200 || status === 400);
    return status === 200;
  };
  const [enrolling, signingIn] = [enrollUrl, signInUrl].map((url) => new URL(url).search);
  assert.deepEqual([await works(enrollUrl), await works(signInUrl)], [true, true]);
  assert.equal(await works(`${service.operatorUrl}/enroll${signingIn}`), false);
  assert.equal(await works(`${service.operatorUrl}/sign-in${enrolling}`), false);
  assert.equal((await postOwn(new Browser(), `${service.operatorUrl}/sign-in${enrolling}`)).status, 400);
  const newer = await addSignInAddress(service, operator);
  assert.deepEqual([await works(signInUrl), await works(newer)], [false, true]);
  service.clock.advance(299);
  assert.equal(await works(newer), true);
  service.clock.advance(1);
  assert.equal(await works(newer), false);
  assert.equal((await postOwn(new Browser(), newer)).status, 400);
  service.clock.advance(24 * 3600 - 301);
  assert.equal(await works(enrollUrl), true);
  service.clock.advance(1);
  assert.equal(await works(enrollUrl), false);
});

test('operators §2: the end of all sessions, by a command or a page, ends the one-time links of the operator', async (t) => {
  const service = await startConsole(t);
  const { registry } = service.installation.operators;
  const { browser } = await enrolledOperator(service);
  const ends: Record<string, (id: string) => Promise<unknown>> = {
    command: (id) => registry.endSessions(id, service.installation.operator),
    page: (id) => postOwn(browser, `${service.operatorUrl}/operators/${id}/end-sessions`),
  };
  for (const [face, end] of Object.entries(ends)) {
    const { operator, enrollUrl } = await addOperator(service, 'read', face);
    const links = [enrollUrl, await addSignInAddress(service, operator)];
    const opened = await browser.get(enrollUrl);
    await end(operator.id);
    for (const link of links) assert.equal((await new Browser().get(link)).status, 400, face);
    const answer = new SoftPasskey(service.operatorUrl).create(opened);
    assert.equal((await postOwn(browser, enrollUrl, { answer })).status, 400, `${face}, a page that was open`);
    assert.deepEqual(await service.installation.operators.store.listPasskeys(operator.id), []);
  }
});

test('operators §2: a session ends after 30 minutes without a request, and 12 hours after its sign-in, confirmed or not', async (t) => {
  const service = await startConsole(t);
  const { browser, passkey } = await enrolledOperator(service);
  const home = `${service.operatorUrl}/`;
  for (let minutes = 0; minutes < 12 * 60 - 20; minutes += 20) {
    service.clock.advance(20 * 60);
    assert.equal((await usePasskey(browser, passkey, `${home}confirm`)).status, 303, `after ${minutes} minutes`);
    assert.equal((await browser.get(home)).status, 200);
  }
  service.clock.advance(20 * 60);
  assert.equal((await browser.get(home)).status, 303);
  await usePasskey(browser, passkey, `${home}sign-in`);
  service.clock.advance(29 * 60);
  assert.equal((await browser.get(home)).status, 200);
  service.clock.advance(30 * 60);
  assert.equal((await browser.get(home)).status, 303);
});

test('operators §1: behind TLS, the cookies are tied to the host and to https', async (t) => {
  const service = await startConsole(t, {
    VALETKEY_OPERATOR_URL: 'https://localhost',
    VALETKEY_OPERATOR_LISTEN: `localhost:${await freePort()}`,
  });
  const { enrollUrl } = await addOperator(service);
  const { pathname, search } = new URL(enrollUrl);
  const inside = `http://${service.operatorListen}${pathname}${search}`;
  const [browser, passkey] = [new Browser(), new SoftPasskey('https://localhost')];
  const answer = passkey.create(await browser.get(inside));
  const headers = { 'Sec-Fetch-Site': 'same-origin', Origin: 'https://localhost' };
  const done = await browser.post(inside, { answer }, headers);
  assert.equal(done.status, 303, done.body);
  const [cookie = ''] = done.headers.getSetCookie();
  assert.match(
    cookie,
    /^__Host-operator_session=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
  );
  assert.equal(done.headers.get('strict-transport-security'), 'max-age=31536000');
});

test('WebAuthn L3 §14.6.1: the user handle is the operator’s id, and the options hold no more of an operator than the name', async (t) => {
  const service = await startConsole(t);
  const { operator, enrollUrl } = await addOperator(service, 'admin', 'Ann');
  const { user, attestation, authenticatorSelection } = ceremonyIn(await new Browser().get(enrollUrl));
  const id = Buffer.from(operator.id).toString('base64url');
  assert.deepEqual(user, { id, name: 'Ann', displayName: 'Ann' });
  assert.equal(attestation, 'none');
  const { residentKey, userVerification } = authenticatorSelection as Record<string, unknown>;
  assert.deepEqual([residentKey, userVerification], ['required', 'required']);
});

test('WebAuthn L3 §7.2: the backup state is stored anew at each use', async (t) => {
  const service = await startConsole(t);
  const { operator, passkey } = await enrolledOperator(service);
  const stored = async () => {
    const [first] = await service.installation.operators.store.listPasskeys(operator.id);
    return [first?.isBackedUp, first?.lastUsedAt];
  };
  assert.deepEqual(await stored(), [false, null]);
  passkey.isBackedUp = true;
  service.clock.advance(60);
  await usePasskey(new Browser(), passkey, `${service.operatorUrl}/sign-in`);
  assert.deepEqual(await stored(), [true, service.clock.now()]);
});
