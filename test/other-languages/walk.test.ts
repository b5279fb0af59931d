import { after, describe, test } from 'node:test';
import { startWorld, type World } from '../clients/walk.ts';
import { isThere, type Library, LONGEST_WALK, libraries, walk } from './walk.ts';

const notThere = ({ name, packages }: Library) =>
  `${name} is not installed: install ${packages.join(' ')}, or run npm run test:languages, which does`;

describe('libraries of other languages', { concurrency: 2, timeout: 2 * LONGEST_WALK }, async () => {
  const skipped = new Map(libraries.map((library) => [library, isThere(library) ? false : notThere(library)]));
  const isAnyThere = [...skipped.values()].includes(false);
  const world = isAnyThere ? await startWorld({ after }) : null;
  for (const [library, skip] of skipped)
    for (const type of ['confidential', 'public'] as const)
      test(`RFC 6749 §4.1: ${library.name} lives a grant as a ${type} client`, {
        timeout: LONGEST_WALK,
        skip,
      }, async () => {
        await walk(world as World, library, type);
      });
});
