// Builds the files of a release. The same commit, Node.js and npm give the same bytes, in any folder, for any user, umask and
// time zone.
import { createHash } from 'node:crypto';
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BILL_OF_MATERIALS } from '../bill-of-materials.mjs';
import { PACKAGES, pack } from '../package.mjs';
import { THIRD_PARTY_LICENSES } from '../third-party-licenses.mjs';

/** The name of the list of sums. */
export const SUMS = 'SHA256SUMS';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));

/**
 * @typedef {{ name: string, file: string }} BuiltPackage `file` is its name within the folder
 */

/**
 * Makes the folder with the packages, the lists of what is in the program, and `SHA256SUMS`.
 * @param {string} folder @returns {BuiltPackage[]}
 */
export function buildRelease(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const parts = join(folder, '.parts');
  const packages = Object.entries(PACKAGES).map(([name, build]) => {
    build(join(parts, name));
    return { name, file: pack(join(parts, name), folder).filename };
  });
  for (const list of [BILL_OF_MATERIALS, THIRD_PARTY_LICENSES])
    copyFileSync(join(parts, 'valetkey', list), join(folder, list));
  rmSync(parts, { recursive: true });
  const files = [...packages.map(({ file }) => file), BILL_OF_MATERIALS, THIRD_PARTY_LICENSES].sort();
  writeFileSync(join(folder, SUMS), files.map((file) => `${sumOf(join(folder, file))}  ${file}\n`).join(''));
  return packages;
}

/** @param {string} file */
function sumOf(file) {
  return createHash('sha256').update(readFileSync(file)).digest('hex');
}

if (import.meta.filename === process.argv[1]) buildRelease(process.argv[2] ?? join(root, 'dist'));
