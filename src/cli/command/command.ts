/** The form that all commands share: a sentence, examples, `--json`, and one sentence for a wrong command line. */
import { Command, type CommandOptions } from 'commander';
import { QUESTIONS } from './questions.ts';
import { aboutUnknown } from './unknown-command.ts';

/** A wrong command line; the message is one sentence with the remedy. */
export class WrongUse extends Error {
  override readonly name = 'WrongUse';
}

/** A command, or a group of commands. */
export class CliCommand extends Command {
  override createCommand(name?: string): CliCommand {
    return new CliCommand(name);
  }

  /** Adds a group of commands about one kind of thing. */
  group(name: string, sentence: string): CliCommand {
    return this.command(name)
      .description(sentence)
      .usage('<command> [options]')
      .addHelpText('after', ({ command }) => explains(command as CliCommand));
  }

  /**
   * Adds a command; `signature` is its name with its arguments. One that asks before it acts gets `--yes`. With `isDefault` it
   * runs if none of its group is named.
   */
  leaf(signature: string, sentence: string, examples: readonly string[], options: CommandOptions = {}): CliCommand {
    const lines = examples.map((example) => `  valetkey ${example}`);
    const leaf = this.command(signature, options)
      .description(sentence)
      .option('--json', 'print JSON, for programs')
      .addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
    const [, ...words] = leaf.names();
    return Object.hasOwn(QUESTIONS, words.join(' ')) ? leaf.option('--yes', 'do not ask first') : leaf;
  }

  /** Sets what the command does: `run` opens the installation, and prints what `act` returns for the arguments and options. */
  acts<Inside, Result, Given extends unknown[]>(
    run: { withInstallation(act: (inside: Inside) => Promise<Result>): Promise<void> },
    act: (inside: NoInfer<Inside>, ...given: Given) => Promise<NoInfer<Result>>,
  ): this {
    return this.action((...given) => run.withInstallation((inside) => act(inside, ...(given as unknown[] as Given))));
  }

  /** Refuses the command line, in one sentence. */
  override error(message: string): never {
    const [, unknown, similar = null] = UNKNOWN.exec(message) ?? [];
    if (unknown !== undefined) {
      const there = this.commands.map((command) => command.name());
      message = aboutUnknown(unknown, there, similar);
    }
    const sentence = message
      .replace(/^error: /, '')
      .replace(/(?<= is invalid)\. /, ': ')
      .replace(/(?<=')\. Expected (.*)\.$/, ': expected $1')
      .replaceAll('\n', ' ');
    throw new WrongUse(`${sentence}; see "${this.names().join(' ')} --help"`);
  }

  /** The names of the program, its groups and the command. */
  names(): string[] {
    const names = [this.name()];
    for (let parent = this.parent; parent; parent = parent.parent) names.unshift(parent.name());
    return names;
  }
}

function explains(group: CliCommand): string {
  return `\n"${group.names().join(' ')} <command> --help" explains one of them, with examples.`;
}

/** Commander's message for an unknown command, which names the one that is spelled alike. */
const UNKNOWN = /^error: unknown command '(.*?)'(?:\n\(Did you mean (?:one of )?([^,?]+).*\))?$/s;
