/** ID tokens: the check of one that comes back, and what happens while one waits for its signature. */
import assert from 'node:assert/strict';
import { type KeyObject, sign } from 'node:crypto';
import { test } from 'node:test';
import { Refusal, Unavailable } from '../../../src/oauth/error.ts';
import { accessTokenHash, signingInput, subjectOf } from '../../../src/oauth/openid/id-token.ts';
import { makeSigningKey, openSigningKey, publishedKey } from '../../../src/oauth/openid/signing-key.ts';
import { SigningKeys } from '../../../src/oauth/openid/signing-keys.ts';
import { OpenIdConnect, type Sign } from '../../../src/oauth/protocol/openid-connect.ts';
import { newProtocolTally } from '../../../src/oauth/protocol/protocol-tally.ts';
import { nextGeneration } from '../../../src/oauth/tokens/token-pair.ts';
import { event, sampleClient, sampleGrant } from '../../support/storage.ts';
import { ada, addAccount, openMemory, operator } from '../memory.ts';
import { keyring, lifetimes, NOW, PREFIX } from '../samples.ts';

const ISSUER = 'https://app.test';
const made = await makeSigningKey(keyring, NOW);
const privateKey = openSigningKey(keyring, made) ?? assert.fail();
const keys = [publishedKey(made)];
const claims = { iss: ISSUER, sub: 'usr_ada', aud: 'app_one', exp: 1, iat: 0, at_hash: accessTokenHash('a token') };
const of = { iss: ISSUER, aud: 'app_one' };

const signed = (text: string, key: KeyObject = privateKey) =>
  `${text}.${sign('RSA-SHA256', Buffer.from(text), key).toString('base64url')}`;
const withHeader = (header: object) =>
  signed(`${Buffer.from(JSON.stringify(header)).toString('base64url')}.${signingInput('', claims).split('.')[1]}`);

test('OpenID Connect Core §3.1.3.6: at_hash is the left half of the SHA-256 of the access token', () => {
  // The example of OpenID Connect Core appendix A.3.
  assert.equal(accessTokenHash('jHkWEdUXMU1BwAsC4vtUsZwnNvTIxEl0z9K3vx5KF0Y'), '77QmUPtjPfzWtF2AnpK9RQ');
});

test('OpenID Connect Core §3.1.2.1: an ID token names its user to the app that it was made for, and at its issuer alone', async () => {
  const idToken = signed(signingInput(made.id, claims));
  assert.equal(subjectOf(idToken, keys, of), 'usr_ada');
  assert.equal(subjectOf(idToken, keys, { ...of, aud: 'app_two' }), null);
  assert.equal(subjectOf(idToken, keys, { ...of, iss: 'https://other.test' }), null);
  assert.equal(subjectOf(idToken, [], of), null, 'its key is gone');
  const other = openSigningKey(keyring, await makeSigningKey(keyring, NOW)) ?? assert.fail();
  assert.equal(subjectOf(signed(signingInput(made.id, claims), other), keys, of), null, 'another key signed it');
});

test('RFC 8725 §3.1: only RS256 counts, whatever else a good signature stands under', () => {
  assert.equal(subjectOf(withHeader({ alg: 'RS256', kid: made.id }), keys, of), 'usr_ada');
  for (const alg of ['none', 'HS256', 'PS256', 'rs256', ['RS256'], undefined])
    assert.equal(subjectOf(withHeader({ alg, kid: made.id }), keys, of), null, String(alg));
  for (const kid of [undefined, 'x', null, 1])
    assert.equal(subjectOf(withHeader({ alg: 'RS256', kid }), keys, of), null);
});

async function redemption(t: Parameters<typeof openMemory>[0], sign: (revoke: () => Promise<unknown>) => Sign) {
  const memory = await openMemory(t);
  const { store } = memory;
  await addAccount(memory, ada);
  await store.registerClient(sampleClient({ signIn: true }), event('client_registered'));
  const grant = sampleGrant({ generation: 0, openid: {}, scope: 'openid' });
  await store.issueGrant(grant, event('consent_allowed'));
  const found = (await store.findGrant(grant.id)) ?? assert.fail();
  const tally = newProtocolTally();
  const revoke = () => store.revokeGrant(grant.id, 'user', event('grant_revoked'));
  const openIdConnect = new OpenIdConnect({
    ...{ store, keyring, tally, prefix: PREFIX, issuer: ISSUER, now: () => NOW, sign: sign(revoke) },
    activity: { count: () => {} },
    signingKeys: new SigningKeys({ store, keyring, now: () => NOW, actor: operator }),
  });
  const idToken = await openIdConnect.idToken(found, nextGeneration(grant, keyring.currentKeyId, lifetimes, NOW));
  return { idToken, tally };
}

const signNow: Sign = async (text, key) => sign('RSA-SHA256', Buffer.from(text), key).toString('base64url');

test('an app that is removed while its ID token waits for the signature gets none', async (t) => {
  const { idToken } = await redemption(t, (revoke) => async (text, key) => {
    await revoke();
    return signNow(text, key);
  });
  assert.ok(idToken instanceof Refusal && idToken.code === 'invalid_grant');
  const { idToken: other, tally } = await redemption(t, () => signNow);
  assert.equal(typeof other, 'string');
  assert.deepEqual([tally.idTokens, tally.refusedIdTokens], [1, 0]);
});

test('too many ID tokens at once are refused for a second, and counted', async (t) => {
  const { idToken, tally } = await redemption(t, () => async () => null);
  assert.ok(idToken instanceof Unavailable && idToken.retryAfter === 1);
  assert.deepEqual([tally.idTokens, tally.refusedIdTokens], [0, 1]);
});
