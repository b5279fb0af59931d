/** The program on a recorded disk: whatever it writes below `data/` is written down as well, by whichever process. */
import assert from 'node:assert/strict';
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordedDisk } from '../../bench/disk/build.ts';
import type { Instance } from '../instances/recorder.ts';
import { type Ended, ProgramOnDisk, type Serving } from '../support/program.ts';
import type { Lifetime } from '../support/service.ts';
import { type Contents, layOut } from './disk.ts';

/** Duration of a sync (µs): long enough that writes go on meanwhile. */
const SYNC_US = 1000;
/** Each visit of a test comes from an address of its own; and a code that was never used can still be, when it is judged. */
const SETTINGS = { VALETKEY_TRUSTED_PROXIES: '127.0.0.1', VALETKEY_CODE_TTL: '600' };

/** One installation whose disk is recorded. A process kills itself when it syncs after so many records; null is never. */
export class RecordedProgram implements Instance {
  readonly name = 'recorded';
  readonly #program: ProgramOnDisk;
  readonly #trace: string;
  readonly #descriptor: number;
  #serving: Serving | null = null;

  private constructor(program: ProgramOnDisk, t: Lifetime) {
    this.#program = program;
    this.#trace = join(program.folder, 'trace');
    this.#descriptor = openSync(this.#trace, 'a+', 0o600);
    t.after(() => closeSync(this.#descriptor));
  }

  /** An installation that does not run yet, on a disk that holds this. */
  static async make(t: Lifetime, initial: Contents): Promise<RecordedProgram> {
    const program = await ProgramOnDisk.make(t);
    layOut(join(program.folder, 'data'), initial);
    return new RecordedProgram(program, t);
  }

  get appUrl(): string {
    return this.#program.appUrl;
  }

  get apiUrl(): string {
    return this.#program.apiUrl;
  }

  /** How long the recording is by now (bytes): a clock of what reached the disk. */
  position(): number {
    return fstatSync(this.#descriptor).size;
  }

  /** The recording so far. */
  trace(): Buffer {
    return readFileSync(this.#trace);
  }

  /** Starts the service; resolves when it answers, or has killed itself before. */
  async serve(killAfter: number | null = null): Promise<void> {
    this.#serving = null;
    this.#serving = await this.#program.serve(await this.#variables(killAfter)).catch((error: Error) => {
      if (error.message !== '') throw error;
      return null;
    });
  }

  /** Whether the service runs, as far as is known. */
  get isServing(): boolean {
    return this.#serving?.child.exitCode === null && this.#serving.child.signalCode === null;
  }

  /** When the service that was started last is over. */
  async ended(): Promise<void> {
    await this.#serving?.ended;
  }

  /** Asks the service to stop, if it has not killed itself, and waits until it has. */
  async stop(): Promise<void> {
    this.#serving?.child.kill('SIGTERM');
    const ended = await this.#serving?.ended;
    assert.ok(!ended?.code, ended?.stderr);
  }

  /** Runs a command to its end; its code is null if it killed itself before. */
  async run(command: string[], input = '', killAfter: number | null = null): Promise<Ended> {
    return this.#program.run([...command, '--json'], await this.#variables(killAfter), input);
  }

  /** Runs a command that must succeed, and answers what it printed. */
  async json(command: string[], input = ''): Promise<Record<string, string>> {
    const { code, stdout, stderr } = await this.run(command, input);
    assert.equal(code, 0, stderr);
    return JSON.parse(stdout) as Record<string, string>;
  }

  async #variables(killAfter: number | null): Promise<Record<string, string>> {
    const recording = { watch: join(this.#program.folder, 'data/'), into: this.#trace, killAfter };
    return { ...(await recordedDisk(recording, SYNC_US)), ...SETTINGS };
  }
}
