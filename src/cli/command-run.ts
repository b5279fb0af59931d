/** One run of the program: how a command reaches the installation, and how its answer is printed. */
import type { CommandContext, Installation } from './context.ts';
import { plain } from './plain.ts';

/** What a command answers: the same facts for programs and for people, and what to do about them. */
export type Answer = {
  readonly json: unknown;
  /** Lines for people. */
  readonly text: readonly string[];
  /** A line beside the answer, on standard error. */
  readonly note?: string;
  /** 1 when the command found something wrong. */
  readonly exitCode?: number;
};

/** Prints what commands answer, and keeps the exit code. */
export class CommandRun {
  readonly context: CommandContext;
  readonly #wantsJson: () => boolean;
  exitCode = 0;

  constructor(context: CommandContext, wantsJson: () => boolean) {
    this.context = context;
    this.#wantsJson = wantsJson;
  }

  /** Whether the answer is for a program; known once the command line is read. */
  get json(): boolean {
    return this.#wantsJson();
  }

  /** The columns of the terminal; without bounds where the output goes elsewhere. */
  get width(): number {
    return this.context.stdout.columns ?? Number.POSITIVE_INFINITY;
  }

  /** Opens the installation (or makes it, where that is the command's sense), lets the command act, and prints the answer. */
  async withInstallation(
    act: (installation: Installation) => Promise<Answer>,
    { mayCreate = false }: { mayCreate?: boolean } = {},
  ): Promise<void> {
    const installation = await this.context.open(mayCreate);
    try {
      this.print(await act(installation));
    } finally {
      await installation.close();
    }
  }

  /** Prints an answer. */
  print({ json, text, note, exitCode = 0 }: Answer): void {
    const lines = this.json ? JSON.stringify(json, null, 2).split('\n') : text;
    this.context.stdout.write(`${lines.map(plain).join('\n')}\n`);
    if (note !== undefined) this.context.stderr.write(`${plain(note)}\n`);
    this.exitCode = exitCode;
  }
}
