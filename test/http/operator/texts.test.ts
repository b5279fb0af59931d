// Every text that a person or an operator may set goes through the one rule of names: by the API, which takes JSON, the forms
// of the console, and what the commands call.
import assert from 'node:assert/strict';
import { Readable } from 'node:stream';
import { after, beforeEach, test } from 'node:test';
import { personNameProblem } from '../../../src/accounts/people/account.ts';
import { OperatorError } from '../../../src/oauth/error.ts';
import { nameProblem } from '../../../src/oauth/readable-text.ts';
import { Mistake, readName, readSupportAddress } from '../../../src/settings/setting-readers.ts';
import { Browser } from '../../support/browser.ts';
import { addOperator, enrolledOperator, postOwn, startConsole } from '../../support/console.ts';
import { addKey, call } from '../../support/operator-api.ts';
import { SoftPasskey } from '../../support/passkeys.ts';
import { addClient, addUser } from '../../support/service.ts';
import { addResourceServer, makeKey } from '../../support/standard.ts';

/** Each has few enough characters, and must be refused. */
const UNREADABLE: Readonly<Record<string, string>> = {
  'a line break': 'my\nname',
  'a carriage return': 'my\rname',
  'a line separator': 'my\u2028name',
  'another direction': 'my\u202ename',
  NUL: 'my\0name',
  'a lone first surrogate': 'my\ud83dname',
  'a lone second surrogate': 'my\ude00name',
  'an invisible character': 'my\u2060name',
};
const LONG = '😀'.repeat(201);

const service = await startConsole({ after });
const { installation, operatorUrl } = service;
const { operators, operator: command } = installation;
let key = '';
beforeEach(async () => {
  key = (await addKey(service)).key;
});
const { clientId } = await addClient(service);
const user = await addUser(service);
const api = await addResourceServer(service);
const { jwk } = makeKey();
await installation.identityProviders.register(
  {
    ...{ id: 'photos', name: 'Photos', signInUrl: 'https://photos.test/sign-in', keys: [jwk], ownIds: false },
    ...{ rights: ['sign-in'], homePage: null, sessionLifetime: null },
  },
  command,
);
const admin = await enrolledOperator(service);

const APP = { name: 'Acme', redirect_uris: ['https://acme.test/callback'] };
const patch = (path: string) => (json: object) => call(service, key, path, { method: 'PATCH', json });
const post = (path: string) => (json: object) => call(service, key, path, { method: 'POST', json });
const put = (path: string) => (json: object) => call(service, key, path, { method: 'PUT', json });

/** Each text that a call sets, by its field: where the text stands in the body. */
const CALLS: Readonly<
  Record<string, [send: (json: object) => ReturnType<typeof call>, body: (text: string) => object]>
