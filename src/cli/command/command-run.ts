/** One run of the program: opens the installation for a command, and prints its result. */
import { once } from 'node:events';
import { escapeForTerminal } from '../output/escape-for-terminal.ts';
import type { CommandContext, Installation } from './context.ts';

/** The output of a command: the same facts for programs and for people, and the next steps. */
export type CommandResult = {
  readonly json: unknown;
  /** Lines for people. */
  readonly text: readonly string[];
  /** A line on standard error, or several. */
  readonly note?: string | readonly string[];
  /** 1 if the command found something wrong. */
  readonly exitCode?: number;
};

/** The options that the run itself heeds. */
export type RunOptions = { readonly json?: boolean; readonly yes?: boolean };

/** Prints the results of commands, and keeps the exit code. */
export class CommandRun {
  readonly context: CommandContext;
  readonly #asCalled: (line: string) => string;
  /** Set once the command line is read. */
  options: RunOptions = {};
  exitCode = 0;

  /** `asCalled` rewrites commands in a line with the program name that the caller used. */
  constructor(context: CommandContext, asCalled: (line: string) => string) {
    this.context = context;
    this.#asCalled = asCalled;
  }

  /** True if the command prints JSON. */
  get json(): boolean {
    return this.options.json ?? false;
  }

  /** The columns of the terminal; infinite if the output goes elsewhere. */
  get width(): number {
    return this.context.stdout.columns ?? Number.POSITIVE_INFINITY;
  }

  /** Opens the installation (`mayCreate`: or makes it), runs the command, and prints its result, unless it printed that itself. */
  async withInstallation(
    act: (installation: Installation) => Promise<CommandResult | null>,
    { mayCreate = false }: { mayCreate?: boolean } = {},
  ): Promise<void> {
    const installation = await this.context.open(mayCreate);
    try {
      const result = await act(installation);
      if (result) this.print(result);
    } finally {
      await installation.close();
    }
  }

  /** Prints rows that come page by page as one JSON array, no faster than it is read. */
  async printArray<Row>(pages: AsyncIterable<readonly Row[]>, json: (row: Row) => unknown): Promise<void> {
    const { stdout } = this.context;
    let text = '[';
    let separator = '\n';
    for await (const page of pages) {
      for (const row of page) {
        const lines = JSON.stringify(json(row), null, 2).split('\n');
        text += `${separator}${lines.map((line) => `  ${escapeForTerminal(line)}`).join('\n')}`;
        separator = ',\n';
      }
      if (text !== '' && !stdout.write(text)) await once(stdout, 'drain');
      text = '';
    }
    stdout.write(separator === '\n' ? `${text}]\n` : '\n]\n');
  }

  /** Prints a result. */
  print({ json, text, note, exitCode = 0 }: CommandResult): void {
    const lines = this.json ? JSON.stringify(json, null, 2).split('\n') : text.map(this.#asCalled);
    this.context.stdout.write(`${lines.map(escapeForTerminal).join('\n')}\n`);
    for (const line of note === undefined ? [] : [note].flat())
      this.context.stderr.write(`${escapeForTerminal(this.#asCalled(line))}\n`);
    this.exitCode = exitCode;
  }
}
