import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ImportReport } from '../../src/accounts/import/user-import.ts';
import { OperatorError } from '../../src/oauth/error.ts';
import { allAccounts } from '../support/all-accounts.ts';
import { startTestService, type TestService } from '../support/service.ts';

/** Of the password `U*U*`. */
const WEAK = '$2a$05$CCCCCCCCCCCCCCCCCCCCC.VGOzA784oUp/Z0DY336zx7pLYAy0lwK';
/** Of the password `password`. */
const STRONG = '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc';

type Line = Readonly<Record<string, string | null>>;

function imported({ installation }: TestService, lines: readonly Line[], dryRun = false): Promise<ImportReport> {
  async function* pieces() {
    yield Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  }
  return installation.imports.run(pieces(), { dryRun }, installation.operator);
}

const told = ({ left }: ImportReport) => left.map(({ line, outcome, reason }) => `${line} ${outcome}: ${reason}`);

function addProvider({ installation }: TestService, ownIds = false): Promise<unknown> {
  return installation.identityProviders.register(
    {
      id: 'product',
      name: 'Photos',
      signInUrl: 'https://app.example/sign-in',
      keys: [],
      ownIds,
      rights: ['sign-in'],
      homePage: null,
      sessionLifetime: null,
    },
    installation.operator,
  );
}

const signIn = ({ installation }: TestService, email: string, password: string) =>
  installation.accounts.signIn(
    { email, password, replaces: null, knownBrowser: null },
    { source: '192.0.2.1', requestId: 'r' },
  );

/** Waits until all that was imported is wrapped. */
async function wrapped({ installation }: TestService): Promise<void> {
  while ((await installation.imports.status()).unwrapped > 0) await new Promise((resolve) => setTimeout(resolve, 20));
}

test('a person signs in with the password that another program hashed: a strong one at once, a weak one once it is wrapped; then it is our own', async (t) => {
  const service = await startTestService(t);
  const report = await imported(service, [
    { email: 'Ada@example.com', name: 'Ada Lovelace', username: 'ada', password_hash: WEAK },
    { email: 'bob@example.com', password_hash: STRONG },
  ]);
  assert.deepEqual([report.imported, report.skipped, report.refused, report.left], [2, 0, 0, []]);
  assert.deepEqual(report.hashes, [
    { function: 'argon2id, m=65536, t=2, p=1', hashes: 1, wait: false },
    { function: 'bcrypt, cost 5', hashes: 1, wait: true },
  ]);
  assert.equal(report.readsOnly72, true);
  const strong = await signIn(service, 'bob@example.com', 'password');
  assert.equal(strong.kind, 'signed_in');
  assert.equal((await signIn(service, 'ada@example.com', 'U*U*')).kind, 'wrong_credentials', 'it is not wrapped yet');
  await wrapped(service);
  assert.equal((await signIn(service, 'ada@example.com', 'U*U')).kind, 'wrong_credentials');
  assert.equal((await signIn(service, 'ada@example.com', 'U*U*')).kind, 'signed_in');
  assert.deepEqual(await service.installation.imports.status(), { foreign: 0, unwrapped: 0 });
  assert.equal((await signIn(service, 'ada@example.com', 'U*U*')).kind, 'signed_in');
  const { name, username, emailVerified } = await service.installation.accounts.show('ada@example.com');
  assert.deepEqual([name, username, emailVerified], ['Ada Lovelace', 'ada', true]);
  const events = await service.installation.audit.listAuditEvents({ action: 'user_imported', limit: 5 });
  assert.equal(events.length, 2);
});

test('good lines are imported, wrong ones refused by their number with the reason; a dry run tells the same and changes nothing', async (t) => {
  const service = await startTestService(t);
  await addProvider(service);
  const lines: Line[] = [
    { email: 'a@example.com', password_hash: WEAK, username: 'same' },
    { email: 'no address', password_hash: WEAK },
    { email: 'b@example.com', password_hash: WEAK, username: 'same' },
    { email: 'b@example.com', password_hash: `${WEAK}x` },
    { password_hash: WEAK },
    { email: 'b@example.com' },
    { email: 'A@example.com', password_hash: WEAK },
    { provider: 'product', subject: 'one', email: 'one@example.com', username: 'Same As Others' },
    { provider: 'product', subject: 'one' },
    { provider: 'product', subject: 'two\u0000' },
    { provider: 'other', subject: 'two' },
    { provider: 'product' },
    { email: 'c@example.com', password_hash: WEAK, provider: 'product', subject: 'three', name: ' Ada' },
    { email: 'c@example.com', password_hash: WEAK, provider: 'product', subject: 'three', name: 'Ada' },
    { email: 'd@example.com', password_hash: WEAK, username: 'Same' },
  ];
  const expected = [
    '2 refused: email: it is not an email address, such as ada@example.com',
    '3 refused: username: another account has this user name already',
    '4 refused: password_hash: it is not written as hashes of its kind are',
    '5 refused: email: a password needs an email address to sign in with',
    '6 refused: it has neither a password_hash nor a provider with a subject',
    '7 skipped: an account with a password has this email address already',
    '9 skipped: an account has this subject of the provider already',
    '10 refused: subject: it must be 1 to 255 printable ASCII characters without a space',
    '11 refused: provider: none is registered with this id',
    '12 refused: provider and subject: only one of them is there',
    '13 refused: name: a name has 1 to 100 characters and no space around it',
    '15 refused: username: a user name has 1 to 39 lower-case letters, digits, dots, dashes or underscores, and begins with a letter or digit',
  ];
  const pretended = await imported(service, lines, true);
  assert.deepEqual(told(pretended), expected);
  assert.equal(await service.installation.accounts.hasAny(), false);
  const report = await imported(service, lines);
  assert.deepEqual(report, pretended);
  assert.deepEqual([report.imported, report.skipped, report.refused], [3, 2, 10]);
  assert.equal((await allAccounts(service.installation.accounts)).length, 3);
  const again = await imported(service, lines);
  assert.deepEqual([again.imported, again.skipped, again.refused], [0, 5, 10]);
});

