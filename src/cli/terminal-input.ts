/** Questions to the person at the terminal. They go to standard error, so that standard output is the answer alone. */
import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { OperatorError } from '../oauth/error.ts';
import type { CommandContext } from './context.ts';

/** Asks line after line and answers what was typed; without `echo` nothing of it is shown. */
export async function ask(context: CommandContext, prompts: readonly string[], echo: boolean): Promise<string[]> {
  const { stdin, stderr } = context;
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  // Reading the keys one by one is what keeps the terminal from echoing them.
  const lines = createInterface({ input: stdin, output: nowhere, terminal: !echo, historySize: 0 });
  const typed = lines[Symbol.asyncIterator]();
  const answers: string[] = [];
  try {
    for (const prompt of prompts) {
      stderr.write(prompt);
      const line = await typed.next();
      if (!echo || line.done) stderr.write('\n');
      if (line.done) throw new OperatorError('the question was not answered: nothing was changed');
      answers.push(line.value);
    }
    return answers;
  } finally {
    lines.close();
  }
}

/** Asks before something that cannot be undone, unless `yes` was said already or nobody is there to be asked. */
export async function confirm(context: CommandContext, question: string, yes: boolean): Promise<void> {
  if (yes || !context.stdin.isTTY) return;
  const [answer = ''] = await ask(context, [`${question} [y/N] `], true);
  if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError('nothing was changed');
}
