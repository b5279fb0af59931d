import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { examplePrograms } from '../../src/pages/developers/developers-programs.ts';
import { startWorld } from '../clients/walk.ts';
import { copied, programsOf, runProgram } from '../other-languages/page-programs.ts';

const world = await startWorld({ after });
const programs = programsOf(world);

// Those of other languages run in `npm run test:languages`, which installs them.
for (const program of programs.filter(({ language }) => language === 'javascript'))
  test(`app developers: the program of the page in ${program.name} runs as it is copied`, () =>
    runProgram(world, program));

test('app developers: what the page shows is what the tests run, with the addresses of this service', async () => {
  assert.deepEqual(
    programs.map(({ language }) => language),
    ['javascript', 'python', 'go', 'ruby'],
  );
  for (const program of programs) assert.equal(await copied(world, program), program.text, program.name);
});

test('only on this machine does the program in JavaScript go without TLS', () => {
  const textFor = (issuer: string) => {
    const [program] = examplePrograms({ issuer, authorizationUrl: '', tokenUrl: '', meUrl: '' });
    return program?.text ?? assert.fail();
  };
  assert.match(textFor('http://localhost:3000'), /allowInsecureRequests/);
  assert.doesNotMatch(textFor('https://accounts.northwind.example'), /allowInsecureRequests/);
});
