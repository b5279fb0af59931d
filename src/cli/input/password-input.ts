/** Reads or makes a new password. It is never an argument, which everybody on the machine could see. */
import { randomInt } from 'node:crypto';
import { OperatorError } from '../../oauth/error.ts';
import type { CommandContext } from '../command/context.ts';
import { ask } from './terminal-input.ts';

/** A password, and whether it was made here and must therefore be shown. */
export type NewPassword = { readonly password: string; readonly made: boolean };

/** Reads the password from standard input, or asks for it at a terminal, or else makes one. */
export async function newPassword(context: CommandContext, fromStdin: boolean): Promise<NewPassword> {
  if (fromStdin) return { password: await readStdin(context.stdin), made: false };
  if (context.stdin.isTTY) return { password: await askTwice(context), made: false };
  return { password: makePassword(), made: true };
}

async function readStdin(stdin: CommandContext['stdin']): Promise<string> {
  if (stdin.isTTY)
    throw new OperatorError('--password-stdin reads a pipe or a file: omit it to be asked for the password');
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk));
  const text = decode(Buffer.concat(chunks)).replace(/\r?\n$/, '');
  if (/[\r\n]/.test(text)) throw new OperatorError('the password must be a single line');
  return text;
}

function decode(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new OperatorError('the password must be text in UTF-8');
  }
}

async function askTwice(context: CommandContext): Promise<string> {
  const [password = '', again] = await ask(context, ['New password: ', 'The same again: '], false);
  if (password !== again) throw new OperatorError('the two passwords differ: nothing was changed');
  return password;
}

/** About 99 random bits, of characters that are hard to mistake for each other. */
function makePassword(): string {
  const alphabet = 'abcdefghjkmnpqrstuvwxyz23456789';
  const group = () => Array.from({ length: 5 }, () => alphabet[randomInt(alphabet.length)]).join('');
  return [group(), group(), group(), group()].join('-');
}
