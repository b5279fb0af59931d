/** The progress of a long command, on standard error: one changing line at a terminal, otherwise a periodic line. */
import type { CommandContext } from './context.ts';

/** How far a step is: `rows` of `of`, or of another unit. */
export type Progress = {
  readonly step: string;
  readonly rows: number;
  readonly of: number;
  readonly unit?: string;
};

const WIDTH = 24;
/** Time between two changes of the line at a terminal, and between two lines elsewhere (ms). */
const EVERY_MS = { terminal: 100, elsewhere: 10_000 };
const CLEAR_LINE = '\r\u001b[2K';

/** The progress of one command, which has steps. */
export class ProgressLine {
  readonly #stream: CommandContext['stderr'];
  readonly #now: () => number;
  #step: { readonly name: string; readonly since: number; readonly from: number } | null = null;
  #shownAt = 0;

  /** `now` returns ms since the epoch. */
  constructor({ stderr, now }: Pick<CommandContext, 'stderr' | 'now'>) {
    this.#stream = stderr;
    this.#now = now;
  }

  /** Shows the progress if it is time, or if the step is new or done. */
  show(progress: Progress): void {
    const now = this.#now();
    if (this.#step?.name !== progress.step) {
      this.#step = { name: progress.step, since: now, from: progress.rows };
      this.#shownAt = 0;
    }
    const every = this.#stream.isTTY ? EVERY_MS.terminal : EVERY_MS.elsewhere;
    if (now - this.#shownAt < every && progress.rows < progress.of) return;
    this.#shownAt = now;
    const { since, from } = this.#step;
    const line = sentence(progress, (progress.rows - from) / Math.max(1, now - since));
    this.#stream.write(this.#stream.isTTY ? CLEAR_LINE + bar(progress) + line : `${line}\n`);
  }

  /** Removes the changing line, before something else is written. */
  end(): void {
    if (this.#stream.isTTY && this.#step) this.#stream.write(CLEAR_LINE);
  }
}

/** `perMs` is the number of rows per millisecond. */
function sentence({ step, rows, of, unit = 'rows' }: Progress, perMs: number): string {
  const left = rows < of && perMs > 0 ? `, ${duration((of - rows) / perMs / 1000)} left` : '';
  return `${step} ${percent({ rows, of })} %, ${rows} of ${of} ${unit}${left}`;
}

function bar({ rows, of }: Pick<Progress, 'rows' | 'of'>): string {
  const full = Math.floor((percent({ rows, of }) / 100) * WIDTH);
  return `[${'#'.repeat(full)}${' '.repeat(WIDTH - full)}] `;
}

function percent({ rows, of }: Pick<Progress, 'rows' | 'of'>): number {
  return of === 0 ? 100 : Math.floor((rows / of) * 100);
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
}

/** Lines about a long command whose end is not known, on standard error: at most one every ten seconds. */
export class PeriodicLines {
  readonly #context: Pick<CommandContext, 'stderr' | 'now'>;
  #saidAt: number;

  constructor(context: Pick<CommandContext, 'stderr' | 'now'>) {
    this.#context = context;
    this.#saidAt = context.now();
  }

  /** Writes a line if it is time. */
  say(line: string): void {
    const now = this.#context.now();
    if (now - this.#saidAt < EVERY_MS.elsewhere) return;
    this.#saidAt = now;
    this.#context.stderr.write(`${line}\n`);
  }
}
