// The first passkey of an operator, made where an act asks for one: the act goes on with it, and nobody else's does.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Browser, type Visit } from '../../support/browser.ts';
import {
  addOperator,
  addSignInAddress,
  confirmInPlace,
  enrolledOperator,
  keptFields,
  postOwn,
  startConsole,
} from '../../support/console.ts';
import { ceremonyIn, SoftPasskey, type Tampered } from '../../support/passkeys.ts';
import type { Lifetime } from '../../support/service.ts';

const FORM = { name: 'Cem', role: 'read' };

/** An admin without a passkey, signed in at a one-time address. */
async function startWithout(t: Lifetime) {
  const service = await startConsole(t);
  const { operator } = await addOperator(service, 'admin', 'Ann');
  const signIn = async (browser = new Browser({ 'Sec-Fetch-Site': 'same-origin' })) => {
    assert.equal((await postOwn(browser, await addSignInAddress(service, operator))).status, 303);
    return browser;
  };
  const { registry, store } = service.installation.operators;
  return {
    ...{ service, operator, signIn, browser: await signIn(), url: `${service.operatorUrl}/operators` },
    passkeys: async () => (await store.listPasskeys(operator.id)).map(({ name }) => name),
    operators: async () => (await registry.list()).map(({ name }) => name).sort(),
  };
}

/** The fields that a page sends with an answer that makes a passkey. */
function withNew(asked: Visit, passkey: SoftPasskey, name: string, tampered: Tampered = {}) {
  const [, answerer = ''] = /name="answerer" value="([^"]*)"/.exec(asked.body) ?? [];
  return { ...keptFields(asked), answerer, answer: passkey.create(asked, tampered), passkey_name: name };
}

/** Must have been asked for the first passkey. */
function assertAsksForFirst({ status, body }: Visit, about: string): void {
  assert.deepEqual(
    [status, /data-ceremony="create"/.test(body), /You need a passkey/.test(body)],
    [403, true, true],
    about,
  );
}

test('operators §2: an operator without a passkey makes the first one where an act asks for it, and the act goes on', async (t) => {
  const { service, operator, browser, url, passkeys, operators } = await startWithout(t);
  const asked = await postOwn(browser, url, FORM);
  assertAsksForFirst(asked, 'at the form');
  assert.match(asked.body, /To add an operator, you need a passkey\./);
  assert.deepEqual(keptFields(asked), { name: ['Cem'], role: ['read'] });
  const { user, authenticatorSelection } = ceremonyIn(asked);
  assert.equal(user?.id, Buffer.from(operator.id).toString('base64url'));
  assert.deepEqual(authenticatorSelection, {
    ...{ residentKey: 'required', userVerification: 'required', requireResidentKey: true },
  });
  const before = new Browser();
  for (const [name, value] of browser.cookies) before.cookies.set(name, value);
  const sent = withNew(asked, new SoftPasskey(service.operatorUrl), 'my laptop');
  const done = await postOwn(browser, url, sent);
  assert.match(done.body, /The link for the new operator/);
  assert.deepEqual([await operators(), await passkeys()], [['Ann', 'Cem'], ['my laptop']]);
  const [, added] = await service.installation.audit.listAuditEvents({ limit: 2 });
  assert.equal(added?.action, 'operator_passkey_added');
  assert.deepEqual(JSON.parse(added.detail ?? ''), { passkey: 'my laptop', confirmed: true });
  assert.equal((await before.get(url)).status, 303, 'the session goes on under a new token alone');
  assert.equal((await browser.get(`${service.operatorUrl}/passkeys/new`)).status, 200, 'and is present');

  const again = await postOwn(browser, url, { ...sent, name: 'Dan' });
  assert.match(again.body, /The link for the new operator/, 'present, it needs no answer');
  service.clock.advance(301);
  const late = await postOwn(browser, url, { ...sent, name: 'Eve' });
  assert.equal(late.status, 400, 'an answer counts once');
  assert.match(late.body, /You have a passkey by now\..*data-ceremony="get"/s);
  assert.deepEqual([await operators(), await passkeys()], [['Ann', 'Cem', 'Dan'], ['my laptop']]);
});

