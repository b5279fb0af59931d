/** How long a process takes from its start to its first answer, and to its first token. */
import { performance } from 'node:perf_hooks';
import { runCell } from './load.ts';
import { Purse } from './operations.ts';
import { median } from './statistics.ts';
import { launch, stop, type Target, untilAnswers } from './target.ts';
import type { Undisturbed } from './undisturbed.ts';

/** Medians in ms. `node` is a process that does nothing at all. */
export type StartTimes = {
  readonly node: number;
  readonly fastify: number;
  readonly valetkey: number;
  readonly valetkeyToken: number;
};

/** What is started, and where its output goes. */
type Started = { readonly service: Target; readonly fastify: Target; readonly log: number };

/** Starts each so many times in turns, on a database that is there already. */
export async function measureStarts(started: Started, times: number, undisturbed: Undisturbed): Promise<StartTimes> {
  const found: StartTimes[] = [];
  for (let time = 0; time < times; time += 1) {
    const { service } = started;
    found.push(
      await undisturbed.measure(async () =>
        startEach(started, new Purse(await service.mint(1), service.paths, () => 0)),
      ),
    );
  }
  const of = (name: keyof StartTimes) => median(found.map((times) => times[name]));
  return { node: of('node'), fastify: of('fastify'), valetkey: of('valetkey'), valetkeyToken: of('valetkeyToken') };
}

async function startEach({ service, fastify, log }: Started, purse: Purse): Promise<StartTimes> {
  const nothing: Target = { ...fastify, program: ['--eval', ''] };
  const begin = performance.now();
  const child = launch(nothing, log, false);
  await new Promise((resolve) => child.once('exit', resolve));
  const node = performance.now() - begin;
  const ofFastify = await startOnce(fastify, log, async () => {});
  const ofService = await startOnce(service, log, async () => {
    const next = purse.calls('exchange');
    const one = { connections: 1, seconds: 0, least: 1, most: 1 };
    const { errors, firstError } = await runCell({ ...one, port: service.appPort, next });
    if (errors > 0) throw new Error(`no first token: ${firstError}`);
  });
  return { node, fastify: ofFastify.answer, valetkey: ofService.answer, valetkeyToken: ofService.all };
}

/** Times of one start until it answers, and until `after` is done too; ms. */
async function startOnce(target: Target, log: number, after: () => Promise<void>) {
  const begin = performance.now();
  const child = launch(target, log, false);
  try {
    await untilAnswers(target.apiPort, child);
    const answer = performance.now() - begin;
    await after();
    return { answer, all: performance.now() - begin };
  } finally {
    await stop(child);
  }
}
