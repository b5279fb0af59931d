/** An instance in a process of its own, that can be killed at any moment and started again. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { COMPILED } from '../support/compiled.ts';
import { freePort, type Lifetime } from '../support/service.ts';
import { BEHIND_BALANCER, type Shared } from './instances.ts';
import type { Instance } from './recorder.ts';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** A process of an installation. */
export class ProcessInstance implements Instance {
  readonly name: string;
  readonly appUrl: string;
  readonly apiUrl: string;
  readonly #variables: Record<string, string>;
  #child: ChildProcess | null = null;
  #log: Promise<string> = Promise.resolve('');

  private constructor(name: string, appUrl: string, apiUrl: string, variables: Record<string, string>) {
    this.name = name;
    this.appUrl = appUrl;
    this.apiUrl = apiUrl;
    this.#variables = variables;
  }

  /** An instance that does not run yet; variables are as in the environment. */
  static async make(t: Lifetime, name: string, shared: Shared, variables = {}): Promise<ProcessInstance> {
    const [app, api] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`];
    const own = { ...BEHIND_BALANCER, VALETKEY_APP_LISTEN: app, VALETKEY_API_LISTEN: api };
    const instance = new ProcessInstance(name, `http://${app}`, `http://${api}`, { ...shared, ...own, ...variables });
    t.after(() => instance.kill());
    return instance;
  }

  /** Starts it, and answers how long it took until it served (ms). Throws when it ends before. */
  async serve(): Promise<number> {
    const start = performance.now();
    const env = { PATH: process.env['PATH'], ...COMPILED, ...this.#variables };
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, 'serve'], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#log = text(child.stderr);
    const isServing = new Promise<boolean>((resolve) => {
      let printed = '';
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        printed += chunk;
        if (/^api .*\n/m.test(printed)) resolve(true);
      });
      child.once('exit', () => resolve(false));
    });
    assert.ok(await isServing, `${this.name} ended before it served`);
    return performance.now() - start;
  }

  /** Kills it, whatever it does. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (!child || isOver(child)) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  }

  /** Asks it to stop, asserts that it had not ended by itself and does so in peace, and answers its log. */
  async stop(): Promise<string> {
    const child = this.#child;
    assert.ok(child && !isOver(child), `${this.name} ended by itself`);
    child.kill('SIGTERM');
    const [code] = await once(child, 'exit');
    const log = await this.#log;
    assert.equal(code, 0, log);
    assert.doesNotMatch(log, /"level":"(error|fatal)"/);
    return log;
  }
}

function isOver({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}