test('operators §2: the page that confirms makes the first passkey too, and leads on', async (t) => {
  const { service, browser, passkeys } = await startWithout(t);
  const url = `${service.operatorUrl}/confirm`;
  const asked = await browser.get(`${url}?continue=/operators`);
  assert.match(asked.body, /You need a passkey.*data-ceremony="create".*name="passkey_name"/s);
  const sent = { continue: '/operators', passkey_name: '', answer: new SoftPasskey(service.operatorUrl).create(asked) };
  const done = await postOwn(browser, url, sent);
  assert.deepEqual([done.status, done.headers.get('location')], [303, '/operators']);
  assert.equal((await passkeys()).length, 1, 'named after the browser');
  assert.equal((await postOwn(browser, `${service.operatorUrl}/operators`, FORM)).status, 200, 'present');
});

test('operators §2: where the first passkey is asked for, a wrong one is not made and the form is kept', async (t) => {
  const { service, browser, url, passkeys, operators } = await startWithout(t);
  const passkey = new SoftPasskey(service.operatorUrl);
  const asked = await postOwn(browser, url, FORM);
  const wrong: Record<string, Tampered> = {
    'no user verification': { without: 4 },
    'no user presence': { without: 1 },
    'another origin': { origin: service.appUrl },
    'another host': { rpId: 'example.com' },
    'another ceremony': { type: 'webauthn.get' },
    'a frame': { crossOrigin: true },
    'a challenge of nobody': { challenge: Buffer.alloc(54).toString('base64url') },
  };
  for (const [about, tampered] of Object.entries(wrong)) {
    const refused = await postOwn(browser, url, withNew(asked, passkey, 'my laptop', tampered));
    assert.deepEqual([refused.status, keptFields(refused)], [400, keptFields(asked)], about);
    assert.match(refused.body, /was not accepted.*value="my laptop"/s, about);
    assert.doesNotMatch(refused.body, /clientDataJSON|attestationObject/, 'an answer is never sent back');
  }
  const unreadable = await postOwn(browser, url, withNew(asked, passkey, 'lap\u202etop'));
  assert.match(unreadable.body, /The name of the passkey was not accepted/);
  for (const answer of ['', '{}', 'null', '{"response":{"attestationObject":1}}', passkey.get(asked)]) {
    const refused = await postOwn(browser, url, { ...withNew(asked, passkey, 'x'), answer });
    assert.equal(refused.status, answer === '' ? 403 : 400, answer);
  }
  service.clock.advance(300);
  const late = await postOwn(browser, url, withNew(asked, passkey, 'my laptop'));
  assert.match(late.body, /open for too long/);
  assert.deepEqual([await operators(), await passkeys()], [['Ann'], []]);
  assert.equal((await postOwn(browser, url, withNew(late, passkey, 'my laptop'))).status, 200);
});

test('WebAuthn L3 §13.4.3: the challenge of a first passkey is of its browser, session, operator and act', async (t) => {
  const { service, operator, signIn, browser, url, passkeys, operators } = await startWithout(t);
  const passkey = new SoftPasskey(service.operatorUrl);
  const asked = await postOwn(browser, url, FORM);
  const sent = withNew(asked, passkey, 'x');
  const { operator: bob } = await addOperator(service, 'admin', 'Bob');
  const { enrollUrl } = await addOperator(service, 'admin', 'Eve');
  const refused = async (who: Browser, where: string, about: string) => {
    const { status } = await postOwn(who, where, sent);
    assert.ok(status === 400 || status === 403, `${about}: ${status}`);
    assert.deepEqual(await passkeys(), [], about);
  };
  await refused(browser, `${url}/${operator.id}/reset`, 'another act');
  await refused(browser, `${url}/${bob.id}/disable`, 'another act on another');
  await refused(browser, `${service.operatorUrl}/confirm`, 'the page that confirms');
  await refused(browser, `${service.operatorUrl}/passkeys/new`, 'the page of one’s own passkeys');
  await refused(browser, enrollUrl, 'a one-time address');
  const adding = await browser.get(`${service.operatorUrl}/passkeys/new`);
  const other = await postOwn(browser, url, { ...sent, answer: passkey.create(adding) });
  assert.equal(other.status, 400, 'a challenge of the page of one’s own passkeys');
  const elsewhere = await signIn();
  await refused(elsewhere, url, 'another browser');
  elsewhere.cookies.set('operator_browser', String(browser.cookies.get('operator_browser')));
  await refused(elsewhere, url, 'another session');
  const bobs = new Browser({ 'Sec-Fetch-Site': 'same-origin' });
  await postOwn(bobs, await addSignInAddress(service, bob));
  bobs.cookies.set('operator_browser', String(browser.cookies.get('operator_browser')));
  await refused(bobs, url, 'another operator, who is asked anew');
  const renamed = await postOwn(bobs, url, { ...sent, answerer: bob.id });
  assert.equal(renamed.status, 400, 'another operator');
  assert.deepEqual(await service.installation.operators.store.listPasskeys(bob.id), []);
  assert.deepEqual(await operators(), ['Ann', 'Bob', 'Eve']);
  assert.equal((await postOwn(browser, url, sent)).status, 200, 'its own');
});

