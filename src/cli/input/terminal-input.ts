/** Questions at the terminal. They go to standard error, so that standard output has only the result. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { OperatorError } from '../../oauth/error.ts';
import type { CommandContext } from '../command/context.ts';

/** Asks one question after the other and returns what was typed; without `echo` the terminal does not show it. */
export async function ask(context: CommandContext, prompts: readonly string[], echo: boolean): Promise<string[]> {
  const { stdin, stderr } = context;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // With `terminal`, keys are read one by one, and the terminal does not echo them.
  const lines = createInterface({ input: stdin, output: nowhere, terminal: !echo, historySize: 0 });
  const typed = lines[Symbol.asyncIterator]();
  const replies: string[] = [];
  try {
    for (const prompt of prompts) {
      stderr.write(prompt);
      const line = await typed.next();
      if (!echo || line.done) stderr.write('\n');
      if (line.done) throw new OperatorError('the question was not answered: nothing was changed');
      replies.push(line.value);
    }
    return replies;
  } finally {
    lines.close();
  }
}
