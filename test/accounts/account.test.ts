import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  emailKey,
  emailProblem,
  newAccountId,
  personNameProblem,
  usernameProblem,
} from '../../src/accounts/people/account.ts';

test('RFC 9700 §4.15: an account’s id is random and looks like no client’s', () => {
  const ids = Array.from({ length: 1000 }, newAccountId);
  for (const id of ids) assert.match(id, /^usr_[0-9a-hjkmnp-tv-z]{16}$/);
  assert.equal(new Set(ids).size, 1000);
});

const keys: [string, string][] = [
  ['Ada@Example.COM', 'ada@example.com'],
  [' ada@example.com\n', 'ada@example.com'],
  ['e\u0301va@example.com', '\u00e9va@example.com'],
  ['\u00c9va@example.com', '\u00e9va@example.com'],
];
for (const [email, key] of keys) {
  test(`${JSON.stringify(email)} is looked up and counted as ${key}`, () => {
    assert.equal(emailKey(email), key);
  });
}

test('the key of a key is that key, so that there is one counter for one account', () => {
  for (const email of ['\u0386\u0345@example.com', '\u0130@example.com', '\u03aa\u0301@example.com', 'ẞ@example.com'])
    assert.equal(emailKey(emailKey(email)), emailKey(email), email);
  const someText = fc.array(fc.integer({ min: 0, max: 0x2fff })).map((points) => String.fromCodePoint(...points));
  fc.assert(fc.property(someText, (email) => assert.equal(emailKey(emailKey(email)), emailKey(email))));
});

const emails: [string, boolean][] = [
  ['ada@example.com', true],
  ['ada+tag@sub.example.co', true],
  ['éva@bücher.example', true],
  [`${'x'.repeat(64)}@example.com`, true],
  [`${'x'.repeat(65)}@example.com`, false],
  [`a@${'x'.repeat(250)}.com`, false],
  ['ada', false],
  ['ada@', false],
  ['@example.com', false],
  ['ada@example', false],
  ['ada@example.', false],
  ['ada@@example.com', false],
  ['ada@b@example.com', false],
  ['ada love@example.com', false],
  [' ada@example.com', false],
  ['ada@example.com\n', false],
  ['ada\0@example.com', false],
  ['ada\u202e@example.com', false],
  ['ada\u200b@example.com', false],
  ['', false],
];
for (const [email, good] of emails) {
  test(`interface: ${JSON.stringify(email.slice(0, 30))} (${email.length}) is ${good ? 'an' : 'no'} email address`, () => {
    assert.equal(emailProblem(email) === null, good);
  });
}

test('design: an absurd email address is refused quickly', () => {
  const before = process.threadCpuUsage();
  for (const text of ['a@'.repeat(500_000), `a@${'.'.repeat(1_000_000)}`, `a@${'a.'.repeat(120)} `]) emailProblem(text);
  assert.ok(process.threadCpuUsage(before).user < 500_000);
});

const names: [string, boolean][] = [
  ['Ada Lovelace', true],
  ['عبد الله', true],
  ['李', true],
  ['👩‍🔬 Ada', true],
  ['x'.repeat(100), true],
  ['😀'.repeat(100), true],
  ['x'.repeat(101), false],
  ['', false],
  [' ', false],
  [' Ada', false],
  ['Ada ', false],
  ['Ada\nLovelace', false],
  ['Ada\0', false],
  ['Ada\u202eecalevoL', false],
  ['Ada\u2066', false],
  ['Ada\u2028Lovelace', false],
  ['\u200b', false],
  ['\u200e\u2060', false],
  ['Ada\ud800', false],
];
for (const [name, good] of names) {
  test(`${JSON.stringify(name.slice(0, 30))} (${name.length}) is ${good ? 'a' : 'no'} person’s name`, () => {
    assert.equal(personNameProblem(name) === null, good);
  });
}

const usernames: [string, boolean][] = [
  ['ada', true],
  ['7', true],
  ['ada.love-lace_1', true],
  ['x'.repeat(39), true],
  ['x'.repeat(40), false],
  ['', false],
  ['Ada', false],
  ['.ada', false],
  ['-ada', false],
  ['ada@example', false],
  ['ada ', false],
  ['ada\n', false],
  ['éva', false],
];
for (const [username, good] of usernames) {
  test(`interface: ${JSON.stringify(username)} is ${good ? 'a' : 'no'} user name`, () => {
    assert.equal(usernameProblem(username) === null, good);
  });
}
