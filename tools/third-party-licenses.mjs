// The licenses of the packages that the program runs with: their own texts, each text once. It follows from the lock alone, so
// that it is the same on each kind of machine.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Its name, wherever it is shipped. */
export const THIRD_PARTY_LICENSES = 'THIRD-PARTY-LICENSES.txt';

const LICENSE_FILE = /^(?:licen[cs]e|copying|notice)/i;
const RULE = '='.repeat(80);

/**
 * @typedef {{ version: string, license?: string, dev?: boolean, os?: string[] }} Locked
 */

/**
 * Writes the file into a folder. Throws if a locked package is not installed.
 * @param {string} folder @param {string} checkout where the packages are installed, with their lock
 */
export function writeThirdPartyLicenses(folder, checkout) {
  const { packages } = JSON.parse(readFileSync(join(checkout, 'package-lock.json'), 'utf8'));
  /** @type {[string, Locked][]} */
  const locked = Object.entries(packages);
  const shipped = locked.filter(([path, { dev }]) => path !== '' && !dev);
  /** @type {Map<string, string[]>} */
  const titles = new Map();
  for (const [path, entry] of shipped) {
    const text = textOf(join(checkout, path), entry);
    titles.set(text, [...(titles.get(text) ?? []), titleOf(path, entry)]);
  }
  const parts = [...titles].map(([text, named]) => `${RULE}\n${named.join('\n')}\n${RULE}\n\n${text}\n`);
  const head = 'Valetkey runs with the packages below. Each has its own license, whose text follows its name.\n';
  writeFileSync(join(folder, THIRD_PARTY_LICENSES), [head, ...parts].join('\n'));
}

/** @param {string} path @param {Locked} entry */
function titleOf(path, { version, license }) {
  return `${path.split('node_modules/').at(-1)} ${version} (${license})`;
}

/**
 * A package for one kind of machine is installed on no other: it holds the compiled code of the package that its name begins
 * with, under that one's license.
 * @param {string} folder @param {Locked} entry
 */
function textOf(folder, { license, os }) {
  if (os !== undefined) return 'Compiled code of the package whose name this one continues, under its license.\n';
  const files = readdirSync(folder)
    .filter((file) => LICENSE_FILE.test(file))
    .sort();
  if (files.length > 0)
    return files.map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim()).join('\n\n');
  const { author, homepage, repository } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const whose = [author?.name ?? author, homepage ?? repository?.url ?? repository].filter(Boolean).join(', ');
  return `The package has no license file. Its manifest says: ${license}; ${whose}.`;
}

if (import.meta.filename === process.argv[1]) writeThirdPartyLicenses(process.argv[2] ?? '.', process.argv[2] ?? '.');
