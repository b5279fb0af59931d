/** Commands that there are not: those that are announced, and what other programs call ours. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { ANNOUNCED } from '../../src/cli/unknown-command.ts';
import { runCommand } from '../support/command.ts';
import { commandsOfProgram } from '../support/commands.ts';

const DOCUMENT = readFileSync(new URL('../../docs/interface.md', import.meta.url), 'utf8');

test('a command that is there is announced no more, and docs/interface.md names all that are', async () => {
  const there = await commandsOfProgram();
  assert.deepEqual(
    ANNOUNCED.filter((name) => there.has(name)),
    [],
    'delete the line in src/cli/unknown-command.ts, and in docs/interface.md',
  );
  const [, missing = ''] = DOCUMENT.replaceAll('\n', ' ').split('## Not in this version');
  assert.deepEqual([...ANNOUNCED].sort(), [...missing.matchAll(/`([a-z -]+)`/g)].map(([, name]) => name).sort());
});

for (const name of ANNOUNCED)
  test(`"${name}" says that it is not there yet`, async () => {
    const { code, stderr } = await runCommand([...name.split(' '), '--some', 'option'], {});
    assert.equal(code, 2);
    assert.match(stderr, /^valetkey: '[a-z-]+' is announced, and not in this version yet: see /);
  });

const SUGGESTED: Record<string, string> = {
  'app register': 'client',
  'clients list': 'client',
  'client add': 'register',
  'client create': 'register',
  'client rotate': 'rotate-secret',
  'client rm': 'delete',
  'user create': 'add',
  'user stop': 'disable',
  'scope add': 'define',
  'grant delete': 'revoke',
  'account add': 'user',
  start: 'serve',
  'client registr': 'register',
};
for (const [line, suggestion] of Object.entries(SUGGESTED))
  test(`"${line}" is answered with ${suggestion}`, async () => {
    const { code, stderr } = await runCommand(line.split(' '), {});
    assert.equal(code, 2);
    assert.ok(stderr.includes(`(Did you mean ${suggestion}?)`), stderr);
  });
