/**
 * Which files of tests share a process in a whole run: what they load is compiled and optimised once for all of them, which
 * takes half of what they cost. Each file passes alone too (`npm test -- FILE`).
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

/** The folders whose files may share a process. */
const SHARING = [
  ...['accounts', 'cli', 'oauth', 'operator', 'pages', 'settings'],
  ...['http', 'http/api', 'http/browser', 'http/connection', 'http/provider'],
];

/**
 * Files in these folders with a process of their own: they start a browser or a program that is waited for, use up memory, or
 * change for good what belongs to the process, such as its clock.
 */
const ALONE = [
  'accounts/decoy-hash.test.ts',
  'accounts/password-hash.test.ts',
  'cli/caller.test.ts',
  'cli/confirm.test.ts',
  'cli/transcripts.test.ts',
  'http/connection/connections.test.ts',
  'http/connection/stop.test.ts',
  'http/growth.test.ts',
  'pages/pages.browser.test.ts',
];

/** End of the path of a file that imports those that share a process. */
const SHARED = '.together.test.mjs';

/** Maximum number of files in a process: there is to be work for several until the end. */
const MOST = 8;

/** What to run for these files, a process each: those that share one are imported by a file that is written into a folder. */
export function inProcesses(files: readonly string[], folder: string): string[] {
  const { shared = [], alone = [] } = Object.groupBy(files, (file) => (shares(file) ? 'shared' : 'alone'));
  const folders = Map.groupBy(shared.toSorted(), dirname);
  return [...[...folders].flatMap(([name, ofFolder]) => together(name, ofFolder, folder)), ...alone];
}

/** Returns the name of a process, for people, by the path that it runs: its file, or those that share it. */
export function processName(path: string): string {
  if (!path.endsWith(SHARED)) return relative('.', path);
  const files = [...readFileSync(path, 'utf8').matchAll(/'(file:[^']+)'/g)].map(([, url = '']) => fileURLToPath(url));
  const names = files.map((file) => basename(file, '.test.ts'));
  return `${relative('.', dirname(files[0] ?? ''))}: ${names.join(', ')} (in one process)`;
}

function shares(file: string): boolean {
  return SHARING.includes(relative('test', dirname(file))) && !ALONE.includes(relative('test', file));
}

function together(name: string, files: readonly string[], folder: string): string[] {
  const count = Math.ceil(files.length / MOST);
  return Array.from({ length: count }, (_, number) => {
    const path = join(folder, relative('test', name), `${number + 1}${SHARED}`);
    mkdirSync(dirname(path), { recursive: true });
    const own = files.filter((_, index) => index % count === number);
    writeFileSync(path, own.map((file) => `await import('${pathToFileURL(file)}');\n`).join(''));
    return path;
  });
}
