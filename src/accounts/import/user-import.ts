/**
 * Imports users from another system, with their password hashes, their identities at a provider, or both. Each line is one
 * separate write, so an interrupted import is simply repeated: existing users are skipped.
 */

import { OperatorError } from '../../oauth/error.ts';
import { nameProblem } from '../../oauth/readable-text.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import { type ForeignHash, readForeignHash } from '../passwords/foreign-hash.ts';
import type { PasswordHasher } from '../passwords/password-hash.ts';
import { type Account, emailKey, emailProblem, personNameProblem, usernameProblem } from '../people/account.ts';
import { functionLabel, isStrong } from '../people/foreign-function.ts';
import { type Identity, identityId, subjectProblem } from '../people/identity-provider.ts';
import { newAccount, SET_HERE } from '../people/new-account.ts';
import { MAX_NAME } from '../people/profile.ts';
import type { AccountStore } from '../people/store.ts';
import { type ImportedPerson, type ImportLine, readImport, WrongHeader } from './import-lines.ts';
import { groupsOf } from './line-groups.ts';

/** The parts of the import. `now` returns ms since the epoch. */
export type UserImportParts = {
  readonly store: Pick<
    AccountStore,
    | 'addAccount'
    | 'addAccountWithIdentity'
    | 'addIdentityAndAccount'
    | 'countForeign'
    | 'findIdentity'
    | 'findTaken'
    | 'listIdentityProviders'
  >;
  readonly hasher: Pick<PasswordHasher, 'seal'>;
  readonly now: () => number;
};

/** A line that was not imported: somebody is here already, or it cannot be. */
export type LineLeft = { readonly line: number; readonly outcome: 'skipped' | 'refused'; readonly reason: string };

/** Hashes of one function, and whether they wait for being wrapped. */
export type ImportedHashes = { readonly function: string; readonly hashes: number; readonly wait: boolean };

/** The result of an import, or of its dry run. */
export type ImportReport = {
  readonly imported: number;
  readonly skipped: number;
  readonly refused: number;
  /** In the order of the file. */
  readonly left: readonly LineLeft[];
  readonly hashes: readonly ImportedHashes[];
  /** True if one of them is a bcrypt that reads only 72 bytes of a password. */
  readonly readsOnly72: boolean;
};

/** Somebody to import. */
type Newcomer = {
  readonly about: Pick<Account, 'email' | 'name' | 'username'>;
  readonly hash: ForeignHash | null;
  readonly identity: { readonly providerId: string; readonly subject: string } | null;
};

/** The user of a line, or the reason why the line cannot be imported. */
type NewcomerLine = { readonly line: number; readonly newcomer: Newcomer | string };

/** Which of somebody's names is another's. */
type TakenName = 'identity' | 'email' | 'username';

const TAKEN: Readonly<Record<TakenName, Omit<LineLeft, 'line'>>> = {
  identity: { outcome: 'skipped', reason: 'an account has this subject of the provider already' },
  email: { outcome: 'skipped', reason: 'an account with a password has this email address already' },
  username: { outcome: 'refused', reason: 'username: another account has this user name already' },
};

/** Imports people for an operator. */
export class UserImport {
  readonly #parts: UserImportParts;

  constructor(parts: UserImportParts) {
    this.#parts = parts;
  }

  /** How many accounts have a hash of another program, and in how many it waits for being wrapped. */
  status(): Promise<{ readonly foreign: number; readonly unwrapped: number }> {
    return this.#parts.store.countForeign();
  }

  /**
   * Imports the users of a file that arrives in pieces; a dry run changes nothing, and gives the same report. Throws an
   * `OperatorError` if nothing can be imported.
   */
  async run(
    pieces: AsyncIterable<Buffer>,
    { dryRun }: { readonly dryRun: boolean },
    operator: Actor,
  ): Promise<ImportReport> {
    const providers = await this.#parts.store.listIdentityProviders();
    if (providers.some(({ ownIds }) => ownIds))
      throw new OperatorError('all accounts come from one provider with --own-ids: none can be imported');
    const providerIds = new Set(providers.map(({ id }) => id));
    const take = dryRun ? this.#pretending() : (newcomer: Newcomer) => this.#write(newcomer, operator);
    const tally = new Tally();
    const takeLine = async ({ line, newcomer }: NewcomerLine) => {
      if (typeof newcomer === 'string') return tally.leave({ line, outcome: 'refused', reason: newcomer });
      const taken = await take(newcomer);
      if (taken) tally.leave({ line, ...TAKEN[taken] });
      else tally.take(newcomer.hash);
    };
    try {
      const groups = groupsOf(newcomersOf(readImport(pieces), providerIds), namesThatMatter);
      for await (const lines of groups) await Promise.all(lines.map(takeLine));
    } catch (error) {
      throw error instanceof WrongHeader ? new OperatorError(error.message) : error;
    }
    return tally.report();
  }

