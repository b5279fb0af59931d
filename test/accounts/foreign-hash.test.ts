import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ForeignHash, readForeignHash } from '../../src/accounts/passwords/foreign-hash.ts';
import {
  derive,
  functionLabel,
  functionRank,
  isStrong,
  RANKS_OF_FAMILIES,
} from '../../src/accounts/people/foreign-function.ts';

/** Made by others: the tests of their programs, their manuals, or Python's hashlib. */
const MADE_BY_OTHERS: readonly [by: string, password: string, text: string][] = [
  [
    "the reference argon2's README",
    'password',
    '$argon2i$v=19$m=65536,t=2,p=4$c29tZXNhbHQ$RdescudvJCsgt3ub+b+dWRWJTmaaJObG',
  ],
  [
    "the reference argon2's tests, id",
    'password',
    '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  ],
  [
    "the reference argon2's tests, without a version",
    'password',
    '$argon2i$m=65536,t=2,p=1$c29tZXNhbHQ$9sTbSlTio3Biev89thdrlKKiCaYsjjYVJxGAL3swxpQ',
  ],
  ['passuth, argon2d', 'password', '$argon2d$v=19$m=16,t=2,p=1$Mmx3eWR3YkJONkhoTGFnNA$HD1EIj2bqdfwQrJDP+FY6w'],
  [
    'passlib, scrypt',
    'password',
    '$scrypt$ln=16,r=8,p=1$aM15713r3Xsvxbi31lqr1Q$nFNh2CVHVjNldFVKDHDlm4CbdRSCdEBsjjJxD+iCs5E',
  ],
  [
    'Python, scrypt',
    'correct horse',
    '$scrypt$ln=14,r=8,p=2$c2l4dGVlbiBieXRlIHNhbA$NYqfejBcucTaTe9vkBgJSNi8SMwBKb0XqACKyNgYNBo',
  ],
  [
    'Python, PBKDF2',
    'correct horse',
    '$pbkdf2-sha256$i=600000$c2l4dGVlbiBieXRlIHNhbA$vzxFIc5/ycJP9AY/8eboaHDSJ4BGcihLfX9hMTl18bo',
  ],
  [
    'Python, PBKDF2, with its length',
    'correct horse',
    '$pbkdf2-sha256$i=600000,l=32$c2l4dGVlbiBieXRlIHNhbA$vzxFIc5/ycJP9AY/8eboaHDSJ4BGcihLfX9hMTl18bo',
  ],
  ["crypt_blowfish's tests", 'U*U*', '$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK'],
  ["PHP's manual, 2y", 'rasmuslerdorf', '$2y$07$BCryptRequires22Chrcte/VlQH0piJtjXl.0t1XkA8pw9dMXTpOq'],
  ["the bcrypt article's, 2b", 'abc123xyz', '$2b$12$R9h/cIPz0gi.URNNX3kh2OPST9/PgBkqquzi.Ss7KIUgO2t0jWMUW'],
  ["Django's tests, PBKDF2", 'lètmein', 'pbkdf2_sha256$1000000$seasalt$r1uLUxoxpP2Ued/qxvmje7UH9PUJBkRrvf9gGPL7Cps='],
  [
    "Django's tests, scrypt",
    'lètmein',
    'scrypt$16384$seasalt$8$5$ECMIUp+LMxMSK8xB/IVyba+KYGTI7FTnet025q/1f/vBAVnnP3hdYqJuRi+mJn6ji6ze3Fbb7JEFPKGpuEf5vw==',
  ],
  [
    'djangohashers, bcrypt_sha256',
    'ExjGmyUT73bFoT',
    'bcrypt_sha256$$2b$12$LZSJchsWG/DrBy1erNs4eeYo6tZNlLFQmONdxN9HPesa1EyXVcTXK',
  ],
  [
    "Django's tests, argon2 without a version",
    'secret',
    'argon2$argon2i$m=8,t=1,p=1$c29tZXNhbHQ$gwQOXSNhxiOxPOA0+PY10P9QFO4NAYysnqRt1GSQLE55m+2GYDt9FEjPMHhP2Cuf0nOEXXMocVrsJAtNSsKyfg',
  ],
  [
    'hashpw, argon2 as Django has it',
    'foobie bletch',
    'argon2$argon2i$v=19$m=65536,t=3,p=4$hBBiDMEYg3DO+R8DoNS6tw$fDY/gS+/voMl7pUrNzB5btS9MY76R/LcaaiuFJcst40',
  ],
];

function hashOf(text: string): ForeignHash {
  const read = readForeignHash(text);
  assert.ok('madeBy' in read, `${text}: ${'problem' in read && read.problem}`);
  return read;
}

function problemOf(text: string): string {
  const read = readForeignHash(text);
  assert.ok('problem' in read, `${text} is taken`);
  return read.problem;
}

test('a password that another program hashed is right here too, and no other is', async (context) => {
  for (const [by, password, text] of MADE_BY_OTHERS) {
    await context.test(by, async () => {
      const { madeBy, digest } = hashOf(text);
      assert.deepEqual(await derive(madeBy, password), digest);
      assert.notDeepEqual(await derive(madeBy, `${password}x`), digest);
    });
  }
});

test('bcrypt reads 72 bytes of a password, bcrypt_sha256 all of it', async () => {
  const long = '0123456789'.repeat(8);
  const { madeBy, digest } = hashOf('$2a$05$abcdefghijklmnopqrstuu5s2v8.iXieOjg/.AySBTTZIIVFJeBui');
  const first72 = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789';
  assert.deepEqual(await derive(madeBy, `${first72}chars after 72 are ignored`), digest);
  assert.deepEqual(await derive(madeBy, first72), digest);
  const whole = hashOf(`bcrypt_sha256$$2b$04$${'a'.repeat(21)}u${'a'.repeat(31)}`).madeBy;
  assert.notDeepEqual(await derive(whole, long), await derive(whole, `${long.slice(0, -1)}x`));
});

const SALT = 'c2l4dGVlbiBieXRlIHNhbA';
const DIGEST = 'A'.repeat(43);
const BCRYPT = `${'a'.repeat(21)}u${'a'.repeat(31)}`;

test('bounds: at each bound a hash is taken, beyond it refused with the reason', () => {
  const bounds: readonly [taken: string, refused: string, reason: RegExp][] = [
    [`$2b$13$${BCRYPT}`, `$2b$14$${BCRYPT}`, /cost is not from 4 to 13/],
    [`$2b$04$${BCRYPT}`, `$2b$03$${BCRYPT}`, /cost is not from 4 to 13/],
    [
      `$pbkdf2-sha256$i=2000000$${SALT}$${DIGEST}`,
      `$pbkdf2-sha256$i=2000001$${SALT}$${DIGEST}`,
      /more than 2,000,000 iterations/,
    ],
    [`pbkdf2_sha256$1$a$${DIGEST}=`, `pbkdf2_sha256$0$a$${DIGEST}=`, /iterations, or none/],
    [`$scrypt$ln=16,r=8,p=1$${SALT}$${DIGEST}`, `$scrypt$ln=17,r=8,p=1$${SALT}$${DIGEST}`, /64 MiB/],
    [`$scrypt$ln=16,r=8,p=4$${SALT}$${DIGEST}`, `$scrypt$ln=16,r=8,p=5$${SALT}$${DIGEST}`, /256 MiB/],
    [`$scrypt$ln=10,r=8,p=16$${SALT}$${DIGEST}`, `$scrypt$ln=10,r=8,p=17$${SALT}$${DIGEST}`, /ln, r or p/],
    [`$scrypt$ln=1,r=131072,p=4$${SALT}$${DIGEST}`, `$scrypt$ln=1,r=131073,p=4$${SALT}$${DIGEST}`, /64 MiB/],
    [`$scrypt$ln=1,r=58254,p=14$${SALT}$${DIGEST}`, `$scrypt$ln=1,r=58255,p=14$${SALT}$${DIGEST}`, /64 MiB/],
    [`$scrypt$ln=15,r=1,p=1$${SALT}$${DIGEST}`, `$scrypt$ln=16,r=1,p=1$${SALT}$${DIGEST}`, /ln, r or p/],
    [`$argon2id$v=19$m=65536,t=4,p=1$${SALT}$${DIGEST}`, `$argon2id$v=19$m=65537,t=1,p=1$${SALT}$${DIGEST}`, /64 MiB/],
    [`$argon2d$v=16$m=8,t=32768,p=1$${SALT}$${DIGEST}`, `$argon2d$v=16$m=8,t=32769,p=1$${SALT}$${DIGEST}`, /256 MiB/],
    [
      `argon2$argon2i$v=19$m=128,t=1,p=16$${SALT}$${DIGEST}`,
      `argon2$argon2i$v=19$m=127,t=1,p=16$${SALT}$${DIGEST}`,
      /m, t or p/,
    ],
    [
      `$argon2id$v=19$m=8,t=1,p=1$${SALT}$${'A'.repeat(22)}`,
      `$argon2id$v=19$m=8,t=1,p=1$${SALT}$${'A'.repeat(20)}`,
      /digest has not 16 to 64 bytes/,
    ],
    [
      `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(11)}$${DIGEST}`,
      `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(10)}$${DIGEST}`,
      /salt has not 8 to 64 bytes/,
    ],
  ];
  for (const [taken, refused, reason] of bounds) {
    hashOf(taken);
    assert.match(problemOf(refused), reason, refused);
  }
});

test('a text that is refused is told apart: with its remedy where there is one, and never repeated', () => {
  const refused: readonly [text: string, reason: RegExp][] = [
    [`$pbkdf2-sha256$29000$${SALT}$${DIGEST}`, /form of passlib and not a PHC string: write \$pbkdf2-sha256\$i=/],
    [`bcrypt$$2b$12$${BCRYPT}`, /leave out Django's "bcrypt\$"/],
    [`$2x$12$${BCRYPT}`, /broken kind of bcrypt/],
    [`$2$12$${BCRYPT}`, /broken kind of bcrypt/],
    ['!kd8sk2mdXc', /account without a password: leave password_hash empty/],
    [`$argon2id$v=19$m=8,t=1,p=1,keyid=AAAA$${SALT}$${DIGEST}`, /with a key or with data/],
    [`$argon2id$v=20$m=8,t=1,p=1$${SALT}$${DIGEST}`, /version of argon2/],
    [`scrypt$16383$salt$8$1$${DIGEST}=`, /N is not a power of 2/],
    [`$pbkdf2-sha256$i=1,l=31$${SALT}$${DIGEST}`, /length that it says/],
    [`$2b$12$${BCRYPT}a`, /not written as/],
    [`$2b$12$${BCRYPT.slice(1)}`, /not written as/],
    [`$argon2id$v=19$m=8,t=1,p=1$${SALT}==$${DIGEST}`, /not written as/],
    [`$argon2id$v=19$m=8,t=1,p=1$${SALT}$${'A'.repeat(42)}B`, /not written as/],
    [`$argon2id$v=19$t=1,m=8,p=1$${SALT}$${DIGEST}`, /not written as/],
    [`$pbkdf2-sha512$i=1$${SALT}$${DIGEST}`, /none of the known kinds: a PHC string/],
    ['5f4dcc3b5aa765d61d8327deb882cf99', /none of the known kinds/],
    ['pbkdf2:sha256:600000$KbI3sQ1x$57fab0cc', /none of the known kinds/],
    ['hunter2', /none of the known kinds/],
    ['', /none of the known kinds/],
    [`$2b$12$${BCRYPT}${'a'.repeat(1e6)}`, /not written as/],
  ];
  for (const [text, reason] of refused) {
    const problem = problemOf(text);
    assert.match(problem, reason, text);
    assert.match(problem, /^password_hash: /);
    for (const part of text.split(/[$,]/)) if (part.length > 20) assert.ok(!problem.includes(part), problem);
  }
});

test('strong is what is at least our own argon2id, and nothing else', () => {
  const argon2 = (type: string, m: number, t: number, v = 19, digest = DIGEST) =>
    `$argon2${type}$v=${v}$m=${m},t=${t},p=1$${SALT}$${digest}`;
  assert.equal(isStrong(hashOf(argon2('id', 19456, 2)).madeBy), true);
  assert.equal(isStrong(hashOf(argon2('id', 65536, 4)).madeBy), true);
  const weak = [
    argon2('id', 19455, 2),
    argon2('id', 65536, 1),
    argon2('i', 65536, 4),
    argon2('d', 65536, 4),
    argon2('id', 65536, 4, 16),
    `$2b$13$${BCRYPT}`,
    `$scrypt$ln=16,r=8,p=4$${SALT}$${DIGEST}`,
    `$pbkdf2-sha256$i=2000000$${SALT}$${DIGEST}`,
  ];
  for (const text of weak) assert.equal(isStrong(hashOf(text).madeBy), false, text);
});

test('a function is told by its name and cost, without its salt; a slower one of its family has a higher rank', () => {
  const labels: readonly [text: string, label: string][] = [
    [`$2b$04$${BCRYPT}`, 'bcrypt, cost 4'],
    [`bcrypt_sha256$$2b$13$${BCRYPT}`, 'bcrypt_sha256, cost 13'],
    [`$pbkdf2-sha256$i=2000000$${SALT}$${DIGEST}`, 'pbkdf2-sha256, i=2000000'],
    [`scrypt$16384$salt$8$1$${DIGEST}=`, 'scrypt, ln=14, r=8, p=1'],
    [`$argon2i$m=8,t=1,p=1$${SALT}$${DIGEST}`, 'argon2i, m=8, t=1, p=1'],
  ];
  for (const [text, label] of labels) assert.equal(functionLabel(hashOf(text).madeBy), label);
  const rank = (text: string) => functionRank(hashOf(text).madeBy);
  assert.ok(rank(`$2b$13$${BCRYPT}`) > rank(`$2b$12$${BCRYPT}`));
  assert.ok(rank(`pbkdf2_sha256$2000000$a$${DIGEST}=`) > rank(`pbkdf2_sha256$600000$a$${DIGEST}=`));
  assert.ok(rank(`scrypt$65536$a$8$4$${DIGEST}=`) > rank(`scrypt$65536$a$8$1$${DIGEST}=`));
  assert.ok(rank(`$argon2i$m=65536,t=4,p=1$${SALT}$${DIGEST}`) > rank(`$argon2i$m=65536,t=1,p=1$${SALT}$${DIGEST}`));
  const [twoBlocks, oneBlock] = ['A'.repeat(86), DIGEST].map((digest) => `$pbkdf2-sha256$i=9999$${SALT}$${digest}`);
  assert.ok(rank(twoBlocks as string) > rank(oneBlock as string), 'a longer digest takes longer');
  assert.ok(rank(`$argon2i$m=128,t=2048,p=16$${SALT}$${DIGEST}`) > rank(`$argon2i$m=65536,t=4,p=1$${SALT}$${DIGEST}`));
  const families = [
    `$argon2i$m=65536,t=4,p=1$${SALT}$${DIGEST}`,
    `$2b$13$${BCRYPT}`,
    `pbkdf2_sha256$2000000$a$${DIGEST}=`,
    `scrypt$65536$a$8$4$${DIGEST}=`,
  ];
  for (const [n, text] of families.entries()) {
    const [first, last] = RANKS_OF_FAMILIES[n] ?? [0, 0];
    assert.ok(rank(text) > first && rank(text) < last, 'the ranks of families are apart');
  }
});
