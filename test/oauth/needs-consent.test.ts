/** When the resource owner is asked, and what the form that asks is bound to. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Client, ClientType, ConsentPolicy } from '../../src/oauth/clients/client.ts';
import { PERSON_FIELDS, type PersonField } from '../../src/oauth/grants/person-fields.ts';
import type { Scope } from '../../src/oauth/grants/scope.ts';
import {
  type AuthorizationRequest,
  type Prompt,
  requestFingerprint,
} from '../../src/oauth/protocol/authorization-request.ts';
import { type EarlierConsent, needsConsent, rememberedChoice } from '../../src/oauth/protocol/consent.ts';
import { CHALLENGE, type Changes, type Circumstances, client, FACES, LETTERS, pkce, R1, valid } from './requests.ts';

const policies: ConsentPolicy[] = ['ask', 'remember', 'skip'];
const types: ClientType[] = ['confidential', 'public'];
const https = 'https://one.test/cb';
const appBound = ['http://127.0.0.1:51234/cb', 'http://[::1]/cb', 'http://localhost:3000/cb', 'com.example.app:/cb'];
const prompts: Prompt[][] = [[], ['none'], ['login'], ['consent'], ['login', 'consent']];
/** What may be granted already to a client that asks for read and write. */
const grants: Record<string, string[] | null> = {
  nothing: null,
  'a grant without scopes': [],
  'a part': ['read'],
  'something else': ['admin'],
  all: ['write', 'read'],
  more: ['read', 'admin', 'write'],
};
const covering = ['all', 'more'];
/** A person who has all fields. */
const ada = {
  username: 'ada',
  email: 'ada@example.com',
  emailVerified: true,
  name: 'Ada',
  avatarUrl: 'https://one.test/ada.png',
};

/** What was decided before, with all of the person. */
function earlier(granted: readonly string[], leftOut: readonly string[] = []): EarlierConsent {
  return { granted, leftOut, personFields: PERSON_FIELDS };
}

function request(
  type: ClientType,
  consent: ConsentPolicy,
  redirectUri: string,
  prompt: Prompt[],
): AuthorizationRequest {
  return { ...valid('standard'), client: { ...client, type, consent }, redirectUri, prompt };
}

/** All circumstances, with whether somebody is asked in them. */
function* everyCase() {
  for (const consent of policies)
    for (const type of types)
      for (const redirectUri of [https, ...appBound])
        for (const prompt of prompts)
          for (const [name, granted] of Object.entries(grants))
            yield {
              ...{ consent, type, redirectUri, prompt, name },
              asked: needsConsent(request(type, consent, redirectUri, prompt), granted && earlier(granted), ada),
            };
}

test('design: a client whose policy is to ask asks each time, whatever is granted already', () => {
  for (const { consent, asked } of everyCase()) if (consent === 'ask') assert.equal(asked, true);
});

test('OpenID Connect Core §3.1.2.1: prompt=consent asks each time, whatever the policy', () => {
  for (const { prompt, asked } of everyCase()) if (prompt.includes('consent')) assert.equal(asked, true);
});

test('RFC 8252 §8.6, RFC 6749 §10.2, OAuth 2.1 §7.3.1: for a public client whose answer another app on the device could catch somebody is asked each time', () => {
  for (const { type, redirectUri, asked } of everyCase())
    if (type === 'public' && redirectUri !== https) assert.equal(asked, true, redirectUri);
});

test('design: else remember asks unless what is granted covers the request, and skip never asks', () => {
  let counted = 0;
  for (const { consent, type, redirectUri, prompt, name, asked } of everyCase()) {
    if (consent === 'ask' || prompt.includes('consent') || (type === 'public' && redirectUri !== https)) continue;
    assert.equal(asked, consent === 'remember' && !covering.includes(name), `${consent} ${type} ${prompt} ${name}`);
    counted += 1;
  }
  assert.equal(counted, 2 * (5 + 1) * 3 * 6, 'two policies, six clients, three prompts, six grants');
});

test('design: a request without scopes is covered by any live grant, and by nothing less', () => {
  const asking = { ...request('confidential', 'remember', https, []), scope: [] };
  assert.equal(needsConsent(asking, earlier([]), ada), false);
  assert.equal(needsConsent(asking, earlier(['read']), ada), false);
  assert.equal(needsConsent(asking, null, ada), true);
});