test('operators §2: a first passkey is the first: not beside another, nor in a session that ended meanwhile', async (t) => {
  const { service, operator, signIn, browser, url, passkeys, operators } = await startWithout(t);
  const { operatorUrl } = service;
  const passkey = new SoftPasskey(operatorUrl);
  const [late, ended] = [await signIn(), await signIn()];
  const [asked, askedLate, askedEnded] = [
    await postOwn(browser, url, FORM),
    await postOwn(late, url, FORM),
    await postOwn(ended, url, FORM),
  ];
  const tab = await postOwn(browser, url, { name: 'Dan', role: 'read' });
  assert.equal((await postOwn(browser, url, withNew(asked, passkey, 'laptop'))).status, 200);
  const second = await postOwn(late, url, withNew(askedLate, new SoftPasskey(operatorUrl), 'stick'));
  assert.deepEqual([second.status, /You have a passkey by now/.test(second.body)], [400, true]);
  assert.deepEqual(await passkeys(), ['laptop']);
  assert.equal((await confirmInPlace(late, passkey, second)).status, 400, 'the name is taken');
  assert.deepEqual(await operators(), ['Ann', 'Cem']);
  service.clock.advance(301);
  const other = await postOwn(browser, url, withNew(tab, new SoftPasskey(operatorUrl), 'stick'));
  assert.match(other.body, /You have a passkey by now/, 'another tab of the same browser');
  assert.match((await confirmInPlace(browser, passkey, other)).body, /The link for the new operator/);

  // Sessions that the removal of a passkey ended stay ended.
  const phone = new SoftPasskey(operatorUrl);
  const adding = await browser.get(`${operatorUrl}/passkeys/new`);
  await postOwn(browser, `${operatorUrl}/passkeys/new`, { answer: phone.create(adding), name: 'phone' });
  await postOwn(browser, `${operatorUrl}/passkeys/remove`, { passkey: phone.id });
  const gone = await postOwn(ended, url, withNew(askedEnded, new SoftPasskey(operatorUrl), 'stick'));
  assert.ok(gone.status === 403 || gone.status === 303, String(gone.status));
  const { registry } = service.installation.operators;
  await registry.reset(operator.id, service.installation.operator);
  const after = await postOwn(ended, url, withNew(askedEnded, new SoftPasskey(operatorUrl), 'stick'));
  assert.ok(after.status === 403 || after.status === 303, String(after.status));
  assert.deepEqual([await passkeys(), await operators()], [[], ['Ann', 'Cem', 'Dan']]);
});

test('operators §2: an operator with a passkey makes no other one where an act asks for it', async (t) => {
  const service = await startConsole(t);
  const { operator, browser } = await enrolledOperator(service);
  service.clock.advance(301);
  const asked = await postOwn(browser, `${service.operatorUrl}/operators`, FORM);
  const answer = new SoftPasskey(service.operatorUrl).create({ ...asked, body: asked.body });
  const refused = await postOwn(browser, `${service.operatorUrl}/operators`, {
    ...keptFields(asked),
    answerer: operator.id,
    answer,
  });
  assert.match(refused.body, /You have a passkey by now/);
  assert.equal((await service.installation.operators.store.listPasskeys(operator.id)).length, 1);
});