> = {
  'the name of a new app': [post('/v1/clients'), (name) => ({ ...APP, name })],
  'the name of an app': [patch(`/v1/clients/${clientId}`), (name) => ({ name })],
  'the publisher of an app': [patch(`/v1/clients/${clientId}`), (publisher) => ({ publisher })],
  'the contact of an app': [patch(`/v1/clients/${clientId}`), (text) => ({ contact: `${text}@acme.test` })],
  'the homepage of an app': [patch(`/v1/clients/${clientId}`), (text) => ({ homepage: `https://acme.test/${text}` })],
  'the privacy page of an app': [
    patch(`/v1/clients/${clientId}`),
    (text) => ({ privacy_page: `https://a.test/${text}` }),
  ],
  'a redirect URI': [patch(`/v1/clients/${clientId}`), (text) => ({ redirect_uris: [`https://acme.test/${text}`] })],
  'the scope of an app': [patch(`/v1/clients/${clientId}`), (text) => ({ scopes: [text] })],
  'an app’s own sentence of a scope': [
    patch(`/v1/clients/${clientId}`),
    (sentence) => ({ scopes: [{ name: 'read', sentence, optional: false }] }),
  ],
  'the contact page of an app': [
    patch(`/v1/clients/${clientId}`),
    (text) => ({ contact: `https://acme.test/${text}` }),
  ],
  'the default resource of an app': [
    patch(`/v1/clients/${clientId}`),
    (text) => ({ default_resource: `https://acme.test/${text}` }),
  ],
  'the ID of an app’s key': [patch(`/v1/clients/${clientId}`), (kid) => ({ keys: [{ ...jwk, kid }] })],
  'the changed name of an API': [patch(`/v1/resource-servers/${api.id}`), (name) => ({ name })],
  'a scope of an API': [patch(`/v1/resource-servers/${api.id}`), (text) => ({ scopes: [text] })],
  'the changed name of a product': [patch('/v1/identity-providers/photos'), (name) => ({ name })],
  'the home page of a product': [
    patch('/v1/identity-providers/photos'),
    (text) => ({ home_page: `https://photos.test/${text}` }),
  ],
  'the name of an API': [post('/v1/resource-servers'), (name) => ({ name })],
  'the resource of an API': [
    post('/v1/resource-servers'),
    (text) => ({ name: 'Mail', resource: `https://m.test/${text}` }),
  ],
  'the name of a product': [
    post('/v1/identity-providers'),
    (name) => ({ provider_id: 'product', name, sign_in_url: 'https://product.test/sign-in' }),
  ],
  'the id of a product': [
    post('/v1/identity-providers'),
    (text) => ({ provider_id: text, name: 'Product', sign_in_url: 'https://product.test/sign-in' }),
  ],
  'the sign-in address of a product': [
    post('/v1/identity-providers'),
    (text) => ({ provider_id: 'product', name: 'Product', sign_in_url: `https://product.test/${text}` }),
  ],
  'the sentence of a scope': [put('/v1/scopes/mail'), (en) => ({ sentences: { en } })],
  'the language of a sentence': [put('/v1/scopes/mail'), (text) => ({ sentences: { [text]: 'Read your mail' } })],
  'the name of an invited user': [post('/v1/users'), (name) => ({ email: 'bob@example.com', name })],
  'the email of an invited user': [post('/v1/users'), (text) => ({ email: `${text}@example.com`, name: 'Bob' })],
  'the user name of an invited user': [
    post('/v1/users'),
    (username) => ({ email: 'bob@example.com', name: 'Bob', username }),
  ],
  'the name of a user': [patch(`/v1/users/${user.id}`), (name) => ({ name })],
  'the user name of a user': [patch(`/v1/users/${user.id}`), (username) => ({ username })],
  'the email of a user': [patch(`/v1/users/${user.id}`), (text) => ({ email: `${text}@example.com` })],
};

for (const [what, [send, body]] of Object.entries(CALLS))
  test(`operators §4: ${what} holds nothing that changes or hides what others read, and is not too long`, async () => {
    const before = await installation.audit.lastAuditSequence();
    for (const [about, text] of Object.entries({ ...UNREADABLE, 'too many emoji': LONG })) {
      const { status, body: answer } = await send(body(text));
      assert.equal(status, 400, `${about}: ${JSON.stringify(answer)}`);
      const { code, field } = answer['error'] as Record<string, unknown>;
      assert.deepEqual([code, typeof field], ['invalid_request', 'string'], about);
    }
    assert.equal(await installation.audit.lastAuditSequence(), before, 'nothing was done');
  });

/** The texts of operators, which the API does not set, and those that commands alone set. */
const SET: Readonly<Record<string, (text: string) => unknown>> = {
  'the name of a new operator': (name) => operators.registry.add(name, 'read', command),
  'the name of a new program': (name) => operators.registry.addProgram(name, 'read', command),
  'the name of an operator': (name) => operators.registry.update(admin.operator.id, { name }, command),
  'the name of a key': (name) => operators.registry.addKey(admin.operator.id, { name, rights: ['identify'] }, command),
  'the name of a user': (name) =>
    installation.accounts.add({ email: 'cem@example.com', name, username: null, password: 'a long password' }, command),
};
for (const [what, set] of Object.entries(SET))
  test(`operators §2: ${what} holds nothing that changes or hides what others read, and is not too long`, async () => {
    for (const [about, text] of Object.entries({ ...UNREADABLE, 'too many emoji': LONG }))
      await assert.rejects(async () => set(text), OperatorError, about);
  });

test('operators §2: an imported user name of another system holds nothing that changes or hides what others read', async () => {
  await installation.identityProviders.register(
    {
      ...{ id: 'product', name: 'Photos', signInUrl: 'https://app.example/sign-in', keys: [], ownIds: false },
      ...{ rights: ['sign-in'], homePage: null, sessionLifetime: null },
    },
    command,
  );
  const run = (username: string, subject: string) =>
    installation.imports.run(
      Readable.from([Buffer.from(JSON.stringify({ provider: 'product', subject, username }))]),
      { dryRun: false },
      command,
    );
  for (const [about, username] of Object.entries({ ...UNREADABLE, 'too many emoji': LONG })) {
    const { refused, imported } = await run(username, about.replaceAll(' ', '-'));
    assert.deepEqual([refused, imported], [1, 0], about);
  }
  assert.equal((await run('Ada of Elsewhere', 'ada')).imported, 1);
  const [{ resourceOwnerId: id } = { resourceOwnerId: null }] = await installation.audit.listAuditEvents({ limit: 1 });
  const changed = await installation.accounts.update(id ?? '', { name: 'Ada' }, command);
  assert.equal(changed.username, 'Ada of Elsewhere', 'what another system named otherwise stays');
});

