/** Looks at `/healthz` and `/readyz` of instances all the time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Instance } from './recorder.ts';

const LOOK_EVERY_MS = 50;

type State = 'ready' | 'not ready' | 'silent';

/** A watch over instances, from its making until it is stopped. */
export class Watch {
  /** What `/healthz` said that was not 200. */
  readonly failures: string[] = [];
  readonly #states: Map<Instance, { state: State; asked: number }> = new Map();
  readonly #watching: readonly Promise<void>[];
  #isStopped = false;

  constructor(instances: readonly Instance[]) {
    for (const instance of instances) this.#states.set(instance, { state: 'silent', asked: 0 });
    this.#watching = instances.flatMap((instance) => [this.#watchHealth(instance), this.#watchReadiness(instance)]);
  }

  /** What `/readyz` said last, of each instance in turn. */
  states(): State[] {
    return [...this.#states.values()].map(({ state }) => state);
  }

  /**
   * Waits until every instance has answered a question of from now on so; answers how long that took (ms). How soon it must
   * be, test/postgresql/connections.test.ts says.
   */
  async until(wanted: State): Promise<number> {
    const start = performance.now();
    for (;;) {
      const waited = performance.now() - start;
      if ([...this.#states.values()].every(({ state, asked }) => state === wanted && asked > start)) return waited;
      await sleep(10);
    }
  }

  /** Stops looking. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#watching);
  }

  async #watchHealth({ name, appUrl }: Instance): Promise<void> {
    for (; !this.#isStopped; await sleep(LOOK_EVERY_MS)) {
      const status = await fetch(`${appUrl}/healthz`).then((answer) => answer.body?.cancel().then(() => answer.status));
      if (status !== 200) this.failures.push(`${name}: ${status}`);
    }
  }

  async #watchReadiness(instance: Instance): Promise<void> {
    for (; !this.#isStopped; await sleep(LOOK_EVERY_MS)) {
      const asked = performance.now();
      const answer = await fetch(`${instance.appUrl}/readyz`);
      await answer.body?.cancel();
      const state = answer.status === 200 ? 'ready' : answer.status === 503 ? 'not ready' : 'silent';
      this.#states.set(instance, { state, asked });
    }
  }
}
