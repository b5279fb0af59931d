// The changelog as the list of releases: a version is released once CHANGELOG.md has its section.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Returns the released versions, newest first. @param {string} root */
export function releasedVersions(root) {
  const text = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  return [...text.matchAll(/^## (\d\S*)/gm)].map(([, version = '']) => version);
}

/** Returns the text of a version's section, or '' without one. @param {string} root @param {string} version */
export function sectionOf(root, version) {
  const sections = readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## /m);
  const [, ...lines] = sections.find((section) => section.split(/\s/, 1)[0] === version)?.split('\n') ?? [];
  return lines.join('\n').trim();
}