test('Configuration: the name of the product holds nothing that changes or hides what others read', () => {
  for (const text of [...Object.values(UNREADABLE), LONG]) assert.notEqual(typeof readName(text), 'string', text);
  assert.equal(readName('Photos & Co.'), 'Photos & Co.');
});

test('Configuration: the address for help holds nothing that changes or hides what others read', () => {
  const asAddresses = Object.values(UNREADABLE).flatMap((text) => [
    `${text}@photos.test`,
    `https://photos.test/${text}`,
  ]);
  for (const text of asAddresses) assert.ok(readSupportAddress(text) instanceof Mistake, JSON.stringify(text));
  for (const text of ['help@photos.test', 'https://photos.test/über-uns?from=valetkey#top'])
    assert.equal(readSupportAddress(text), text);
  assert.equal(readSupportAddress(''), null);
});

test('operators §2: a passkey’s name holds nothing that changes or hides what others read; a refused one is kept in the form, and enrolls nothing', async () => {
  const { operator, enrollUrl } = await addOperator(service, 'read', 'Dora');
  const adding = `${operatorUrl}/passkeys/new`;
  const passkeys = async (id: string) => (await operators.store.listPasskeys(id)).map(({ name }) => name);
  for (const [id, url, browser, before] of [
    [operator.id, enrollUrl, new Browser(), []],
    [admin.operator.id, adding, admin.browser, ['laptop']],
  ] as const) {
    // A form cannot carry half of a pair; what a browser sends in its place is no name either.
    for (const [about, name] of Object.entries(UNREADABLE).filter(([about]) => !about.includes('surrogate'))) {
      const answer = new SoftPasskey(operatorUrl).create(await browser.get(url));
      const refused = await postOwn(browser, url, { answer, name });
      assert.equal(refused.status, 400, about);
      assert.match(refused.body, /The name of the passkey was not accepted/, about);
      assert.deepEqual(await passkeys(id), before, about);
    }
    const answer = new SoftPasskey(operatorUrl).create(await browser.get(url));
    const kept = await postOwn(browser, url, { answer, name: '\u202eknob' });
    assert.match(kept.body, /name="name" value="\u202eknob"/);
  }
});

test('operators §2: a passkey’s name that is too long is cut between characters', async () => {
  const adding = `${operatorUrl}/passkeys/new`;
  const answer = new SoftPasskey(operatorUrl).create(await admin.browser.get(adding));
  const { status } = await postOwn(admin.browser, adding, { answer, name: `a${LONG}` });
  assert.equal(status, 303);
  const names = (await operators.store.listPasskeys(admin.operator.id)).map(({ name }) => name);
  assert.ok(names.includes(`a${'😀'.repeat(59)}`), names.join(', '));
});

test('operators §2: a name has at most 100 characters, however many bytes each has', () => {
  for (const kind of ['label', 'words'] as const) {
    assert.equal(nameProblem('😀'.repeat(100), kind), null);
    for (const name of [`${'😀'.repeat(99)}ab`, 'a'.repeat(101)])
      assert.match(String(nameProblem(name, kind)), /1 to 100/);
  }
});

test('operators §2: a name is refused for what is wrong with it', () => {
  for (const [name, why] of Object.entries({
    '': /1 to 100/,
    ' a': /no space/,
    '\u200b': /invisible/,
    '\u0301': /a letter/,
  }))
    assert.match(String(nameProblem(name, 'label')), why, JSON.stringify(name));
});

test('operators §2: joiners, which some scripts and emoji need, may stand in the names of people alone', () => {
  for (const name of ['علی\u200cرضا', '👩\u200d🔬 Ada']) assert.equal(personNameProblem(name), null);
  for (const name of ['Ada\u200e', 'Ada\ufeff', 'Ada\u00ad', '\ud83d\u200d\ude00 Ada'])
    assert.notEqual(personNameProblem(name), null);
});
