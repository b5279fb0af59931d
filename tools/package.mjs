// npm run package: makes the packages under dist/, as npm installs them, with the list of what is in them (SBOM). Nothing is
// published. Node.js strips no types under node_modules, so they hold what `tsc` makes of the sources.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeBillOfMaterials } from './bill-of-materials.mjs';
import { writeThirdPartyLicenses } from './third-party-licenses.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @param {string} file */
const readJson = (file) => JSON.parse(readFileSync(join(root, file), 'utf8'));

/** Returns where the project is found. The root manifest alone names it, for all packages. */
function addresses() {
  const { homepage, repository, bugs } = readJson('package.json');
  return { homepage, repository, bugs };
}

/** What the program runs with, in the words of the checkout: nothing of the development of it. */
function manifest() {
  const { name, version, description, license, author, type, engines, dependencies } = readJson('package.json');
  const bin = { valetkey: 'command.cjs' };
  // It is a program: nothing of it is to be imported, and so everything may change.
  const exports = { './package.json': './package.json' };
  return { name, version, description, license, author, ...addresses(), type, engines, bin, exports, dependencies };
}

/** The very versions that were tested, also of what the dependencies depend on: npm reads this in an installed package.
 * @param {ReturnType<typeof manifest>} own */
function shrinkwrap({ name, version, license, bin, engines, dependencies }) {
  const { lockfileVersion, packages } = readJson('package-lock.json');
  /** @type {[string, Record<string, unknown>][]} */
  const all = Object.entries(packages);
  const needed = all
    .filter(([path, entry]) => path !== '' && !entry['dev'])
    .map(([path, { devOptional, ...entry }]) => [path, devOptional ? { ...entry, optional: true } : entry]);
  const self = { name, version, license, bin, engines, dependencies };
  return { name, version, lockfileVersion, requires: true, packages: Object.fromEntries([['', self], ...needed]) };
}

/** What the documents have an operator put into place; the rest under deploy/ needs a checkout. */
const DEPLOYED = 'deploy/{valetkey*,nginx*,prometheus/*,grafana/*,shared-host/*}';

/** Makes the folder of the program's package. @param {string} folder */
export function buildProgram(folder) {
  rmSync(folder, { recursive: true, force: true });
  compile('packages/valetkey', folder);
  for (const file of globSync(['src/**/*.sql', 'demo/**/*.svg', 'LICENSE', 'CHANGELOG.md'], { cwd: root })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    copyFileSync(join(root, file), join(folder, file));
  }
  copyFileSync(join(root, 'packages/valetkey/README.md'), join(folder, 'README.md'));
  for (const file of globSync(DEPLOYED, { cwd: root })) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), readFileSync(join(root, file), 'utf8').replace('/src/main.ts', '/src/main.js'));
  }
  copyFileSync(join(root, 'packages/valetkey/command.cjs'), join(folder, 'command.cjs'));
  const own = manifest();
  writeJson(join(folder, 'package.json'), own);
  writeJson(join(folder, 'npm-shrinkwrap.json'), shrinkwrap(own));
  writeBillOfMaterials(folder);
  writeThirdPartyLicenses(folder, root);
}

/** Makes the folder of the package for APIs. @param {string} folder */
export function buildVerifier(folder) {
  buildLibrary('packages/verify', folder);
}

/** Makes the folder of the package for products. @param {string} folder */
export function buildProduct(folder) {
  buildLibrary('packages/product', folder);
}

/** @param {string} source @param {string} folder */
function buildLibrary(source, folder) {
  rmSync(folder, { recursive: true, force: true });
  compile(source, join(folder, 'dist'));
  for (const file of ['README.md', 'LICENSE']) copyFileSync(join(root, source, file), join(folder, file));
  const { homepage, repository, bugs } = addresses();
  const own = {
    ...readJson(join(source, 'package.json')),
    homepage,
    repository: { ...repository, directory: source },
    bugs,
  };
  writeJson(join(folder, 'package.json'), own);
}

/** Packs a folder, and answers what npm says of it: `filename`, `size`, `files` and so on.
 * @param {string} folder @param {string} destination */
export function pack(folder, destination) {
  setModes(folder);
  const options = ['--json', '--ignore-scripts', '--pack-destination', destination];
  const [packed] = JSON.parse(
    execFileSync('npm', ['pack', folder, ...options], { cwd: destination, encoding: 'utf8' }),
  );
  return packed;
}

/** Gives each file a mode that does not depend on who made it, since npm packs it. @param {string} folder */
function setModes(folder) {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    const isProgram = entry.isDirectory() || entry.name === 'command.cjs';
    chmodSync(path, isProgram ? 0o755 : 0o644);
  }
}

/** @param {string} project @param {string} outDir */
function compile(project, outDir) {
  const options = ['-p', join(root, project), '--outDir', outDir];
  execFileSync(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), ...options], {
    stdio: ['ignore', 2, 2],
  });
}

/** @param {string} file @param {unknown} value */
function writeJson(file, value) {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}

/** The builder of each package, by the name of its folder. */
export const PACKAGES = { valetkey: buildProgram, verify: buildVerifier, product: buildProduct };

if (import.meta.filename === process.argv[1]) {
  const dist = join(root, 'dist');
  rmSync(dist, { recursive: true, force: true });
  mkdirSync(dist);
  for (const [name, build] of Object.entries(PACKAGES)) {
    build(join(dist, name));
    const { filename, size, entryCount, integrity } = pack(join(dist, name), dist);
    console.log(`dist/${filename}  ${entryCount} files, ${Math.ceil(size / 1024)} KiB  ${integrity}`);
  }
}
