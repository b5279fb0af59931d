/** One instance of the service: a process of its own, as an operator starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const START_PATIENCE_MS = 30_000;
/** Longer than a service finishes what is under way. */
const STOP_TIMEOUT_MS = 15_000;

/** A process that serves at two ports of its own, on loopback. */
export class Instance {
  readonly name: string;
  readonly appUrl: string;
  readonly apiUrl: string;
  readonly #log: string;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #kill = () => this.#child.kill('SIGKILL');

  /** Starts it. Its variables are those that all instances share; what it logs goes to a file. */
  constructor(name: string, ports: readonly [number, number], shared: Record<string, string>, log: string) {
    const app = `127.0.0.1:${ports[0]}`;
    const api = `127.0.0.1:${ports[1]}`;
    this.name = name;
    this.appUrl = `http://${app}`;
    this.apiUrl = `http://${api}`;
    this.#log = log;
    const env = { ...withoutOurs(process.env), ...shared, VALETKEY_APP_LISTEN: app, VALETKEY_API_LISTEN: api };
    const errors = openSync(log, 'a', 0o600);
    const options = ['--disable-warning=ExperimentalWarning', '--disable-sigusr1', '--max-semi-space-size=4'];
    this.#child = spawn(process.execPath, [...options, MAIN, 'serve', '--json'], {
      env,
      stdio: ['ignore', 'pipe', errors],
    });
    closeSync(errors);
    this.#ended = new Promise((resolve) => this.#child.once('exit', () => resolve()));
    process.once('exit', this.#kill);
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  /** Resolves when it says that both addresses answer. Throws what it logged when it ends instead, or takes too long. */
  async answers(): Promise<void> {
    const { promise: late, resolve: giveUp } = Promise.withResolvers<string>();
    const timer = setTimeout(() => giveUp('said nothing in time'), START_PATIENCE_MS);
    const said = new Promise<null>((resolve) => this.#child.stdout?.once('data', () => resolve(null)));
    const trouble = await Promise.race([said, late, this.#ended.then(() => 'ended at once')]);
    clearTimeout(timer);
    if (trouble !== null) throw new Error(`${this.name} ${trouble}:\n${readFileSync(this.#log, 'utf8').slice(-2000)}`);
  }

  /** Tells it to stop and waits until it has; kills it when that takes longer than it should. */
  async stop(): Promise<void> {
    const timer = setTimeout(this.#kill, STOP_TIMEOUT_MS);
    this.#child.kill('SIGTERM');
    await this.#ended;
    clearTimeout(timer);
    process.off('exit', this.#kill);
  }
}

/** Removes this process's own settings of an installation, which are not meant for the instances. */
function withoutOurs(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith('VALETKEY_')));
}