test('RFC 6749 §3.3: what was left out is decided as long as it may be left out, and is not granted unasked', () => {
  const [read, write] = client.scopes as [Scope, Scope];
  const asking = request('confidential', 'remember', https, []);
  const scopes = [read, write].map((scope) => ({ ...scope, optional: true }));
  const cases: [
    what: string,
    scope: string[],
    granted: string[],
    leftOut: string[],
    asked: boolean,
    chosen: string[],
  ][] = [
    ['one allowed, one left out', ['read', 'write'], ['read'], ['write'], false, ['read']],
    ['left out after it was allowed', ['read', 'write'], ['read', 'write'], ['write'], false, ['read']],
    ['all left out', ['write'], ['read'], ['write'], true, []],
    ['one was never asked for', ['read', 'write'], ['read'], [], true, ['read', 'write']],
  ];
  for (const [what, scope, granted, leftOut, asked, chosen] of cases) {
    assert.equal(
      needsConsent({ ...asking, scope, client: { ...asking.client, scopes } }, earlier(granted, leftOut), ada),
      asked,
      what,
    );
    assert.deepEqual(rememberedChoice(scope, { leftOut }), chosen, what);
  }
  assert.equal(needsConsent(asking, earlier(['read'], ['write']), ada), true, 'it is required by now');
});

test('more of the person is asked for, and less is not', () => {
  const asking = request('confidential', 'remember', https, []);
  const before = { ...earlier(['read', 'write']), personFields: ['name', 'email'] as const };
  const asked = (...personFields: PersonField[]) => needsConsent({ ...asking, personFields }, before, ada);
  assert.deepEqual([asked('name', 'email'), asked('name'), asked()], [false, false, false]);
  assert.deepEqual([asked('name', 'email', 'username'), asked('avatar_url')], [true, true]);
  const withoutPicture = { ...asking, personFields: ['name', 'avatar_url'] as const };
  assert.equal(needsConsent(withoutPicture, before, ada), true);
  assert.equal(needsConsent(withoutPicture, before, { ...ada, avatarUrl: null }), false, 'nor what the person has not');
  const withoutEmail = { ...asking, personFields: ['name', 'email'] as const };
  const unasked = { ...before, personFields: ['name'] as const };
  assert.equal(needsConsent(withoutEmail, unasked, ada), true);
  assert.equal(
    needsConsent(withoutEmail, unasked, { ...ada, emailVerified: false }),
    false,
    'nor what is not verified',
  );
});

test('the fingerprint of a request differs as soon as anything that Allow would grant differs', () => {
  const other: Client = { ...client, id: 'app_two' };
  const [read, write] = client.scopes as [Scope, Scope];
  const cases: [Changes, Circumstances?][] = [
    [{}],
    [{}, { by: other }],
    [{ redirect_uri: 'https://one.test/other' }],
    [{ state: 'other' }],
    [{ state: 'null', ...pkce }],
    [{ scope: 'read' }],
    [pkce],
    [{ ...pkce, state: undefined }],
    [{ ...pkce, code_challenge: `${CHALLENGE.slice(1)}A` }],
    [{ state: 'some state",["read"],null]' }],
    [{ resource: LETTERS }],
    [{ resource: LETTERS, scope: 'read' }],
    [{}, { by: { ...client, defaultResource: LETTERS } }],
    [{}, { by: { ...client, scopes: [{ ...read, optional: true }, write] } }],
    [{}, { by: { ...client, scopes: [read, { ...write, optional: true }] } }],
  ];
  const prints = cases.map(([changes, circumstances]) => requestFingerprint(valid('standard', changes, circumstances)));
  assert.equal(new Set(prints).size, prints.length);
  assert.equal(requestFingerprint(valid('standard', { extra: 'ignored' })), prints[0]);
  const faces = FACES.map((face) => requestFingerprint(valid(face)));
  assert.notEqual(faces[0], faces[1], 'a form of one face does for no other');
});

test('the fingerprint of a request is equal for what only says how to ask', () => {
  const print = requestFingerprint(valid('standard'));
  for (const changes of [
    { prompt: 'login' },
    { prompt: 'consent' },
    { login_hint: 'ada@example.com' },
    { redirect_uri: R1 },
  ])
    assert.equal(requestFingerprint(valid('standard', changes)), print);
});
