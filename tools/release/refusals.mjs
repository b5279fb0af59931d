// What a release is refused for, each with its remedy, and what could not be asked.
import { spawnSync } from 'node:child_process';
import { sectionOf } from './changelog.mjs';
import { npmEnvironment } from './npm.mjs';
import { statedVersions, VERSION } from './versions.mjs';

/**
 * @typedef {{ problem: string, remedy: string }} Refusal
 * @typedef {{ asked: true, open: string[] } | { asked: false, why: string }} Advisories
 */

/** Returns all refusals of a version but those for advisories. @param {string} root @param {string} version @returns {Refusal[]} */
export function refusals(root, version) {
  if (!VERSION.test(version))
    return [
      {
        problem: version === '' ? 'no version is named' : `"${version}" is no version`,
        remedy: 'run "npm run release -- 0.1.0-rc.1", with the version of package.json',
      },
    ];
  return [...wrongVersions(root, version), ...missingSection(root, version), ...dirtyTree(root)];
}

/** @param {string} root @param {string} version @returns {Refusal[]} */
function wrongVersions(root, version) {
  const wrong = [...statedVersions(root)].flatMap(([file, stated]) => {
    const others = [...new Set(stated)].filter((each) => each !== version);
    return others.map((each) => `${file} says ${each}`);
  });
  if (wrong.length === 0) return [];
  const remedy = `run "npm run set-version -- ${version}", and commit`;
  return [{ problem: `the versions are not all ${version}: ${wrong.join(', ')}`, remedy }];
}

/** @param {string} root @param {string} version @returns {Refusal[]} */
function missingSection(root, version) {
  if (sectionOf(root, version) !== '') return [];
  const remedy = `write "## ${version} (the date)" in place of "## Unreleased", with what users notice below it, and commit`;
  return [{ problem: `CHANGELOG.md has no section "## ${version}" with a text`, remedy }];
}

/** @param {string} root @returns {Refusal[]} */
function dirtyTree(root) {
  const { status, stdout } = spawnSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' });
  if (status !== 0)
    return [{ problem: 'git tells nothing of this folder', remedy: 'run this in a clone of the repository, with git' }];
  const changed = stdout.trimEnd();
  if (changed === '') return [];
  const files = changed.split('\n').map((line) => line.slice(3));
  const more = files.length > 5 ? `, and ${files.length - 5} more` : '';
  return [
    {
      problem: `the checkout differs from its commit: ${files.slice(0, 5).join(', ')}${more}`,
      remedy: 'commit these files, or remove them',
    },
  ];
}

/**
 * Asks npm's registry for the open advisories of the packages that the program runs with.
 * @param {string} root @returns {Advisories}
 */
export function openAdvisories(root) {
  const words = ['audit', '--omit=dev', '--json'];
  const { stdout } = spawnSync('npm', words, { cwd: root, encoding: 'utf8', env: npmEnvironment() });
  return readAudit(stdout);
}

/** Reads the output of `npm audit --json`. @param {string} output @returns {Advisories} */
export function readAudit(output) {
  /** @type {{ vulnerabilities?: Record<string, { severity: string }>, message?: string }} */
  let answer;
  try {
    answer = JSON.parse(output);
  } catch {
    return { asked: false, why: 'npm audit gave no answer' };
  }
  const { vulnerabilities, message = 'npm audit gave no list' } = answer;
  if (vulnerabilities === undefined)
    return { asked: false, why: message.replaceAll(/https?:\/\/\S+/g, 'the registry') };
  return { asked: true, open: Object.entries(vulnerabilities).map(([name, { severity }]) => `${name} (${severity})`) };
}

/** @param {Advisories} advisories @returns {Refusal[]} */
export function advisoryRefusals(advisories) {
  if (!advisories.asked || advisories.open.length === 0) return [];
  return [
    {
      problem: `there are open advisories for packages that the program runs with: ${advisories.open.join(', ')}`,
      remedy: 'run "npm audit --omit=dev", take the fixed versions, and run the tests',
    },
  ];
}
