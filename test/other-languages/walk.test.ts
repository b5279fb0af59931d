import { after, describe, test } from 'node:test';
import { startWorld } from '../clients/walk.ts';
import { isThere, LONGEST_WALK, libraries, walk } from './walk.ts';

const there = libraries.filter(isThere);

describe('libraries of other languages', { concurrency: 2, timeout: 2 * LONGEST_WALK }, async () => {
  // Not a skipped test: nothing that this project brings is missing.
  test('what is not installed here is named, and npm run test:languages installs it', (t) => {
    for (const { name, packages } of libraries.filter((library) => !there.includes(library)))
      t.diagnostic(`not tried: ${name}, as ${packages.join(' ')} is not installed`);
  });

  if (there.length === 0) return;
  const world = await startWorld({ after });
  for (const library of there)
    for (const type of ['confidential', 'public'] as const)
      test(`RFC 6749 §4.1: ${library.name} lives a grant as a ${type} client`, { timeout: LONGEST_WALK }, async () => {
        await walk(world, library, type);
      });
});
