/**
 * The two groups of test files: `npm test` runs the first, `npm run test:rest` the second. A file belongs to the group of its
 * folder, unless it is named here as an exception. `test/groups.test.ts` checks these lists.
 */
import { globSync } from 'node:fs';
import { dirname, relative } from 'node:path';

/** `first` gives an answer in four minutes; `rest` has what takes long and seldom fails alone. */
export type Group = 'first' | 'rest';

/** Folders under test/ by group; '' is test/ itself. A new test file in one of them needs no entry. */
export const FOLDERS: Readonly<Record<Group, readonly string[]>> = {
  first: [
    // Pure code, and the program without a server of its own.
    ...['accounts', 'cli', 'doctor', 'oauth', 'operator', 'pages', 'process', 'settings', 'verify'],
    // The wire, on SQLite.
    ...['http', 'http/api', 'http/browser', 'http/connection', 'http/connection/fuzz', 'http/provider'],
    // The stores, and the whole program.
    ...['storage', 'postgresql', 'flows', 'clients', 'metrics'],
    // What is held to the code: floors, documents, the table of guards.
    ...['', 'docs', 'guards'],
  ],
  rest: [
    // Faults under load, on several instances, and what a disk may hold after a power cut.
    ...['failover', 'instances', 'power', 'upgrades'],
    // What is built and run around the service.
    ...['bench', 'demo', 'examples', 'nginx', 'packages'],
  ],
};

/** Files whose group is not that of their folder. */
export const EXCEPTIONS: Readonly<Record<Group, readonly string[]>> = {
  first: [
    // Each is the one test of a promise of docs/reliability.md that is in the first group.
    ...['instances/cut-line.test.ts', 'instances/kill.test.ts'],
    ...['power/power-cuts.test.ts', 'power/start-cuts.test.ts'],
    'upgrades/upgrade.test.ts',
  ],
  rest: [
    // Every page in each language, colour scheme and width.
    'pages/pages.browser.test.ts',
    // Agents in Chromium, with the package that is built for them.
    'clients/mcp.test.ts',
  ],
};

/** Tests of requests, answers and connections. The second group runs them once more with Node.js as the only reader. */
export const READ_BOTH_WAYS = [
  'test/flows/stop.test.ts',
  'test/http/api/{me,refresh-endpoint}.test.ts',
  'test/http/connection/{connection-bounds,connections,direct,pipelining,stop,unread-output}.test.ts',
  'test/http/{cross-origin,log,plain-http,repeated-headers,requests}.test.ts',
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
