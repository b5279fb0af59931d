/**
 * A mixed load: each person allows the app, again and again, and the app lives with what it got: exchanges, checks,
 * introspects, refreshes, sometimes twice at once, sometimes a replay, sometimes an end. Each request goes to an instance
 * drawn by lot, and what was not answered is asked again, as the documents tell an app to.
 */
import { setTimeout as after } from 'node:timers/promises';
import { type Lots, lots, pick } from './effort.ts';
import { type Entry, grantIdOf, type Pair } from './history.ts';
import type { TestInstallation } from './instances.ts';
import type { Instance, Person, Recorder } from './recorder.ts';

const PAUSE_MS = 5;
/** What a client waits after a 503, far less than it is told. */
const RETRY_MS = 40;

/** How lives follow each other: the steps of one are below `steps`, and the pause before the next is below `pause` (ms). */
export type Pace = { readonly steps: number; readonly pause: number };

/** For seconds. A person who allows as often for minutes meets the limit of decisions. */
const QUICK: Pace = { steps: 8, pause: PAUSE_MS };

/** A running load. */
export type Load = {
  /** Ends the lives where they are; resolves when the last request is answered. */
  stop(): Promise<void>;
};

/** Starts the load: one life at a time for each person. */
export function startLoad(
  { instances, recorder, people }: TestInstallation<Instance>,
  seed: number,
  pace: Pace = QUICK,
): Load {
  const stopping = new AbortController();
  const lives = people.map(async (person, index) => {
    const draw = lots(seed + index);
    const life = new Life(recorder, instances, person, draw, pace.steps, stopping.signal);
    while (!stopping.signal.aborted) {
      await life.live();
      await after(draw(pace.pause), undefined, { signal: stopping.signal }).catch(() => {});
    }
  });
  return {
    async stop() {
      stopping.abort();
      await Promise.all(lives);
    },
  };
}

class Life {
  readonly #recorder: Recorder;
  readonly #instances: readonly Instance[];
  readonly #person: Person;
  readonly #draw: Lots;
  readonly #steps: number;
  readonly #stopping: AbortSignal;

  constructor(
    recorder: Recorder,
    instances: readonly Instance[],
    person: Person,
    draw: Lots,
    steps: number,
    stopping: AbortSignal,
  ) {
    this.#recorder = recorder;
    this.#instances = instances;
    this.#person = person;
    this.#draw = draw;
    this.#steps = steps;
    this.#stopping = stopping;
  }

  /** One grant, from Allow until the app is through with it. */
  async live(): Promise<void> {
    const allowed = await this.#untilAnswered(() => this.#recorder.allow(this.#person, this.#any(), this.#any()));
    if (allowed.kind !== 'allow' || !allowed.code) return;
    let pair = await this.#exchange(allowed.code);
    for (let step = this.#draw(this.#steps); pair && step > 0; step -= 1) {
      pair = await this.#step(pair);
      await after(this.#draw(PAUSE_MS));
    }
    if (pair) await this.#end(allowed.code, pair);
  }

  /** A code whose exchange was not answered is given up, but for some apps that try it again. */
  async #exchange(code: string): Promise<Pair | null> {
    const once = () => this.#recorder.exchange(this.#any(), code);
    const attempts = this.#draw(12) > 0 ? [await once()] : await Promise.all([once(), once()]);
    if (attempts[0]?.outcome === 'unavailable' && this.#draw(2)) attempts.push(await once());
    return attempts.find(({ pair }) => pair)?.pair ?? null;
  }

  /** Answers the pair that holds from now on, or null when nothing works any more. */
  async #step(pair: Pair): Promise<Pair | null> {
    const { accessToken, refreshToken } = pair;
    const refresh = () => this.#untilAnswered(() => this.#recorder.refresh(this.#any(), refreshToken));
    switch (this.#draw(4)) {
      case 0:
        return (await this.#recorder.check(this.#any(), accessToken)).outcome === 'refused' ? null : pair;
      case 1:
        return (await this.#recorder.introspect(this.#any(), accessToken)).outcome === 'refused' ? null : pair;
      case 2:
        return (await Promise.all([refresh(), refresh()]))[0].pair;
      default:
        return (await refresh()).pair;
    }
  }

  /** Most grants live on; the others end in one of three ways. */
  async #end(code: string, { accessToken, refreshToken }: Pair): Promise<void> {
    const way = this.#draw(8);
    if (way > 3) return;
    if (way === 0) await this.#recorder.exchange(this.#any(), code);
    else if (way === 1) await this.#recorder.disconnect(this.#person, this.#any(), this.#any());
    else await this.#recorder.revoke(this.#any(), grantIdOf(refreshToken), way === 2 ? accessToken : refreshToken);
    await this.#recorder.check(this.#any(), accessToken);
  }

  /** Asks until there is an answer, yes or no, or the load stops. */
  async #untilAnswered<Answered extends Entry>(ask: () => Promise<Answered>): Promise<Answered> {
    for (;;) {
      const entry = await ask();
      const isAnswered = entry.outcome !== 'unavailable' && entry.outcome !== 'lost';
      if (isAnswered || this.#stopping.aborted) return entry;
      await after(RETRY_MS);
    }
  }

  #any(): Instance {
    return pick(this.#draw, this.#instances);
  }
}

/** Requests of a sweep that are under way at once. */
const SWEEPERS = 24;

/**
 * Asks once more, of any instance, for everything that was answered: each access token is checked, each grant's newest
 * refresh token is used, each code that was never exchanged is. What it finds is in the history like all else.
 */
export async function sweep({ instances, recorder }: TestInstallation<Instance>, seed: number): Promise<void> {
  const draw = lots(seed);
  const any = () => pick(draw, instances);
  const { entries } = recorder;
  const pairs = entries.flatMap((entry) => ('pair' in entry && entry.pair ? [entry.pair] : []));
  const exchanged = new Set(entries.flatMap((entry) => (entry.kind === 'exchange' ? [entry.code] : [])));
  const codes = entries.flatMap((entry) => (entry.kind === 'allow' && entry.code ? [entry.code] : []));
  // The newest of a grant comes last, and stays.
  const newest = new Map(pairs.map(({ refreshToken }) => [grantIdOf(refreshToken), refreshToken]));
  const renew = async (ask: () => Promise<{ pair: Pair | null }>) => {
    const { pair } = await ask();
    if (pair) await recorder.check(any(), pair.accessToken);
  };
  await inParallel([
    ...[...new Set(pairs.map(({ accessToken }) => accessToken))].map((token) => () => recorder.check(any(), token)),
    ...codes.filter((code) => !exchanged.has(code)).map((code) => () => renew(() => recorder.exchange(any(), code))),
  ]);
  await inParallel([...newest.values()].map((token) => () => renew(() => recorder.refresh(any(), token))));
}

async function inParallel(tasks: readonly (() => Promise<unknown>)[]): Promise<void> {
  const rest = tasks.values();
  const work = async () => {
    for (const task of rest) await task();
  };
  await Promise.all(Array.from({ length: SWEEPERS }, work));
}
