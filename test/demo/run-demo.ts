import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

/** A run of `valetkey demo` with a directory for temporary files of its own. */
export type DemoRun = {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly temporary: string;
};

/** What the demonstration prints first, with `--json`. */
export type Invitation = { url: string; email: string; password: string; app_url: string; api_url: string };

/** Starts the program; it is killed, if it still runs, when the test ends. */
export function startDemo(t: Pick<TestContext, 'after'>, ...options: string[]): DemoRun {
  const temporary = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  const child = spawn(process.execPath, ['src/main.ts', 'demo', ...options], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, TMPDIR: temporary },
  });
  t.after(() => {
    child.kill('SIGKILL');
    rmSync(temporary, { recursive: true, force: true });
  });
  return { child, temporary };
}

/** Waits for the end of a run. */
export async function finish({ child }: DemoRun): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const ended = once(child, 'exit');
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, stdout, stderr };
}

/** The first thing that a run with `--json` prints. */
export async function invitationOf({ child }: DemoRun): Promise<Invitation> {
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the demo ended at once, with exit code ${code}`);
  });
  const [line] = await Promise.race([once(child.stdout, 'data'), ended]);
  return JSON.parse(String(line));
}
