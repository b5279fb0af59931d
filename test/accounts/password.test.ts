import assert from 'node:assert/strict';
import { test } from 'node:test';
import commonPasswords from '../../src/accounts/passwords/common-passwords.json' with { type: 'json' };
import { isPlausiblePassword, PASSWORD_PROBLEMS, passwordProblem } from '../../src/accounts/passwords/password.ts';

const ADA = { email: 'ada@example.com', name: 'Ada Lovelace', username: null };
const problemOf = (password: string) => passwordProblem(password, ADA, ['Valetkey', '']);

const table: [name: string, password: string, problem: RegExp | null][] = [
  ['7 characters', 'k3vu8ze', /at least 8/],
  ['nothing', '', /at least 8/],
  ['8 characters', 'k3vu8zej', null],
  ['7 emoji, which are 14 units', '🦊🐼🦁🐯🦄🐝🐙', /at least 8/],
  ['8 emoji', '🦊🐼🦁🐯🦄🐝🐙🦀', null],
  ['64 characters', 'k3vu8zej'.repeat(8), null],
  ['1024 bytes', 'k3vu8zej'.repeat(128), null],
  ['1025 bytes', `${'k3vu8zej'.repeat(128)}x`, /at most 1024/],
  ['1025 bytes in fewer characters', `${'é'.repeat(512)}x`, /at most 1024/],
  ['only spaces between words', 'correct horse battery staple', null],
  ['letters alone', 'qpwnsmalzbx', null],
  ['Unicode', 'пароль-длинный', null],
  ['a NUL inside', 'k3vu8\0zej', /NUL/],
  ['a common one', 'password1', /most common/],
  ['a common one in upper case', 'PASSWORD1', /most common/],
  ['the last common one', 'letmein22', /most common/],
  ['the app’s name', 'valetkey', /hardly more/],
  ['the app’s name with digits', 'Valetkey123', /hardly more/],
  ['digits around the app’s name', '1valetkey2', /hardly more/],
  ['the email address', 'ada@example.com', /hardly more/],
  ['the email address in upper case', 'ADA@EXAMPLE.COM', /hardly more/],
  ['a part of it', 'example1', /hardly more/],
  ['a last name', 'Lovelace!', /hardly more/],
  ['a name within a longer one', 'Lovelace likes looms', null],
];
for (const [name, password, problem] of table) {
  test(`ASVS 6.2: ${name}: ${problem ? 'refused' : 'taken'}`, () => {
    const actual = problemOf(password);
    if (problem) assert.match(actual === null ? '' : PASSWORD_PROBLEMS[actual], problem);
    else assert.equal(actual, null);
  });
}

test('ASVS 6.2.4: the common passwords are thousands, in lower case, and long enough to matter', () => {
  assert.ok(commonPasswords.length >= 3000, String(commonPasswords.length));
  for (const password of commonPasswords) {
    assert.equal(password, password.toLowerCase());
    assert.ok([...password].length >= 8, password);
    assert.notEqual(problemOf(password), null);
  }
});

test('what is too long or empty is not even looked at', () => {
  assert.equal(isPlausiblePassword('x'.repeat(1024)), true);
  assert.equal(isPlausiblePassword('x'.repeat(1025)), false);
  assert.equal(isPlausiblePassword('😀'.repeat(256)), true);
  assert.equal(isPlausiblePassword('😀'.repeat(257)), false);
  assert.equal(isPlausiblePassword('x'.repeat(1_000_000)), false);
  assert.equal(isPlausiblePassword(''), false);
});