  /** Which name of a newcomer somebody else has. User names are compared only among people with a password. */
  async #taken({ about, hash, identity }: Newcomer): Promise<TakenName | null> {
    const { store } = this.#parts;
    if (identity && (await store.findIdentity(identity.providerId, identity.subject))) return 'identity';
    const username = hash && about.username;
    return store.findTaken(username, about.email && emailKey(about.email));
  }

  /** Decides without writing: what an earlier line takes is taken for the later ones. */
  #pretending(): (newcomer: Newcomer) => Promise<TakenName | null> {
    const seen = new Set<string>();
    return async (newcomer) => {
      const taken = await this.#taken(newcomer);
      if (taken) return taken;
      const { email } = newcomer.about;
      const names = namesOf(newcomer);
      for (const [name, text] of names) if (seen.has(`${name} ${text}`)) return name;
      if (email !== null && seen.has(`email ${emailKey(email)}`)) return 'email';
      for (const [name, text] of names) seen.add(`${name} ${text}`);
      return null;
    };
  }

  async #write(newcomer: Newcomer, operator: Actor): Promise<TakenName | null> {
    const { store, hasher, now } = this.#parts;
    const { about, hash, identity } = newcomer;
    if (identity) {
      const taken = await this.#taken(newcomer);
      if (taken) return taken;
    }
    const at = now();
    const account: Account = {
      ...newAccount(about, at),
      // Without a password, the product decides the address, and if it is verified.
      ...(hash ? SET_HERE : {}),
      password: hash && hasher.seal(hash),
      passwordSetAt: hash && at,
    };
    const event = auditEvent('user_imported', operator, at, { resourceOwnerId: account.id });
    const key = about.email && emailKey(about.email);
    const stored: Identity | null = identity && {
      id: identityId(identity.providerId, identity.subject),
      providerId: identity.providerId,
      accountId: account.id,
      createdAt: at,
    };
    if (!stored) return store.addAccount(account, key, event);
    if (!hash) return (await store.addIdentityAndAccount(stored, account, key, event)) ? null : 'identity';
    if (await store.addAccountWithIdentity(stored, account, key, event)) return null;
    return store.findTaken(about.username, key);
  }
}

/** Returns the user of a line, or the reason why the line cannot be imported. */
function newcomerOf(person: ImportedPerson, providerIds: ReadonlySet<string>): Newcomer | string {
  const { email, name, username, password_hash: text, provider, subject } = person;
  const problem = aboutProblem(person) ?? identityProblem(person, providerIds);
  if (problem) return problem;
  if (text === null && subject === null) return 'it has neither a password_hash nor a provider with a subject';
  if (text !== null && email === null) return 'email: a password needs an email address to sign in with';
  const hash = text === null ? null : readForeignHash(text);
  if (hash && 'problem' in hash) return hash.problem;
  const identity = provider !== null && subject !== null ? { providerId: provider, subject } : null;
  return { about: { email, name, username }, hash, identity };
}

function aboutProblem({ email, name, username, password_hash: hash }: ImportedPerson): string | null {
  const problems = {
    email: email === null ? null : emailProblem(email),
    name: name === null ? null : hash === null ? foreignNameProblem(name) : personNameProblem(name),
    username:
      username === null
        ? null
        : hash === null
          ? foreignNameProblem(username, 'a user name')
          : usernameProblem(username),
  };
  for (const [field, problem] of Object.entries(problems)) if (problem) return `${field}: ${problem}`;
  return null;
}

/** People who sign in elsewhere keep the names that they have there, as long as a provider may send them. */
function foreignNameProblem(name: string, what?: string): string | null {
  return nameProblem(name, 'words', what, MAX_NAME);
}

function identityProblem({ provider, subject }: ImportedPerson, providerIds: ReadonlySet<string>): string | null {
  if (provider === null && subject === null) return null;
  if (provider === null || subject === null) return 'provider and subject: only one of them is there';
  if (!providerIds.has(provider)) return 'provider: none is registered with this id';
  const problem = subjectProblem(subject);
  return problem && `subject: ${problem}`;
}

function namesOf({ about, hash, identity }: Newcomer): [name: TakenName, text: string][] {
  const names: [TakenName, string][] = [];
  if (identity) names.push(['identity', identityId(identity.providerId, identity.subject)]);
  if (hash && about.email) names.push(['email', emailKey(about.email)]);
  if (hash && about.username) names.push(['username', about.username]);
  return names;
}

/** Counts the results of the lines so far. */
class Tally {
  #imported = 0;
  readonly #left: LineLeft[] = [];
  readonly #hashes = new Map<string, { readonly hash: ForeignHash; count: number }>();

  leave(line: LineLeft): void {
    this.#left.push(line);
  }

  take(hash: ForeignHash | null): void {
    this.#imported += 1;
    if (!hash) return;
    const label = functionLabel(hash.madeBy);
    const counted = this.#hashes.get(label) ?? { hash, count: 0 };
    counted.count += 1;
    this.#hashes.set(label, counted);
  }

  report(): ImportReport {
    const left = this.#left.toSorted((one, other) => one.line - other.line);
    const skipped = left.filter(({ outcome }) => outcome === 'skipped').length;
    const kinds = [...this.#hashes].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return {
      imported: this.#imported,
      skipped,
      refused: left.length - skipped,
      left,
      hashes: kinds.map(([label, { hash, count }]) => ({
        function: label,
        hashes: count,
        wait: !isStrong(hash.madeBy),
      })),
      readsOnly72: kinds.some(
        ([
          ,
          {
            hash: { madeBy },
          },
        ]) => madeBy.family === 'bcrypt' && !madeBy.sha256,
      ),
    };
  }
}

/** Yields the users of a file's lines. */
async function* newcomersOf(
  lines: AsyncIterable<ImportLine>,
  providerIds: ReadonlySet<string>,
): AsyncGenerator<NewcomerLine> {
  for await (const line of lines)
    yield { line: line.line, newcomer: 'problem' in line ? line.problem : newcomerOf(line.person, providerIds) };
}

/** The names that decide whether somebody is here already, of those who have a password and of others. */
function namesThatMatter({ newcomer }: NewcomerLine): string[] {
  if (typeof newcomer === 'string') return [];
  const { email } = newcomer.about;
  const names = namesOf(newcomer).map(([name, text]) => `${name} ${text}`);
  return email === null ? names : [...names, `email ${emailKey(email)}`];
}
