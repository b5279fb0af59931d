// Runs each built package once, as those who install it do: from its file, in an empty folder, with npm's registry alone.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { npmEnvironment } from './npm.mjs';

/** Installs the program, and has it walk the whole flow. Throws if it does not. @param {string} file of the package */
export function tryProgram(file) {
  installed(file, (run) => {
    const { ok } = JSON.parse(run('npx', ['valetkey', 'demo', '--headless', '--json']));
    if (ok !== true) throw new Error(`the demo of ${file} failed`);
  });
}

/** Installs a library, and imports each of its names. Throws if it does not load. @param {string} file of the package */
export function tryLibrary(file) {
  installed(file, (run, folder) => {
    const { dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    const [name = ''] = Object.keys(dependencies);
    const { exports } = JSON.parse(readFileSync(join(folder, 'node_modules', name, 'package.json'), 'utf8'));
    const imports = Object.keys(exports).map((each) => `await import('${name}${each.slice(1)}');`);
    run(process.execPath, ['--input-type=module', '--eval', imports.join('\n')]);
  });
}

/**
 * Installs a package in an empty folder, which is removed afterwards.
 * @param {string} file @param {(run: (program: string, words: string[]) => string, folder: string) => void} use
 */
function installed(file, use) {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-trial-'));
  /** @param {string} program @param {string[]} words */
  const run = (program, words) =>
    execFileSync(program, words, {
      cwd: folder,
      env: npmEnvironment(),
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 2],
    });
  try {
    run('npm', ['install', '--no-audit', '--no-fund', file]);
    use(run, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
}
