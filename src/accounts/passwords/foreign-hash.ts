/**
 * The texts in which other programs store passwords, read strictly: PHC strings, bcrypt's and Django's. The reason of a
 * refusal names the remedy, and never repeats the text.
 */
import { type ForeignFunction, fromBcryptBase64, functionProblem } from '../people/foreign-function.ts';

/** A stored hash: the function and its result. */
export type ForeignHash = { readonly madeBy: ForeignFunction; readonly digest: Buffer };

/** A hash, or the reason of its refusal. */
export type ReadHash = ForeignHash | { readonly problem: string };

/** Bytes of a salt and of a digest. A shorter digest would accept wrong passwords. */
const SALT_BYTES = { min: 1, max: 64 };
const DIGEST_BYTES = { min: 16, max: 64 };
const MIN_ARGON2_SALT_BYTES = 8;
/** Maximum number of characters of a text. */
const MAX_TEXT = 512;

const KNOWN =
  'a PHC string ($argon2id$, $argon2i$, $argon2d$, $scrypt$ or $pbkdf2-sha256$i=…), bcrypt ($2a$, $2b$ or $2y$), or one of ' +
  "Django's (pbkdf2_sha256$, argon2$, bcrypt_sha256$ or scrypt$)";

/** In this order; the first whose beginning fits reads the text, or refuses it. */
const FORMS: readonly [beginning: RegExp, read: (text: string) => ForeignHash | string | null][] = [
  [/^\$argon2(i|d|id)\$/, readArgon2],
  [/^\$scrypt\$/, readScrypt],
  [
    /^\$pbkdf2-sha256\$\d+\$/,
    () =>
      'this is the form of passlib and not a PHC string: write $pbkdf2-sha256$i=, the number, and + for each dot of the rest',
  ],
  [/^\$pbkdf2-sha256\$/, readPbkdf2],
  [/^\$2[aby]\$/, (text) => readBcrypt(text, false)],
  [/^\$2x?\$/, () => 'this is a broken kind of bcrypt, which does not tell all passwords apart'],
  [/^pbkdf2_sha256\$/, readDjangoPbkdf2],
  [/^argon2\$argon2/, (text) => readArgon2(text.slice('argon2'.length))],
  [/^bcrypt_sha256\$\$2[aby]\$/, (text) => readBcrypt(text.slice('bcrypt_sha256$'.length), true)],
  [/^bcrypt\$\$2[aby]\$/, () => 'leave out Django\'s "bcrypt$" at its beginning: the rest is bcrypt'],
  [/^scrypt\$/, readDjangoScrypt],
  [/^!/, () => "this is Django's mark of an account without a password: leave password_hash empty"],
];

/** Reads the text of a hash. */
export function readForeignHash(text: string): ReadHash {
  const read = text.length > MAX_TEXT ? null : FORMS.find(([beginning]) => beginning.test(text))?.[1](text);
  if (read === undefined) return { problem: `password_hash: it is none of the known kinds: ${KNOWN}` };
  if (read === null) return { problem: 'password_hash: it is not written as hashes of its kind are' };
  if (typeof read === 'string') return { problem: `password_hash: ${read}` };
  const problem = lengthProblem(read) ?? functionProblem(read.madeBy);
  return problem === null ? read : { problem: `password_hash: ${problem}` };
}

function lengthProblem({ madeBy, digest }: ForeignHash): string | null {
  const salt = Buffer.from(madeBy.salt, 'base64').length;
  const least = madeBy.family === 'argon2' ? MIN_ARGON2_SALT_BYTES : SALT_BYTES.min;
  if (salt < least || salt > SALT_BYTES.max) return `its salt has not ${least} to ${SALT_BYTES.max} bytes`;
  return digest.length < DIGEST_BYTES.min || digest.length > DIGEST_BYTES.max
    ? `its digest has not ${DIGEST_BYTES.min} to ${DIGEST_BYTES.max} bytes`
    : null;
}

