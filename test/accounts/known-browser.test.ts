import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Throttle } from '../../src/accounts/guessing/throttle.ts';
import { KNOWN_BROWSER_LIFETIME, KnownBrowsers } from '../../src/accounts/sign-in/known-browser.ts';
import type { Keyring } from '../../src/oauth/keys/keyring.ts';
import { keyring, NOW, otherKeyring, rotatedKeyring } from '../oauth/samples.ts';

const ada = { id: 'usr_ada', passwordSetAt: NOW - 1 };
const bob = { id: 'usr_bob', passwordSetAt: NOW - 1 };

function browsersOf(ring: Keyring = keyring): KnownBrowsers {
  return new KnownBrowsers(ring, {
    knownBrowsers: new Throttle({ count: 1000, seconds: 600 }),
    knownBrowserFailures: new Throttle({ count: 1000, seconds: 10 * KNOWN_BROWSER_LIFETIME }),
  });
}

const browsers = browsersOf();
const mark = browsers.renew(null, ada, NOW);

test('design: a browser is known to the account that signed in there, and to no other', () => {
  assert.deepEqual(browsers.admit(mark, ada, NOW), { mark, accountId: ada.id });
  for (const account of [bob, { ...ada, id: 'usr_ad' }, { id: '', passwordSetAt: ada.passwordSetAt }, null])
    assert.equal(browsers.admit(mark, account, NOW), null);
  assert.equal(browsers.admit(null, ada, NOW), null);
});

test('design: a mark of before the password was changed is nobody’s', () => {
  assert.equal(browsers.admit(mark, { ...ada, passwordSetAt: NOW }, NOW), null);
});

test('design: a browser is known for a year, whatever it does with its cookie', () => {
  assert.ok(browsers.admit(mark, ada, NOW + KNOWN_BROWSER_LIFETIME * 1000 - 1));
  assert.equal(browsers.admit(mark, ada, NOW + KNOWN_BROWSER_LIFETIME * 1000), null);
});

test('design: a mark that anything was changed in, or that others made, is ignored', () => {
  for (let at = 0; at < mark.length - 1; at += 1) {
    const other = mark[at] === 'A' ? 'B' : 'A';
    assert.equal(browsers.admit(mark.slice(0, at) + other + mark.slice(at + 1), ada, NOW), null, String(at));
  }
  const stranger = browsersOf(otherKeyring).renew(null, ada, NOW);
  for (const text of [stranger, '', '.', '....', 'A'.repeat(51), mark.slice(1), `${mark}x`, ' ', 'x'.repeat(8000)])
    assert.equal(browsers.admit(text, ada, NOW), null, text.slice(0, 60));
});

test('design: after a key rotation the marks that were made before are good', () => {
  assert.ok(browsersOf(rotatedKeyring).admit(mark, ada, NOW));
});

test('design: a browser knows five accounts at most, each once; who signed in longest ago goes', () => {
  let marks: string | null = null;
  const people = Array.from({ length: 6 }, (_, n) => ({ id: `usr_${n}`, passwordSetAt: NOW }));
  for (const [n, person] of [...people, people[3], people[3]].entries()) {
    marks = browsers.renew(marks, person as typeof ada, NOW);
    assert.equal(marks.split('.').length, Math.min(n + 1, 5));
  }
  const known = people.filter((person) => browsers.admit(marks, person, NOW));
  assert.deepEqual(known, people.slice(1));
  assert.equal(marks?.split('.').length, 5);
  assert.ok(String(marks).length < 300, 'and the cookie is small');
});

test('design: a cookie that somebody made long has no more looked at than five marks', () => {
  const marks = [...Array.from({ length: 5 }, () => browsers.renew(null, bob, NOW)), mark].join('.');
  assert.ok(browsers.admit(marks, bob, NOW));
  assert.equal(browsers.admit(marks, ada, NOW), null);
});

test('design: a mark tells nothing but when it was made, and no two are alike', () => {
  const bytes = Buffer.from(mark, 'base64url');
  assert.equal(bytes.readUIntBE(0, 6), NOW);
  assert.ok(!bytes.includes('ada') && !mark.includes('ada'));
  assert.notEqual(browsers.renew(null, ada, NOW).slice(8), mark.slice(8));
});
