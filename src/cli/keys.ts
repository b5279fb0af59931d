/** `keys`: the root keys from which every credential is derived. */
import type { CliCommand } from './command.ts';
import type { CommandRun } from './command-run.ts';

/** Adds the commands about root keys. */
export function addKeysCommands(program: CliCommand, run: CommandRun): void {
  program
    .group('keys', 'Root keys, from which every credential is derived.')
    .leaf('generate', 'Make a root key: print it, or write it to a new file that only you can read.', [
      'keys generate',
      'keys generate --file data/keys',
    ])
    .option('--file <path>', 'write the key to this file, and do not print it')
    .action(async ({ file }: { file?: string }) => {
      const made = await run.context.keys.generate(file ?? null);
      const note = 'Keep it apart from the database and its backups: who has both can act for every user.';
      if (made.file === null) run.print({ json: { key: made.key, file: null }, text: [made.key], note });
      else run.print({ json: { key: null, file: made.file }, text: [`A new root key is in ${made.file}.`], note });
    });
}
