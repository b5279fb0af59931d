/** Asks before a command acts, where somebody can answer; where nobody can, the command needs `--yes`. */
import { OperatorError } from '../../oauth/error.ts';
import { WrongUse } from '../command/command.ts';
import type { CommandRun } from '../command/command-run.ts';
import { type AskingCommand, QUESTIONS } from '../command/questions.ts';
import { ask } from './terminal-input.ts';

/** A fact of a question; a function is called only if the question is asked. */
type Fact = string | (() => Promise<string>);

/** The facts that a command's question names, in its order. */
type Facts<Name extends AskingCommand> = FactsFor<Parameters<(typeof QUESTIONS)[Name]>>;
type FactsFor<Named extends readonly string[]> = { [At in keyof Named]: Fact };

/**
 * Returns once the command may act: after `--yes`, or a yes at the terminal. Comes after the refusal of what does not exist.
 * Throws `WrongUse` without a terminal, and `OperatorError` unless the answer is yes.
 */
export async function confirm<Name extends AskingCommand>(
  { context, options }: CommandRun,
  command: Name,
  ...facts: Facts<Name>
): Promise<void> {
  if (options.yes) return;
  if (!context.stdin.isTTY)
    throw new WrongUse(
      `nothing was changed: "${command}" asks first, and there is no terminal to ask at; give --yes to do it without a question`,
    );
  const known: string[] = [];
  for (const fact of facts) known.push(typeof fact === 'string' ? fact : await fact());
  const question: (...facts: string[]) => string = QUESTIONS[command];
  const [reply = ''] = await ask(context, [`${question(...known)} [y/N] `], true);
  if (!/^y(es)?$/i.test(reply.trim())) throw new OperatorError('nothing was changed');
}
