/**
 * The password hash functions of other programs: their parameters, their strength and slowness, and their computation.
 * `foreign-hash.ts` reads them from texts.
 */
import { hash as digest, pbkdf2, type ScryptOptions, scrypt } from 'node:crypto';
import { promisify } from 'node:util';
import { hashRaw } from '@node-rs/argon2';
import { hash as bcrypt } from '@node-rs/bcrypt';

/** The stored parameters of each function. Salts are base64, a `length` is in bytes. */
type Described = {
  /** Memory in KiB. */
  readonly argon2: {
    readonly type: 'i' | 'd' | 'id';
    readonly version: 16 | 19;
    readonly memory: number;
    readonly passes: number;
    readonly lanes: number;
    readonly length: number;
  };
  /** `logN` is the logarithm of N to base 2 (RFC 7914 §2). */
  readonly scrypt: { readonly logN: number; readonly r: number; readonly p: number; readonly length: number };
  /** With HMAC-SHA-256. */
  readonly pbkdf2: { readonly iterations: number; readonly length: number };
  /** It reads 72 bytes; with `sha256` these are the digest of the password in hexadecimal, as Django does. */
  readonly bcrypt: { readonly cost: number; readonly sha256: boolean };
};

type Family = keyof Described;
type Of<F extends Family> = { readonly family: F } & Described[F] & { readonly salt: string };

/** A function with its parameters and its salt. */
export type ForeignFunction = { readonly [F in Family]: Of<F> }[Family];

/** The rules of a family of functions. */
type Rules<F extends Family> = {
  /** Why these parameters are not taken, or null. */
  problem(it: Of<F>): string | null;
  label(it: Of<F>): string;
  /** Microseconds on a common processor, roughly. */
  work(it: Of<F>): number;
  derive(it: Of<F>, password: string, salt: Buffer): Promise<Buffer>;
};

/** Maximum parameters: with larger ones a sign-in would be too slow or take too much memory. Memory in KiB. */
const MAX = { cost: 13, iterations: 2_000_000, memory: 64 * 1024, memoryTimesPasses: 256 * 1024, parallelism: 16 };

/** Maximum memory of all blocks of scrypt, as a multiple of the largest one. */
const SCRYPT_SLACK = 2;

/** Minimum parameters of a strong function: those of our own (`password-hash.ts`). Memory in KiB. */
const STRONG = { memory: 19 * 1024, passes: 2, length: 16 };

const ARGON2_TYPES = { d: 0, i: 1, id: 2 } as const;
const ARGON2_VERSIONS = { 16: 0, 19: 1 } as const;

