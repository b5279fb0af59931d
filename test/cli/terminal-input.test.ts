import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { it } from 'node:test';
import { CommandRun } from '../../src/cli/command/command-run.ts';
import type { CommandContext } from '../../src/cli/command/context.ts';
import { confirm } from '../../src/cli/input/confirm.ts';
import { newPassword } from '../../src/cli/input/password-input.ts';

/** A terminal at which somebody types; null ends the input. */
function terminal(typed: readonly (string | null)[], isTTY = true) {
  const stdin = Object.assign(new PassThrough(), { isTTY, setRawMode: () => stdin });
  const stderr = new PassThrough();
  for (const text of typed) stdin.push(text);
  const context = { stdin, stderr } as unknown as CommandContext;
  return { context, shown: () => String(stderr.read() ?? '') };
}

it('asks for a password twice, and shows nothing of it', async () => {
  const { context, shown } = terminal(['correct hrose\b\b\b\borse\r', 'correct horse\r']);
  assert.deepEqual(await newPassword(context, false), { password: 'correct horse', made: false });
  assert.equal(shown(), 'New password: \nThe same again: \n');
});

it('refuses two passwords that differ', async () => {
  const { context } = terminal(['correct horse\r', 'correct house\r']);
  await assert.rejects(newPassword(context, false), { name: 'OperatorError', message: /differ/ });
});

it('changes nothing when the question is left by Ctrl-C', async () => {
  const { context } = terminal(['correct\u0003']);
  await assert.rejects(newPassword(context, false), { name: 'OperatorError', message: /nothing was changed/ });
});

it('makes another strong password each time where nobody can be asked', async () => {
  const { context } = terminal([null], false);
  const made = [await newPassword(context, false), await newPassword(context, false)];
  for (const { password } of made) assert.match(password, /^([a-z2-9]{5}-){3}[a-z2-9]{5}$/);
  assert.notEqual(made[0]?.password, made[1]?.password);
});

it('reads a password from a pipe, if it is one line of text', async () => {
  const piped = (bytes: Buffer) =>
    newPassword({ stdin: new PassThrough().end(bytes) } as unknown as CommandContext, true);
  assert.equal((await piped(Buffer.from('pässword \n'))).password, 'pässword ');
  await assert.rejects(piped(Buffer.from('two\n\n')), { name: 'OperatorError', message: /a single line/ });
  await assert.rejects(piped(Buffer.from([0xff, 0xfe])), { name: 'OperatorError', message: /UTF-8/ });
});

it('does not read a password that a terminal would show', async () => {
  await assert.rejects(newPassword(terminal([]).context, true), { name: 'OperatorError', message: /--password-stdin/ });
});

it('asks before what cannot be undone, and takes only yes for yes', async () => {
  const confirmed = (typed: string | null) => {
    const run = new CommandRun(terminal([typed]).context, (line) => line);
    return confirm(run, 'scope delete', 'mail');
  };
  await confirmed('y\n');
  await confirmed('YES\n');
  for (const answer of ['\n', 'n\n', 'yesterday\n', null])
    await assert.rejects(confirmed(answer), { name: 'OperatorError', message: /nothing was changed/ });
});
