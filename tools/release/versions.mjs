// The version in all places that state it. npm run set-version -- 0.2.0-dev writes it there.
import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A version as npm and the changelog write it: three numbers, and a word and number for one before a release. */
export const VERSION = /^\d+\.\d+\.\d+(?:-[a-z]+(?:\.\d+)?)?$/;

/** Each file that states the version, with the pattern of its places. */
const PLACES = {
  'package.json': /^( {2}"version": ")([^"]*)/m,
  'package-lock.json': /^( {2}"version": "| {4}"": \{\n {6}"name": "valetkey",\n {6}"version": ")([^"]*)/gm,
  'packages/verify/package.json': /^( {2}"version": ")([^"]*)/m,
  'packages/product/package.json': /^( {2}"version": ")([^"]*)/m,
  'test/cli/transcripts/usage.txt': /^(\$ valetkey --version\n)(.*)/m,
};

/** Returns the stated versions by their file. @param {string} root @returns {Map<string, string[]>} */
export function statedVersions(root) {
  const found = Object.entries(PLACES).map(([file, place]) => {
    const all = readFileSync(join(root, file), 'utf8').matchAll(new RegExp(place, 'gm'));
    return /** @type {const} */ ([file, [...all].map(([, , version = '']) => version)]);
  });
  return new Map(found);
}

/** Writes a version to all its places. @param {string} root @param {string} version */
export function setVersion(root, version) {
  for (const [file, place] of Object.entries(PLACES)) {
    const path = join(root, file);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replace(place, (_, before) => before + version),
    );
  }
}

if (import.meta.filename === process.argv[1]) {
  const version = process.argv[2] ?? '';
  if (!VERSION.test(version)) {
    console.error('set-version: name a version, such as 0.1.0-rc.1 or 0.2.0-dev');
    process.exit(2);
  }
  setVersion(dirname(dirname(dirname(fileURLToPath(import.meta.url)))), version);
  console.log(`the version is ${version}`);
}
