// npm run release -- VERSION: makes the files of a release under dist/VERSION, tries each once, and prints the commands for the
// person who signs, tags and publishes. It publishes nothing. docs/releasing.md has the steps around it.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildRelease, SUMS } from './release/build.mjs';
import { buildImage, buildWords, imageBuilder } from './release/image.mjs';
import { advisoryRefusals, openAdvisories, refusals } from './release/refusals.mjs';
import { tryLibrary, tryProgram } from './release/trial.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const version = process.argv[2] ?? '';

const advisories = openAdvisories(root);
const refused = [...refusals(root, version), ...advisoryRefusals(advisories)];
for (const { problem, remedy } of refused) console.error(`release: ${problem}. To do: ${remedy}.`);
if (refused.length > 0) process.exit(1);

const commit = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' }).trim();
const npm = execFileSync('npm', ['--version'], { encoding: 'utf8' }).trim();
console.log(`Valetkey ${version}, commit ${commit}, Node.js ${process.versions.node}, npm ${npm}`);
console.log(
  advisories.asked
    ? 'advisories: none is open'
    : `advisories: NOT ASKED, since the registry did not answer (${advisories.why}). Run "npm audit --omit=dev" where it does.`,
);

const folder = join(root, 'dist', version);
const packages = buildRelease(folder);
for (const { name, file } of packages) {
  const path = join(folder, file);
  if (name === 'valetkey') tryProgram(path);
  else tryLibrary(path);
  console.log(`${file}: built, installed in an empty folder, and run`);
}
const builder = imageBuilder();
const image = builder && buildImage(root, builder, version, commit);
console.log(
  image
    ? `image ${image.tag}: built by ${image.builder}, ${image.digest} (another build has another digest)`
    : 'image: NOT BUILT, since neither docker, podman nor buildah answers here',
);
console.log(`\ndist/${version}/${SUMS}:\n${readFileSync(join(folder, SUMS), 'utf8')}`);
console.log(commands());

/** Returns the commands that publish, as text. */
function commands() {
  const isBefore = version.includes('-');
  const publish = packages.map(
    ({ file }) => `npm publish dist/${version}/${file} --access public --tag ${isBefore ? 'next' : 'latest'}`,
  );
  const build = image ? [] : [`docker ${buildWords(root, version, commit).join(' ')}`];
  const lines = [
    `gpg --armor --detach-sign dist/${version}/${SUMS}`,
    `git tag --sign v${version} ${commit} --message "Valetkey ${version}"`,
    `git push origin v${version}`,
    ...publish,
    ...build,
    `docker tag valetkey:${version} REGISTRY/valetkey:${version} && docker push REGISTRY/valetkey:${version}`,
  ];
  return `Nothing is published. docs/releasing.md says what to compare first.${unfilled()} Then:\n\n  ${lines.join('\n  ')}\n`;
}

/** Returns a sentence if an address of the project is still made up. */
function unfilled() {
  const named = ['package.json', 'SECURITY.md'].filter((file) =>
    readFileSync(join(root, file), 'utf8').includes('valetkey.example'),
  );
  if (named.length === 0) return '';
  return `\nDO NOT PUBLISH YET: ${named.join(' and ')} say valetkey.example. Fill in the addresses of the project, commit, and run this again.`;
}
