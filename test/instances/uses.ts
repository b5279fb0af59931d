/** Codes and pairs of fresh grants, and their use on all instances. */
import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Entry, Pair } from './history.ts';
import type { TestInstallation } from './instances.ts';
import type { Instance } from './recorder.ts';

/** A code, allowed on one instance; without one, on the last. */
export async function newCode(
  { instances, recorder, people }: TestInstallation<Instance>,
  at?: Instance,
): Promise<string> {
  const entry = await recorder.allow(people[0], at ?? (instances.at(-1) as Instance));
  assert.ok(entry.kind === 'allow' && entry.code, entry.detail);
  return entry.code;
}

/** The first pair of a fresh grant. */
export async function newPair(installation: TestInstallation<Instance>, at?: Instance): Promise<Pair> {
  const { recorder, instances } = installation;
  const code = await newCode(installation, at);
  const { pair, detail } = await recorder.exchange(at ?? (instances.at(-1) as Instance), code);
  return pair ?? assert.fail(detail);
}

/** Does something so often at the same time, on the instances in turn. */
export function atOnce<At extends Instance, T>(
  count: number,
  instances: readonly At[],
  act: (at: At) => Promise<T>,
): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, index) => act(instances[index % instances.length] as At)));
}

/** Uses pairs on every instance, in every way, again where one is too busy; answers how that went, each outcome once. */
export async function useEverywhere(
  { instances, recorder }: TestInstallation<Instance>,
  pairs: readonly Pair[],
): Promise<Entry['outcome'][]> {
  const uses = pairs.flatMap(({ accessToken, refreshToken }) =>
    instances.flatMap((at): Promise<Entry>[] => [
      answered(() => recorder.check(at, accessToken)),
      answered(() => recorder.introspect(at, accessToken)),
      answered(() => recorder.refresh(at, refreshToken)),
    ]),
  );
  return outcomes(await Promise.all(uses));
}

/** What a request comes to in the end, though an instance answers for a while that it is unavailable. */
async function answered(ask: () => Promise<Entry>): Promise<Entry> {
  for (;;) {
    const entry = await ask();
    if (entry.outcome !== 'unavailable') return entry;
    await sleep(50);
  }
}

/** How requests went, each outcome once. */
export function outcomes(entries: readonly Entry[]): Entry['outcome'][] {
  return [...new Set(entries.map(({ outcome }) => outcome))];
}

/** The pairs that were answered, each once. */
export function pairsOf(entries: readonly { readonly pair: Pair | null }[]): Pair[] {
  const pairs = entries.flatMap(({ pair }) => pair ?? []);
  return [...new Map(pairs.map((pair) => [JSON.stringify(pair), pair])).values()];
}
