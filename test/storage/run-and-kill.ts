/** Programs that are killed with `kill -9`. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as after } from 'node:timers/promises';

/** The lots of these tests begin with it. */
export const SEED = 20_260_102;

/** Runs a program of this folder, kills it so long after its first output (ms), and answers the whole output. */
export async function runAndKill(program: string, path: string, delay: number): Promise<string> {
  const child = spawn(process.execPath, [new URL(program, import.meta.url).pathname, path], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  let output = '';
  const began = once(child.stdout, 'data');
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  await Promise.race([began, ended]);
  await Promise.race([after(delay), ended]);
  child.kill('SIGKILL');
  await ended;
  return output;
}