test('people who sign in elsewhere may have as long names as their product may send; others those of a user here', async (t) => {
  const service = await startTestService(t);
  await addProvider(service);
  const [there, here] = [{ provider: 'product' }, { password_hash: WEAK }];
  const report = await imported(service, [
    { ...there, subject: 'one', name: 'a'.repeat(200), username: 'b'.repeat(200) },
    { ...there, subject: 'two', name: 'a'.repeat(201) },
    { ...here, email: 'a@example.com', name: 'a'.repeat(100) },
    { ...here, email: 'b@example.com', name: 'a'.repeat(101) },
    { ...here, ...there, subject: 'three', email: 'c@example.com', name: 'a'.repeat(101) },
  ]);
  assert.deepEqual(told(report), [
    '2 refused: name: a name has 1 to 200 characters and no space around it',
    '4 refused: name: a name has 1 to 100 characters and no space around it',
    '5 refused: name: a name has 1 to 100 characters and no space around it',
  ]);
});

test('of lines that name the same person the first one counts, near each other or not, as a dry run says', async (t) => {
  const service = await startTestService(t);
  await addProvider(service);
  const lines: Line[] = [
    { email: 'a@example.com', password_hash: WEAK, provider: 'product', subject: 'one' },
    { email: 'b@example.com', password_hash: WEAK, provider: 'product', subject: 'one' },
    { email: 'A@example.com', password_hash: STRONG },
    { email: 'a@example.com', provider: 'product', subject: 'two' },
    { email: 'c@example.com', provider: 'product', subject: 'three' },
    { email: 'c@example.com', password_hash: WEAK },
  ];
  const expected = [
    '2 skipped: an account has this subject of the provider already',
    '3 skipped: an account with a password has this email address already',
    '4 skipped: an account with a password has this email address already',
  ];
  const pretended = await imported(service, lines, true);
  assert.deepEqual(told(pretended), expected);
  assert.deepEqual(await imported(service, lines), pretended);
  assert.equal((await imported(service, lines)).imported, 0, 'all are here now');
});

test('a file that was cut off is imported again, and nobody is there twice', async (t) => {
  const service = await startTestService(t);
  await addProvider(service);
  const lines = Array.from({ length: 1200 }, (_, n): Line => {
    const email = `user-${n}@example.com`;
    if (n % 3 === 0) return { email, password_hash: WEAK };
    return { email, provider: 'product', subject: `s${n}`, ...(n % 3 === 1 ? { password_hash: STRONG } : {}) };
  });
  async function* cutOff() {
    yield Buffer.from(
      lines
        .slice(0, 700)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(''),
    );
    throw new Error('cut off');
  }
  await assert.rejects(
    service.installation.imports.run(cutOff(), { dryRun: false }, service.installation.operator),
    /cut off/,
  );
  const before = (await allAccounts(service.installation.accounts)).length;
  assert.ok(before > 0 && before < 1200);
  const report = await imported(service, lines);
  assert.deepEqual([report.imported, report.skipped, report.refused], [1200 - before, before, 0]);
  assert.equal((await allAccounts(service.installation.accounts)).length, 1200);
});

test('an address links nobody: who has it without a password stays another person', async (t) => {
  const service = await startTestService(t);
  await addProvider(service);
  const first = await imported(service, [{ email: 'ada@example.com', provider: 'product', subject: 'ada' }]);
  const second = await imported(service, [{ email: 'ada@example.com', password_hash: WEAK }]);
  assert.deepEqual([first.imported, second.imported], [1, 1]);
  assert.equal((await allAccounts(service.installation.accounts)).length, 2);
});

test('where a provider gives people their ids, nobody is imported', async (t) => {
  const service = await startTestService(t);
  await addProvider(service, true);
  await assert.rejects(
    imported(service, [{ email: 'ada@example.com', password_hash: WEAK }]),
    (error) => error instanceof OperatorError && /provider with --own-ids/.test(error.message),
  );
});

test('a header that does not fit is refused in a sentence', async (t) => {
  const service = await startTestService(t);
  async function* pieces() {
    yield Buffer.from('email,password\n');
  }
  await assert.rejects(
    service.installation.imports.run(pieces(), { dryRun: false }, service.installation.operator),
    OperatorError,
  );
});