/** Without a version, it is version 16 (0x10), which had no version field. */
function readArgon2(text: string): ForeignHash | string | null {
  const parts =
    /^\$argon2(?<type>i|d|id)\$(v=(?<v>\d+)\$)?m=(?<m>\d+),t=(?<t>\d+),p=(?<p>\d+)(?<more>,[^$]*)?\$(?<salt>[^$]*)\$(?<digest>[^$]*)$/.exec(
      text,
    )?.groups;
  if (!parts) return null;
  if (parts['more']) return 'argon2 with a key or with data is not taken';
  const version = Number(parts['v'] ?? 16);
  if (version !== 16 && version !== 19) return 'this version of argon2 is not taken';
  return hashOf(plainBase64(parts['salt']), plainBase64(parts['digest']), (salt, { length }) => ({
    family: 'argon2',
    type: parts['type'] as 'i' | 'd' | 'id',
    version,
    memory: Number(parts['m']),
    passes: Number(parts['t']),
    lanes: Number(parts['p']),
    length,
    salt,
  }));
}

function readScrypt(text: string): ForeignHash | null {
  const [, ln, r, p, salt, digest] = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]*)\$([^$]*)$/.exec(text) ?? [];
  return scryptOf({ logN: Number(ln), r, p }, plainBase64(salt), plainBase64(digest));
}

/** `scrypt$N$salt$r$p$digest`, the salt as it is. */
function readDjangoScrypt(text: string): ForeignHash | string | null {
  const [, n, salt, r, p, digest] = /^scrypt\$(\d+)\$([^$]*)\$(\d+)\$(\d+)\$([^$]*)$/.exec(text) ?? [];
  const logN = Math.log2(Number(n));
  if (n !== undefined && !Number.isInteger(logN)) return 'its N is not a power of 2';
  return scryptOf({ logN, r, p }, utf8(salt), paddedBase64(digest));
}

function scryptOf(
  { logN, r, p }: { readonly logN: number; readonly r: string | undefined; readonly p: string | undefined },
  salt: Buffer | null,
  digest: Buffer | null,
): ForeignHash | null {
  return hashOf(salt, digest, (text, { length }) => ({
    family: 'scrypt',
    logN,
    r: Number(r),
    p: Number(p),
    length,
    salt: text,
  }));
}

/** A PHC variant of other programs: with `l`, the length of the digest. */
function readPbkdf2(text: string): ForeignHash | string | null {
  const [, i, l, salt, digest] = /^\$pbkdf2-sha256\$i=(\d+)(?:,l=(\d+))?\$([^$]*)\$([^$]*)$/.exec(text) ?? [];
  const bytes = plainBase64(digest);
  if (l !== undefined && Number(l) !== bytes?.length) return 'its digest has not the length that it says';
  return pbkdf2Of(i, plainBase64(salt), bytes);
}

/** `pbkdf2_sha256$iterations$salt$digest`, the salt as it is. */
function readDjangoPbkdf2(text: string): ForeignHash | null {
  const [, i, salt, digest] = /^pbkdf2_sha256\$(\d+)\$([^$]*)\$([^$]*)$/.exec(text) ?? [];
  return pbkdf2Of(i, utf8(salt), paddedBase64(digest));
}

function pbkdf2Of(iterations: string | undefined, salt: Buffer | null, digest: Buffer | null): ForeignHash | null {
  return hashOf(salt, digest, (text, { length }) => ({
    family: 'pbkdf2',
    iterations: Number(iterations),
    length,
    salt: text,
  }));
}

function readBcrypt(text: string, sha256: boolean): ForeignHash | null {
  const [, cost, salt, digest] = /^\$2[aby]\$(\d\d)\$([./A-Za-z0-9]{22})([./A-Za-z0-9]{31})$/.exec(text) ?? [];
  if (!salt || !digest) return null;
  return hashOf(fromBcryptBase64(salt), fromBcryptBase64(digest), (inBase64) => ({
    family: 'bcrypt',
    cost: Number(cost),
    sha256,
    salt: inBase64,
  }));
}

function hashOf(
  salt: Buffer | null,
  digest: Buffer | null,
  make: (salt: string, digest: Buffer) => ForeignFunction,
): ForeignHash | null {
  return salt && digest ? { madeBy: make(salt.toString('base64'), digest), digest } : null;
}

/** Base64 without padding, as PHC strings have it (RFC 4648 §3.2); null if the text is not in canonical form. */
function plainBase64(text: string | undefined): Buffer | null {
  return text?.includes('=') ? null : paddedBase64(text?.padEnd(Math.ceil(text.length / 4) * 4, '='));
}

function paddedBase64(text: string | undefined): Buffer | null {
  const bytes = Buffer.from(text ?? '', 'base64');
  return text && bytes.toString('base64') === text ? bytes : null;
}

function utf8(text: string | undefined): Buffer | null {
  return text === undefined ? null : Buffer.from(text);
}
