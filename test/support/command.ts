/** One command of the real program, on streams of its own. */
import { Readable } from 'node:stream';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import { Collector } from '../cli/collector.ts';

/** Runs a command with these variables as its environment, and this as its standard input. */
export async function runCommand(
  words: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  input = '',
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const [stdin, stdout, stderr] = [Readable.from([Buffer.from(input)]), new Collector(), new Collector()];
  const code = await runProgram(words, { ...makeCommandContext(environment), stdin, stdout, stderr });
  return { code, stdout: stdout.text, stderr: stderr.text };
}
