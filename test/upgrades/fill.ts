/** Fills a new database with a row of every kind in every state. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { postgresqlSide } from '../../src/storage/postgresql/copy.ts';
import { sqliteSide } from '../../src/storage/sqlite/copy.ts';
import { runCommand } from '../support/command.ts';
import { startConsole } from '../support/console.ts';
import { browserWith, type Held, inhabit } from '../support/held.ts';
import { actAsOperators, type HeldByOperators } from '../support/held-by-operators.ts';
import { addOtherStates } from './other-states.ts';
import { type HeldSignIn, holdSignIn } from './signing-in.ts';

/** What is kept beside a filled database: its root key, what is held of it, and the `kid` of the key that signs ID tokens. */
export type Filled = {
  readonly rootKey: string;
  readonly held: Held;
  readonly byOperators: HeldByOperators;
  readonly kid: string;
  /** Not of 0.1.0-rc.1. */
  readonly signIn?: HeldSignIn;
};

/** Columns that are empty in a filled database, with the reason. */
export const EMPTY_FOR_A_REASON: Readonly<Record<string, string>> = {
  'identity_provider.own_ids = 1': 'only where people sign in at one product, and with no password',
  'installation.next_key_id': 'only while a rotation of root keys is under way',
  'installation.restored_at': 'only after a restore, which ends grants that are held here',
  'installation.is_backup = 1': 'only in a backup, which nobody serves',
};

/** People with hashes of another program, and their passwords. The hash of the first one waits to be wrapped in our own. */
export const IMPORTED = {
  'weak@example.com': { password: 'U*U*', hash: '$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK' },
  'strong@example.com': {
    password: 'password',
    hash: '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc',
  },
} as const;

/** Imports them by the command, beside which nothing wraps a hash. */
async function importPeople(variables: Record<string, string>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-people-'));
  const file = join(folder, 'people.jsonl');
  const people = Object.entries(IMPORTED).map(([email, { hash }]) => JSON.stringify({ email, password_hash: hash }));
  writeFileSync(file, people.map((line) => `${line}\n`).join(''));
  const { code, stderr } = await runCommand(['user', 'import', file], variables);
  rmSync(folder, { recursive: true });
  assert.equal(code, 0, stderr);
}

/** Fills the database at a URL through a service, then with the states that a short run does not reach. */
export async function fill(url: string): Promise<Filled> {
  const rootKey = makeRootKey();
  const service = await startConsole({ after: () => {} }, { VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: rootKey });
  const byOperators = await actAsOperators(service);
  const held = await inhabit(service);
  const signIn = await holdSignIn(service, browserWith(held.cookies));
  const { kid = '' } = (await service.installation.signingKeys.signing()) ?? {};
  await service.stop();
  await importPeople({ VALETKEY_DATABASE_URL: url, VALETKEY_KEYS: rootKey });
  const side = url.startsWith('sqlite:')
    ? sqliteSide(url.slice('sqlite:'.length), 'target')
    : await postgresqlSide(url);
  await addOtherStates(side.database, held.now);
  await side.close();
  return { rootKey, held, byOperators, kid, signIn };
}
