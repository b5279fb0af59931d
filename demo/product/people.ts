/** The product's own accounts and sessions: what a product has before it hears of Valetkey. */
import { randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import type { ShownCall } from '../call-list.ts';
import type { SeededPerson } from '../seed.ts';

/** Somebody with an account at the product. */
export type Person = { readonly subject: string; readonly name: string; readonly email: string };

/** The product's session of a browser. Times in ms since the epoch. */
export type Session = {
  person: Person | null;
  signedInAt: number;
  /** A notice on the next page, shown once. */
  notice: Notice | null;
  readonly calls: ShownCall[];
};

/** The notices of a page. */
export type Notice = 'wrong_password' | 'disconnected' | 'not_disconnected';

type Account = Person & { readonly salt: Buffer; readonly hash: Buffer };

/** A browser that nothing is known of. */
export function newSession(): Session {
  return { person: null, signedInAt: 0, notice: null, calls: [] };
}

/** The accounts. */
export class People {
  readonly #accounts: readonly Account[];

  constructor(people: readonly SeededPerson[]) {
    this.#accounts = people.map(({ name, email, password }, place) => {
      const salt = randomBytes(16);
      return { subject: `p-${1017 + place}`, name, email, salt, hash: hash(password, salt) };
    });
  }

  /** Returns the user with this password; unknown addresses take as long as known ones. */
  signIn(email: string, password: string): Person | null {
    const account = this.#accounts.find((one) => one.email === email);
    const isRight = timingSafeEqual(
      hash(password, account?.salt ?? Buffer.alloc(16)),
      account?.hash ?? randomBytes(32),
    );
    if (!account || !isRight) return null;
    return { subject: account.subject, name: account.name, email: account.email };
  }
}

/** The sessions. */
export class Sessions {
  readonly #sessions = new Map<string, Session>();

  /** Begins a session, in place of another where somebody signs in; returns what the browser's cookie shall hold. */
  begin(session: Session, before: string): string {
    const id = randomBytes(32).toString('base64url');
    this.#sessions.delete(before);
    this.#sessions.set(id, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > 1000 && oldest !== undefined) this.#sessions.delete(oldest);
    return id;
  }

  /** The session that a cookie names. */
  find(id: string): Session | undefined {
    return this.#sessions.get(id);
  }
}

function hash(password: string, salt: Buffer): Buffer {
  return scryptSync(password, salt, 32);
}
