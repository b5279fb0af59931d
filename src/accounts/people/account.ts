/** Accounts of resource owners: the people who allow, and take back. */
import { randomBytes } from 'node:crypto';
import { isReadable, nameProblem } from '../../oauth/readable-text.ts';
import { type ForeignFunction, isStrong } from './foreign-function.ts';

/** Our own hash of a password: a PHC string of argon2id, sealed, and the root key that sealed it. */
export type OwnPassword = { readonly sealedPhc: string; readonly keyId: number };

/** A hash that another program made, sealed as it came: only what its function made of the password is secret. */
export type SealedPassword = { readonly sealed: string; readonly keyId: number; readonly foreign: ForeignFunction };

/** Our own hash of what another program's function makes of a password. */
export type WrappedPassword = OwnPassword & { readonly foreign: ForeignFunction };

/** A stored password. */
export type StoredPassword = OwnPassword | WrappedPassword | SealedPassword;

/** True for a stored password that nobody can sign in with before it is wrapped. */
export function isUnwrapped(stored: StoredPassword): stored is SealedPassword {
  return 'sealed' in stored && !isStrong(stored.foreign);
}

/** The stored form of a one-time address to set a password: the digest of its token (base64url), and its expiry (ms). */
export type Invitation = { readonly digest: string; readonly expiresAt: number };

/** An account. Times in ms since the epoch. */
export type Account = {
  /** Never given to anybody else, even after the account is deleted. */
  readonly id: string;
  /** Unique among accounts with a password or an invitation. People who sign in elsewhere may have none, or one that others have. */
  readonly email: string | null;
  /** `true` if the address is this person's: a provider said so, or it was set here. Only such an address is told to others. */
  readonly emailVerified: boolean;
  /** `true` if an operator set the address. One that a provider brought may be anybody's, and names nobody to an operator. */
  readonly emailSetHere: boolean;
  readonly username: string | null;
  readonly name: string | null;
  readonly avatarUrl: string | null;
  readonly status: 'active' | 'disabled';
  /** Grants allowed under an earlier epoch are dead: raising it revokes them all in one write. */
  readonly epoch: number;
  /** Null for an account that cannot sign in with a password. */
  readonly password: StoredPassword | null;
  /** When the password was last set. A new hash of the same password changes nothing here. */
  readonly passwordSetAt: number | null;
  /** True if somebody else knows the password: it is then only good for choosing another. */
  readonly mustChangePassword: boolean;
  /** Null once it was used, or the account was disabled, or got another email address, or a password in another way. */
  readonly invitation: Invitation | null;
  readonly createdAt: number;
};

/** An account that can sign in with a password. */
export type PasswordAccount = Account & {
  readonly email: string;
  readonly password: StoredPassword;
  readonly passwordSetAt: number;
};

/** True if an account can sign in with a password. */
export function hasPassword(account: Account): account is PasswordAccount {
  return account.password !== null && account.passwordSetAt !== null && account.email !== null;
}

/** The address of an account, if it is verified; else null. */
export function verifiedEmail({ email, emailVerified }: Pick<Account, 'email' | 'emailVerified'>): string | null {
  return emailVerified ? email : null;
}

/** Tells whether this installation owns the address of an account: an operator set it, or a password or an invitation goes with it. */
export function ownsEmail({ emailSetHere, password, invitation }: Account): boolean {
  return emailSetHere || password !== null || invitation !== null;
}

/** True for an id that was made here. Others are a provider's own, and may come again after the account was deleted. */
export function isMadeHere(id: string): boolean {
  return id.startsWith(OWN_START);
}

const OWN_START = 'usr_';

/** Returns the name of a person for pages: the name, else the user name; null without either. */
export function callName({ name, username }: Pick<Account, 'name' | 'username'>): string | null {
  return name ?? username;
}

/** Returns the name of an account for the operator: its verified address if it has one, else its name, else its id. */
export function accountLabel({
  id,
  name,
  email,
  emailVerified = true,
}: Pick<Account, 'id' | 'name' | 'email'> & Partial<Pick<Account, 'emailVerified'>>): string {
  return (emailVerified ? email : null) ?? name ?? id;
}

/** A new account id: 80 random bits in lower-case base 32. */
export function newAccountId(): string {
  const alphabet = '0123456789abcdefghjkmnpqrstvwxyz';
  return `${OWN_START}${[...randomBytes(16)].map((byte) => alphabet[byte & 31]).join('')}`;
}

/**
 * Maximum number of characters read from a typed address. An address has at most 254, and Unicode composition leaves at least
 * a quarter of the typed characters.
 */
const MAX_TYPED = 1024;

/**
 * The normal form of an email address for searches and counters. Longer texts are truncated first, because the time to order
 * combining marks grows with the square of their number.
 */
export function emailKey(email: string): string {
  return email.trim().slice(0, MAX_TYPED).toLowerCase().normalize('NFC');
}

/** Why a text cannot be an account's email address, or null when it can. */
export function emailProblem(email: string): string | null {
  const plausible =
    email.length <= 254 && isReadable(email, 'label') && /^[^\s@]{1,64}@[^\s@]+\.[^\s@.]+$/u.test(email);
  return plausible ? null : 'it is not an email address, such as ada@example.com';
}

/** Why a text cannot be a person's name, or null when it can. */
export function personNameProblem(name: string): string | null {
  return nameProblem(name, 'words');
}

/** Why a text cannot be a user name, or null when it can. */
export function usernameProblem(username: string): string | null {
  return /^[a-z0-9][a-z0-9._-]{0,38}$/.test(username)
    ? null
    : 'a user name has 1 to 39 lower-case letters, digits, dots, dashes or underscores, and begins with a letter or digit';
}
