/** How long a process takes from its start to its first answer, and to its first token. */
import { performance } from 'node:perf_hooks';
import { runCell } from './load.ts';
import { Purse } from './operations.ts';
import { median } from './statistics.ts';
import { launch, stop, type Target, untilAnswers } from './target.ts';

/** Medians in ms. `node` is a process that does nothing at all. */
export type StartTimes = {
  readonly node: number;
  readonly fastify: number;
  readonly valetkey: number;
  readonly valetkeyToken: number;
};

/** Starts each so many times in turns, on a database that is there already. */
export async function measureStarts(service: Target, fastify: Target, times: number, log: number): Promise<StartTimes> {
  const nothing: Target = { ...fastify, program: ['--eval', ''] };
  const purse = new Purse(await service.mint(times), service.paths, () => 0);
  const found: { [Name in keyof StartTimes]: number[] } = { node: [], fastify: [], valetkey: [], valetkeyToken: [] };
  for (let time = 0; time < times; time += 1) {
    const begin = performance.now();
    const child = launch(nothing, log, false);
    await new Promise((resolve) => child.once('exit', resolve));
    found.node.push(performance.now() - begin);
    found.fastify.push((await startOnce(fastify, log, async () => {})).answer);
    const { answer, all } = await startOnce(service, log, async () => {
      const next = purse.calls('exchange');
      const one = { connections: 1, seconds: 0, least: 1, most: 1 };
      const { errors, firstError } = await runCell({ ...one, port: service.appPort, next });
      if (errors > 0) throw new Error(`no first token: ${firstError}`);
    });
    found.valetkey.push(answer);
    found.valetkeyToken.push(all);
  }
  const { node, fastify: fastifyTimes, valetkey: answers, valetkeyToken } = found;
  return {
    node: median(node),
    fastify: median(fastifyTimes),
    valetkey: median(answers),
    valetkeyToken: median(valetkeyToken),
  };
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