const FAMILIES: { readonly [F in Family]: Rules<F> } = {
  argon2: {
    problem: ({ memory, passes, lanes }) =>
      passes < 1 || lanes < 1 || lanes > MAX.parallelism || memory < 8 * lanes
        ? 'its m, t or p is not one that argon2 has here'
        : memoryProblem(memory, passes),
    label: ({ type, memory, passes, lanes }) => `argon2${type}, m=${memory}, t=${passes}, p=${lanes}`,
    // Lanes are threads, which each pass starts and joins.
    work: ({ memory, passes, lanes }) => memory * passes * 0.5 + (lanes - 1) * passes * 30,
    derive: ({ type, version, memory, passes, lanes, length }, password, salt) =>
      hashRaw(password, {
        algorithm: ARGON2_TYPES[type],
        version: ARGON2_VERSIONS[version],
        memoryCost: memory,
        timeCost: passes,
        parallelism: lanes,
        outputLen: length,
        salt,
      }),
  },
  scrypt: {
    problem: ({ logN, r, p }) =>
      logN < 1 || logN >= 16 * r || r < 1 || p < 1 || p > MAX.parallelism
        ? 'its ln, r or p is not one that scrypt has here'
        : // Its other blocks are small beside the largest one, unless N is.
          (memoryProblem((2 ** logN * r) / 8, p) ?? memoryProblem(((2 ** logN + p + 2) * r) / 8 / SCRYPT_SLACK, 1)),
    label: ({ logN, r, p }) => `scrypt, ln=${logN}, r=${r}, p=${p}`,
    work: ({ logN, r, p }) => 2 ** logN * r * p * 0.4,
    derive: ({ logN, r, p, length }, password, salt) =>
      scryptAsync(password, salt, length, { N: 2 ** logN, r, p, maxmem: SCRYPT_SLACK * MAX.memory * 1024 }),
  },
  pbkdf2: {
    problem: ({ iterations }) =>
      iterations < 1 || iterations > MAX.iterations ? 'it has more than 2,000,000 iterations, or none' : null,
    label: ({ iterations }) => `pbkdf2-sha256, i=${iterations}`,
    // The iterations are repeated for each 32 bytes of the digest (RFC 8018 §5.2).
    work: ({ iterations, length }) => iterations * Math.ceil(length / 32) * 0.5,
    derive: ({ iterations, length }, password, salt) => promisify(pbkdf2)(password, salt, iterations, length, 'sha256'),
  },
  bcrypt: {
    problem: ({ cost }) => (cost < 4 || cost > MAX.cost ? `its cost is not from 4 to ${MAX.cost}` : null),
    label: ({ cost, sha256 }) => `bcrypt${sha256 ? '_sha256' : ''}, cost ${cost}`,
    work: ({ cost }) => 2 ** cost * 55,
    derive: async ({ cost, sha256 }, password, salt) =>
      fromBcryptBase64((await bcrypt(sha256 ? digest('sha256', password) : password, cost, salt)).slice(-31)),
  },
};

function rules({ family }: ForeignFunction): Rules<Family> {
  return FAMILIES[family] as Rules<Family>;
}

/** Memory in KiB. */
function memoryProblem(memory: number, passes: number): string | null {
  if (memory > MAX.memory) return 'it takes more than 64 MiB of memory';
  return memory * passes > MAX.memoryTimesPasses ? 'its memory times its passes is more than 256 MiB' : null;
}

const scryptAsync: (password: string, salt: Buffer, length: number, options: ScryptOptions) => Promise<Buffer> =
  promisify(scrypt);

/** Why a function is not taken, or null. */
export function functionProblem(it: ForeignFunction): string | null {
  return rules(it).problem(it);
}

/** A function in words, without its salt. */
export function functionLabel(it: ForeignFunction): string {
  return rules(it).label(it);
}

const FAMILY_NAMES = ['argon2', 'bcrypt', 'pbkdf2', 'scrypt'] as const satisfies Family[];

/** More work than any function has, so that the ranks of two families never meet. */
const MAX_WORK = 1_000_000;

/**
 * A number that is larger for the slower of two functions of one family. Families can only be compared by measuring, since
 * processors differ.
 */
export function functionRank(it: ForeignFunction): number {
  return FAMILY_NAMES.indexOf(it.family) * MAX_WORK + Math.ceil(rules(it).work(it) / 1000);
}

/** The ranks of each family, from the first to the last. */
export const RANKS_OF_FAMILIES: readonly (readonly [first: number, last: number])[] = FAMILY_NAMES.map((_, n) => [
  n * MAX_WORK,
  (n + 1) * MAX_WORK - 1,
]);

/** True if a function is at least as strong as our own. */
export function isStrong(it: ForeignFunction): boolean {
  if (it.family !== 'argon2' || it.type !== 'id' || it.version !== 19) return false;
  return it.memory >= STRONG.memory && it.passes >= STRONG.passes && it.length >= STRONG.length;
}

/** Computes a function of a password, on another thread. */
export function derive(it: ForeignFunction, password: string): Promise<Buffer> {
  return rules(it).derive(it, password, Buffer.from(it.salt, 'base64'));
}

const BASE64 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const BCRYPT_BASE64 = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** The bytes of a text in the alphabet that bcrypt alone has. Bits beyond the last byte are ignored, as bcrypt does. */
export function fromBcryptBase64(text: string): Buffer {
  return Buffer.from(
    text.replace(/./g, (letter) => BASE64[BCRYPT_BASE64.indexOf(letter)] ?? ''),
    'base64',
  );
}
