/** Commands that there are not: what other programs call ours. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../support/command.ts';

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
