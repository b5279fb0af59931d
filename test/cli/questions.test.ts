/** What a person at a terminal is asked: only what can still be done, and with the number of what would end. */
import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { after, test } from 'node:test';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import { obtainPair, signedInBrowser } from '../support/flow.ts';
import { addClient, addUser, startTestService } from '../support/service.ts';
import { Collector } from './collector.ts';

const service = await startTestService({ after });
const { installation, clock } = service;

/** Runs a command on the service's installation, at a terminal where this is typed; null is nobody. */
async function atTerminal(words: readonly string[], typed: string | null) {
  const stdin = Object.assign(new PassThrough(), { isTTY: typed !== null, setRawMode: () => stdin });
  const [stdout, stderr] = [new Collector(), new Collector()];
  stdin.write(typed ?? '');
  const code = await runProgram(words, {
    ...makeCommandContext({}),
    stdin,
    stdout,
    stderr,
    now: clock.now,
    open: async () => ({ ...installation, close: async () => {} }),
  });
  return { code, stdout: stdout.text, stderr: stderr.text };
}

const [ada, bob] = [await addUser(service), await addUser(service, 'bob@example.com')];
const [one, two] = [await addClient(service, { name: 'One' }), await addClient(service, { name: 'Two' })];
for (const { email } of [ada, bob]) {
  const browser = await signedInBrowser(service, email ?? '');
  for (const client of [one, one, two]) await obtainPair(service, browser, client);
}

const QUESTIONS: [words: string[], question: string][] = [
  [['client', 'revoke-grants', one.clientId], 'End all grants of One (4 grants of 2 users)?'],
  [['client', 'delete', two.clientId], 'Delete Two, with 2 grants of 2 users?'],
  [['user', 'revoke-grants', ada.id], 'End all grants of ada@example.com (3 grants for 2 apps)?'],
  [['user', 'delete', bob.id], 'Delete bob@example.com, with 3 grants for 2 apps?'],
  [['grant', 'revoke', '--all'], 'End every grant (6 grants of 2 users for 2 apps)?'],
];
for (const [words, question] of QUESTIONS)
  test(`"${words.slice(0, 2).join(' ')}" counts what would end before it is asked, and ends nothing without a yes`, async () => {
    const { code, stderr } = await atTerminal(words, 'n\n');
    assert.deepEqual([code, stderr], [1, `${question} This cannot be undone. [y/N] valetkey: nothing was changed\n`]);
    assert.equal((await installation.grants.count({})).grants, 6);
  });

test('a yes ends them, and none are left to count', async () => {
  const revoke = ['client', 'revoke-grants', one.clientId];
  const { code, stdout } = await atTerminal(revoke, 'y\n');
  assert.deepEqual([code, stdout], [0, 'All grants of One are ended.\n']);
  assert.match((await atTerminal(revoke, 'n\n')).stderr, /^End all grants of One \(0 grants\)\?/);
});

test('nothing is counted or asked with --yes', async () => {
  for (const typed of ['', null])
    assert.deepEqual(await atTerminal(['user', 'revoke-grants', ada.id, '--yes'], typed), {
      code: 0,
      stdout: 'All grants of ada@example.com are ended.\n',
      stderr: '',
    });
});

test('"user add" asks for no password of somebody who cannot be added', async () => {
  const add = (email: string, ...more: string[]) =>
    atTerminal(['user', 'add', '--email', email, '--name', 'Ada Again', ...more], '');
  assert.equal((await add('ada')).stderr, 'valetkey: email: it is not an email address, such as ada@example.com\n');
  assert.equal((await add('Ada@example.com')).stderr, 'valetkey: another account has this email address already\n');
  assert.match((await add('new@example.com', '--username', 'No!')).stderr, /^valetkey: username: /);
});
