/** The program as a process: `serve` and the operator's commands on a folder of their own. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { runCommand } from './command.ts';
import { COMPILED } from './compiled.ts';
import { freePort, type Lifetime } from './service.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** How a process ended, and what it said. */
export type Ended = { readonly code: number | null; readonly stdout: string; readonly stderr: string };

/** A running `serve`. */
export type Serving = {
  readonly child: ChildProcess;
  /** What it printed until both addresses answered. */
  readonly printed: string;
  readonly ended: Promise<Ended>;
};

/** One installation on disk: its folder, its addresses, and the variables that name them. */
export class ProgramOnDisk {
  readonly folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
  readonly appUrl: string;
  readonly apiUrl: string;
  readonly #running = new Set<ChildProcess>();

  private constructor(appPort: number, apiPort: number) {
    this.appUrl = `http://127.0.0.1:${appPort}`;
    this.apiUrl = `http://127.0.0.1:${apiPort}`;
  }

  /** An empty folder; when the test ends, what still runs is killed and the folder removed. */
  static async make(t: Lifetime): Promise<ProgramOnDisk> {
    const program = new ProgramOnDisk(await freePort(), await freePort());
    t.after(() => {
      for (const child of program.#running) child.kill('SIGKILL');
      rmSync(program.folder, { recursive: true, force: true, maxRetries: 5 });
    });
    return program;
  }

  get variables(): Record<string, string> {
    return {
      VALETKEY_APP_URL: this.appUrl,
      VALETKEY_API_URL: this.apiUrl,
      VALETKEY_DATABASE_URL: `sqlite:${join(this.folder, 'data/valetkey.db')}`,
      VALETKEY_KEYS_FILE: join(this.folder, 'data/keys'),
    };
  }

  /** Runs one command to its end, as a process of its own. */
  async run(command: string[], variables: Record<string, string> = {}, input = ''): Promise<Ended> {
    const child = this.#spawn(command, variables);
    child.stdin?.end(input);
    return outcome(child);
  }

  /**
   * Runs one command to its end in the process of the test, for less than a tenth of the work. Whatever it logs goes to the
   * standard error of that process.
   */
  command(command: string[], variables: Record<string, string> = {}, input = ''): Promise<Ended> {
    return runCommand(command, { ...this.variables, ...variables }, input);
  }

  /** Runs a command that must succeed, in the process of the test, and returns its JSON. */
  async json(command: string[], input = ''): Promise<Record<string, unknown>> {
    const { code, stdout, stderr } = await this.command([...command, '--json'], {}, input);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, unknown>;
  }

  /** Starts a command, and does not wait for anything. */
  start(
    command: string[],
    variables: Record<string, string> = {},
    stderr: 'pipe' | number = 'pipe',
  ): Pick<Serving, 'child' | 'ended'> {
    const child = this.#spawn(command, variables, stderr);
    return { child, ended: outcome(child) };
  }

  /**
   * Starts the service; resolves when it says that both addresses answer. Its log may go to an open file: a service waits
   * for whoever reads it from a pipe.
   */
  async serve(variables: Record<string, string> = {}, log: 'pipe' | number = 'pipe'): Promise<Serving> {
    const { child, ended } = this.start(['serve'], variables, log);
    let printed = '';
    const answering = new Promise<void>((resolve, reject) => {
      child.stdout?.on('data', (chunk) => {
        printed += chunk;
        if (/^api .*\n/m.test(printed)) resolve();
      });
      child.once('exit', () => reject(new Error('serve ended before it answered')));
    });
    await answering.catch(async () => assert.fail((await ended).stderr));
    return { child, printed, ended };
  }

  #spawn(command: string[], variables: Record<string, string>, stderr: 'pipe' | number = 'pipe'): ChildProcess {
    const env = { PATH: process.env['PATH'], HOME: this.folder, ...COMPILED, ...this.variables, ...variables };
    // As `npm start` does.
    const flags = ['--disable-warning=ExperimentalWarning', '--max-semi-space-size=4'];
    const child = spawn(process.execPath, [...flags, MAIN, ...command], { env, stdio: ['pipe', 'pipe', stderr] });
    this.#running.add(child);
    child.once('exit', () => this.#running.delete(child));
    return child;
  }
}

async function outcome(child: ChildProcess): Promise<Ended> {
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const said = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ''));
  const [stdout = '', stderr = ''] = await Promise.all(said);
  return { code: await code, stdout, stderr };
}
