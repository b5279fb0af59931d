/**
 * How long a wrong password takes to answer, for each kind of account that an import can bring, side by side: while there are
 * foreign hashes no kind may be told by it. `node bench/sign-in-floor.ts [ROUNDS]`; prints milliseconds.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { addUser, Clock, startTestService } from '../test/support/service.ts';

const BCRYPT = `${'a'.repeat(21)}u${'a'.repeat(31)}`;
const SALT = 'c2l4dGVlbiBieXRlIHNhbA';
const DIGEST = 'A'.repeat(43);

/** The kinds, each by an account of its own; those that wait for being wrapped are brought last. */
const KINDS: Readonly<Record<string, string>> = {
  'bcrypt-4': `$2b$04$${BCRYPT}`,
  'bcrypt-10': `$2b$10$${BCRYPT}`,
  'bcrypt-12': `$2b$12$${BCRYPT}`,
  'pbkdf2-600k': `$pbkdf2-sha256$i=600000$${SALT}$${DIGEST}`,
  'scrypt-16M': `$scrypt$ln=14,r=8,p=1$${SALT}$${DIGEST}`,
  'argon2id-64M': `$argon2id$v=19$m=65536,t=3,p=4$${SALT}$${DIGEST}`,
  ...(process.argv.includes('--slowest') ? { slowest: `$pbkdf2-sha256$i=2000000$${SALT}$${DIGEST}` } : {}),
};

const ends: (() => Promise<void> | void)[] = [];
const clock = new Clock();
const service = await startTestService({ after: (end) => void ends.push(end) }, {}, clock);
const { accounts, imports, operator } = service.installation;
const rounds = Number(process.argv[2] ?? 30);

await addUser(service, 'own@example.com');
const before = await answered(['own', 'nobody']);
print('without foreign hashes', before);
async function* file() {
  for (const [kind, text] of Object.entries(KINDS))
    yield Buffer.from(`${JSON.stringify({ email: `${kind}@example.com`, password_hash: text })}\n`);
}
const { imported } = await imports.run(file(), { dryRun: false }, operator);
while ((await imports.status()).unwrapped > 0) await sleep(50);
print(`with ${imported} of them`, await answered(['own', 'nobody', ...Object.keys(KINDS)]));
for (const end of ends) await end();

/** The times of wrong sign-ins by kind, in turns, each from an address of its own. */
async function answered(kinds: readonly string[]): Promise<Map<string, number[]>> {
  const times = new Map<string, number[]>(kinds.map((kind) => [kind, []]));
  for (let round = -1; round < rounds; round += 1) {
    clock.advance(3600);
    for (const [n, kind] of kinds.entries()) {
      const begun = performance.now();
      const attempt = { email: `${kind}@example.com`, password: 'wrong', replaces: null, knownBrowser: null };
      const { kind: outcome } = await accounts.signIn(attempt, { source: `198.51.${n}.${round + 1}`, requestId: 'r' });
      if (outcome !== 'wrong_credentials') throw new Error(`${kind} is ${outcome}`);
      if (round >= 0) times.get(kind)?.push(performance.now() - begun);
    }
  }
  return times;
}

function print(title: string, times: ReadonlyMap<string, readonly number[]>): void {
  console.log(`${title}: least, median, most`);
  for (const [kind, each] of times) {
    const sorted = each.toSorted((one, other) => one - other);
    const at = (part: number) => sorted[Math.floor((sorted.length - 1) * part)]?.toFixed(1).padStart(8);
    console.log(`${kind.padEnd(14)}${at(0)}${at(0.5)}${at(1)}`);
  }
}
