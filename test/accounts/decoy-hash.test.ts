/** A sign-in costs the same hash whether there is such an account or not: the hashes are counted, since times lie. */
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { after, test } from 'node:test';
import { keyring } from '../oauth/samples.ts';

type Verify = (phc: string, password: string) => Promise<boolean>;
type Verified = { readonly phc: string; readonly password: string };

/** What was hashed to verify it. Whoever imports the library from here on gets the verification that tells. */
const verified: Verified[] = [];
const argon2 = createRequire(import.meta.url)('@node-rs/argon2') as { verify: Verify };
const { verify } = argon2;
argon2.verify = (phc, password) => {
  verified.push({ phc, password });
  return verify(phc, password);
};
const { addUser, startTestService } = await import('../support/service.ts');
const { readForeignHash } = await import('../../src/accounts/passwords/foreign-hash.ts');
const { PasswordHasher } = await import('../../src/accounts/passwords/password-hash.ts');

/** All that decides how long a hash takes. */
const costsOf = ({ phc, password }: Verified) => [phc.replace(/[\w+/]+\$[\w+/]+$/, ''), password.length];

test('ASVS 6.3.8: where there is no such account, or it is disabled, a password is hashed as for any other', async () => {
  const service = await startTestService({ after });
  const { accounts, operator } = service.installation;
  await addUser(service, 'ada@example.com');
  const { id } = await addUser(service, 'disabled@example.com');
  await accounts.disable(id, operator);
  const costs: unknown[] = [];
  for (const email of ['ada@example.com', 'disabled@example.com', 'nobody@example.com', 'no address']) {
    const attempt = { email, password: 'a wrong password', replaces: null, knownBrowser: null };
    const { kind } = await accounts.signIn(attempt, { source: '192.0.2.1', requestId: 'r' });
    costs.push([kind, ...verified.splice(0).map(costsOf)]);
  }
  assert.deepEqual(costs[0], ['wrong_credentials', ['$argon2id$v=19$m=19456,t=2,p=1$', 16]]);
  assert.deepEqual(costs, [costs[0], costs[0], costs[0], costs[0]]);
});

test('ASVS 6.3.8: where a hash waits for being wrapped, a password is hashed as for any other', async () => {
  const hasher = new PasswordHasher(keyring);
  const hash = readForeignHash('$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK');
  assert.ok('madeBy' in hash);
  const costs: unknown[] = [];
  for (const stored of [await hasher.hash('a password'), null, hasher.seal(hash)]) {
    assert.equal(await hasher.verify(stored, 'U*U*', { lane: 'known', share: 'usr_ada' }), false);
    costs.push(verified.splice(0).map(costsOf));
  }
  assert.deepEqual(costs, [costs[0], costs[0], costs[0]]);
});
