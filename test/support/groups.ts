/**
 * The two groups of test files: `npm test` runs the first, `npm run test:rest` the second. A file belongs to the group of its
 * folder, unless it is named here as an exception. `test/groups.test.ts` checks these lists.
 */
import { globSync, readFileSync } from 'node:fs';
import { dirname, relative } from 'node:path';
import { STORE } from './stores.ts';

/** `first` gives an answer in some four minutes; `rest` has what takes long and seldom fails alone. */
export type Group = 'first' | 'rest';

/** Folders under test/ by group; '' is test/ itself. A new test file in one of them needs no entry. */
export const FOLDERS: Readonly<Record<Group, readonly string[]>> = {
  first: [
    // Pure code, and the program's commands.
    ...[
      'accounts',
      'cli',
      'doctor',
      'oauth',
      'oauth/openid',
      'oauth/openid',
      'operator',
      'operator/access',
      'pages',
      'process',
      'settings',
      'verify',
      'product',
    ],
    // The wire.
    ...['http', 'http/api', 'http/browser', 'http/connection', 'http/provider'],
    ...['http/operator', 'http/operator/api', 'http/operator/console'],
    // SQLite.
    'storage',
    // What is held to the code: floors, documents, the table of guards.
    ...['', 'docs', 'guards'],
  ],
  rest: [
    // The whole program, and clients of others, against it.
    ...['clients', 'demo', 'examples', 'flows', 'metrics', 'nginx', 'packages'],
    // Servers and instances, and their faults under load.
    ...['failover', 'instances', 'postgresql', 'power', 'upgrades'],
    // Small runs of the benches.
    'bench',
  ],
};

/** Files whose group is not that of their folder. */
export const EXCEPTIONS: Readonly<Record<Group, readonly string[]>> = {
  first: [
    // The main job, a stop, libraries that are used as they are, and a walk in the real Chromium.
    ...['flows/chromium-walk.test.ts', 'flows/lives-of-a-grant.test.ts'],
    ...['flows/real-clients.test.ts', 'clients/openid-client.test.ts'],
    // The store on PostgreSQL.
    'postgresql/conformance.test.ts',
    // Promises of docs/reliability.md, a test of each.
    ...['power/names.test.ts', 'power/start-cuts.test.ts', 'instances/kill.test.ts', 'instances/faults.test.ts'],
    ...['postgresql/failover.test.ts', 'instances/key-rotation.test.ts', 'postgresql/unconfirmed-commits.test.ts'],
    ...['flows/backup-refused.test.ts', 'postgresql/own-place.test.ts', 'upgrades/upgrade.test.ts'],
    ...['upgrades/kept.test.ts', 'upgrades/every-state.test.ts', 'upgrades/compatibility.test.ts'],
    'flows/nothing-written.test.ts',
  ],
  rest: [
    // What memory and the log hold, measured over many rounds.
    ...['storage/memory.test.ts', 'storage/wal-size.test.ts', 'http/growth.test.ts'],
    // Crowds: streams by the thousand, floods of one address, and answers that nobody reads.
    'http/operator/anonymous-crowd.test.ts',
    // Every page of the console, with the database away and late.
    'http/operator/console/states.test.ts',
    ...['http/api/revocation-crowds.test.ts', 'http/public-limit.test.ts', 'http/connection/unread-output.test.ts'],
    ...['http/connection/pipelining.test.ts', 'http/connection/programs.test.ts', 'http/api/client-keys.test.ts'],
    // Each endpoint, page and command once more: with the longest ids, and with the hashes of other programs.
    ...['http/long-client-ids.test.ts', 'accounts/user-import.test.ts'],
    // Many starts of the program, refused and killed; what a check finds on both stores.
    ...['storage/refusals.test.ts', 'storage/processes.test.ts', 'storage/serving-lock.test.ts'],
    ...['storage/kill-migration.test.ts', 'storage/catalogue.test.ts', 'storage/table-descriptions.test.ts'],
    // Attacks on the audit trail; that each changed row is found is in the first group.
    ...['storage/audit-forgery.test.ts', 'storage/audit-attacks.test.ts'],
    // Both stores with thousands of rows; crowds at the sign-in page.
    ...['storage/crowds.test.ts', 'http/browser/sign-in-crowds.test.ts', 'http/browser/wrong-sign-ins.test.ts'],
    // Many real processes, proxies and certificates.
    ...['cli/transcripts.test.ts', 'cli/caller.test.ts', 'random-bits.test.ts'],
    ...['doctor/public-address.test.ts', 'doctor/unreached.test.ts', 'doctor/installation.test.ts'],
    // Each call of the operators' API beside its command; that each is allowed or refused is in the first group.
    ...['http/operator/api/reads.test.ts', 'http/operator/api/endings.test.ts', 'http/operator/api/writes.test.ts'],
    // The hashes of others, which are dear.
    ...['accounts/foreign-hash.test.ts', 'accounts/foreign-hash-bounds.test.ts'],
    // The conformance of SQLite for each other way to use it.
    'storage/sqlite-variants.test.ts',
    // Every page in each language, color scheme and width.
    'pages/pages.browser.test.ts',
    // Twenty thousand requests.
    'http/unadmitted-documents.test.ts',
    // The runner itself, and the README's transcript in real processes.
    ...['run.test.ts', 'cost.test.ts', 'docs/getting-started.test.ts'],
    // Long ones: a copy between stores, checkpoints, and documents whose commands are run one by one.
    ...['storage/copy.test.ts', 'storage/checkpoints.test.ts'],
    ...['docs/adopting.test.ts', 'docs/point-in-time.test.ts', 'docs/runbooks.test.ts'],
    // packages/verify as others get it, and on the real frameworks.
    ...['verify/cache.test.ts', 'verify/end-to-end.test.ts', 'verify/package.test.ts'],
    // packages/product likewise, and in the real Chromium.
    ...['product/package.test.ts', 'product/frameworks.test.ts', 'product/chromium.test.ts'],
  ],
};

/** Variables of all files of the first group: those that are made for both stores test SQLite there. */
export const FIRST_VARIABLES = { [STORE]: 'SQLite' };

/** What the second group runs again of the first, with other variables. */
export const AGAIN: readonly { readonly variables: Readonly<Record<string, string>>; files(): string[] }[] = [
  {
    // Tests that are made for both stores.
    variables: { [STORE]: 'PostgreSQL', VALETKEY_ROUNDS: '20' },
    files: () => filesOf('first').filter((file) => /\bstores(OfRun|WithProvider)\b/.test(readFileSync(file, 'utf8'))),
  },
  {
    // Those that kill, as often as it takes to find what is seldom.
    variables: { [STORE]: 'SQLite', VALETKEY_ROUNDS: '20' },
    files: () => ['test/instances/kill.test.ts', 'test/upgrades/upgrade.test.ts'],
  },
];

/** Returns the test files of a group, as paths from the root of the project. */
export function filesOf(group: Group): string[] {
  return globSync('test/**/*.test.ts').filter((file) => groupsOf(file).includes(group));
}

/** Returns the groups that the lists give a file; for a file that they know, one. */
export function groupsOf(file: string): Group[] {
  const groups: readonly Group[] = ['first', 'rest'];
  const named = groups.filter((group) => EXCEPTIONS[group].includes(relative('test', file)));
  return named.length > 0 ? named : groups.filter((group) => FOLDERS[group].includes(relative('test', dirname(file))));
}
