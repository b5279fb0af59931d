/** One command of the real program, on streams of its own. */
import { Readable } from 'node:stream';
import { runProgram } from '../../src/cli/program.ts';
import { makeCommandContext } from '../../src/main.ts';
import { Collector } from '../cli/collector.ts';

/** Runs a command with these variables as its environment. */
export async function runCommand(words: readonly string[], environment: Readonly<Record<string, string>>) {
  const [stdout, stderr] = [new Collector(), new Collector()];
  const context = { ...makeCommandContext(environment), stdin: Readable.from([]), stdout, stderr };
  const code = await runProgram(words, context);
  return { code, stdout: stdout.text, stderr: stderr.text };
}
