import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import { isCodeChallenge, isCodeVerifier, verifiesChallenge } from '../../src/oauth/tokens/pkce.ts';

const VERIFIER = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const challenges: [string, string, boolean][] = [
  ['that of appendix B', CHALLENGE, true],
  ['42 characters', CHALLENGE.slice(1), false],
  ['44 characters', `${CHALLENGE}A`, false],
  ['128 characters', 'A'.repeat(128), false],
  ['padded', `${CHALLENGE}=`, false],
  ['padded within its length', `${CHALLENGE.slice(1)}=`, false],
  ['standard base64 +', `+${CHALLENGE.slice(1)}`, false],
  ['standard base64 /', `/${CHALLENGE.slice(1)}`, false],
  ['a line feed after it', `${CHALLENGE}\n`, false],
  ['not ASCII', `é${CHALLENGE.slice(1)}`, false],
  ['empty', '', false],
];
for (const [name, challenge, good] of challenges) {
  test(`RFC 7636 §4.2: a challenge is ${good ? 'taken' : 'refused'}: ${name}`, () => {
    assert.equal(isCodeChallenge(challenge), good);
  });
}

const verifiers: [string, string, boolean][] = [
  ['that of appendix B', VERIFIER, true],
  ['all unreserved characters', `AZaz09-._~${'x'.repeat(33)}`, true],
  ['43 characters', 'x'.repeat(43), true],
  ['128 characters', 'x'.repeat(128), true],
  ['42 characters', 'x'.repeat(42), false],
  ['129 characters', 'x'.repeat(129), false],
  ['a space', `${'x'.repeat(43)} `, false],
  ['a plus', `${'x'.repeat(43)}+`, false],
  ['a percent sign', `${'x'.repeat(43)}%`, false],
  ['a line feed after it', `${'x'.repeat(43)}\n`, false],
  ['a NUL', `${'x'.repeat(43)}\0`, false],
  ['not ASCII', `${'x'.repeat(43)}é`, false],
  ['empty', '', false],
];
for (const [name, verifier, good] of verifiers) {
  test(`RFC 7636 §4.1: a verifier is ${good ? 'taken' : 'refused'}: ${name}`, () => {
    assert.equal(isCodeVerifier(verifier), good);
  });
}

test('RFC 7636 appendix B: the verifier and the challenge belong together', () => {
  assert.equal(verifiesChallenge(VERIFIER, CHALLENGE), true);
});

test('RFC 7636 §4.6: `plain` is never accepted: a challenge does not verify itself', () => {
  assert.equal(verifiesChallenge(CHALLENGE, CHALLENGE), false);
  assert.equal(verifiesChallenge(VERIFIER, VERIFIER), false);
});

test('RFC 7636 §4.6, §7.2, OAuth 2.1 §7.5.2: only the verifier that the challenge was made from passes', () => {
  const someVerifier = fc.stringMatching(/^[A-Za-z0-9._~-]{43,128}$/);
  fc.assert(
    fc.property(someVerifier, someVerifier, (verifier, other) => {
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      assert.ok(isCodeChallenge(challenge));
      assert.equal(verifiesChallenge(verifier, challenge), true);
      assert.equal(verifiesChallenge(other, challenge), other === verifier);
      assert.equal(
        verifiesChallenge(`${verifier.slice(0, -1)}${verifier.endsWith('x') ? 'y' : 'x'}`, challenge),
        false,
      );
    }),
  );
});
