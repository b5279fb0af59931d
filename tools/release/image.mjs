// The image of a release, where an engine can build it.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The engines that can build, with the words that show that they can. */
const BUILDERS = { docker: ['version'], podman: ['version'], buildah: ['version'] };

/**
 * @typedef {{ builder: string, tag: string, digest: string }} Image
 */

/** Returns the first engine that answers, or null. */
export function imageBuilder() {
  return Object.entries(BUILDERS).find(([name, words]) => spawnSync(name, words).status === 0)?.[0] ?? null;
}

/** Returns the words of the command that builds the image. @param {string} root @param {string} version @param {string} commit */
export function buildWords(root, version, commit) {
  const { repository, homepage } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const labels = {
    version,
    revision: commit,
    source: repository.url.replace(/^git\+/, ''),
    url: homepage,
  };
  const named = Object.entries(labels).flatMap(([key, value]) => [
    '--label',
    `org.opencontainers.image.${key}=${value}`,
  ]);
  return ['build', '--tag', `valetkey:${version}`, ...named, '.'];
}

/**
 * Builds the image with an engine, and runs the whole flow in it once.
 * @param {string} root @param {string} builder @param {string} version @param {string} commit @returns {Image}
 */
export function buildImage(root, builder, version, commit) {
  execFileSync(builder, buildWords(root, version, commit), { cwd: root, stdio: ['ignore', 2, 2] });
  const tag = `valetkey:${version}`;
  const inspected = ['inspect', '--format', builder === 'buildah' ? '{{.FromImageID}}' : '{{.Id}}', tag];
  const digest = execFileSync(builder, inspected, { encoding: 'utf8' }).trim();
  if (builder !== 'buildah')
    execFileSync(builder, ['run', '--rm', '--read-only', '--tmpfs', '/tmp', tag, 'demo', '--headless'], {
      stdio: 'ignore',
    });
  return { builder, tag, digest };
}
