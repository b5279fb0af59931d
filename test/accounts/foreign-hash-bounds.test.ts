/** The dearest hashes of others that are taken, computed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readForeignHash } from '../../src/accounts/passwords/foreign-hash.ts';
import { derive } from '../../src/accounts/people/foreign-function.ts';

const SALT = 'c2l4dGVlbiBieXRlIHNhbA';
const DIGEST = 'A'.repeat(43);
const BCRYPT = `${'a'.repeat(21)}u${'a'.repeat(31)}`;

test('what is at every bound can be computed', async () => {
  for (const text of [
    `$scrypt$ln=16,r=8,p=1$${SALT}$${DIGEST}`,
    `$scrypt$ln=15,r=1,p=1$${SALT}$${DIGEST}`,
    `$scrypt$ln=1,r=131072,p=4$${SALT}$${DIGEST}`,
    `$scrypt$ln=1,r=58254,p=14$${SALT}$${DIGEST}`,
    `$argon2id$v=19$m=128,t=1,p=16$${SALT}$${'A'.repeat(86)}`,
    `$argon2d$v=16$m=8,t=1,p=1$${'A'.repeat(11)}$${'A'.repeat(22)}`,
    `pbkdf2_sha256$1$a$${DIGEST}=`,
    `$2b$04$${BCRYPT}`,
  ]) {
    const read = readForeignHash(text);
    assert.ok('madeBy' in read, text);
    assert.equal((await derive(read.madeBy, 'a')).length, read.digest.length, text);
  }
});
