/** Restarts one of two instances after the other behind nginx, while programs post on and on. */
import { randomInt } from 'node:crypto';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ProcessInstance } from '../instances/process-instance.ts';

/** nginx leaves an instance that was gone out for 2 to 3 seconds (`fail_timeout`): the next one waits until it is back. */
const BETWEEN_MS = 4000;
/** The longest that a restart may take, with what is waited before it. */
export const LONGEST_RESTART_MS = 30_000;

/** What a program posts, again and again. */
export type Post = { readonly url: string; readonly headers: Record<string, string>; readonly body: string };

/** How many connections post, how long each rests between two posts at most (ms), and how many restarts there are. */
export type Load = { readonly connections: number; readonly pauseMs: number; readonly restarts: number };

/** What came of all posts: how many were answered, what came to the others, and how long each stop took. */
export type Outcome = { answered: number; readonly lost: string[]; readonly stopMs: number[] };

/** Posts while one instance after the other is restarted. */
export async function restartUnderLoad(
  instances: readonly ProcessInstance[],
  post: Post,
  { connections, pauseMs, restarts }: Load,
): Promise<Outcome> {
  const outcome: Outcome = { answered: 0, lost: [], stopMs: [] };
  const over = new AbortController();
  const clients = Array.from({ length: connections }, () => postOn(post, pauseMs, outcome, over.signal));
  for (let count = 0; count < restarts; count += 1) {
    await sleep(BETWEEN_MS);
    const instance = instances[count % instances.length] as ProcessInstance;
    const start = performance.now();
    await instance.stop();
    outcome.stopMs.push(Math.round(performance.now() - start));
    await instance.serve();
  }
  await sleep(BETWEEN_MS);
  over.abort();
  await Promise.all(clients);
  return outcome;
}

async function postOn(what: Post, pauseMs: number, outcome: Outcome, over: AbortSignal): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  while (!over.aborted) {
    const answer = await post(agent, what).catch((error: NodeJS.ErrnoException) => String(error.code));
    if (answer === 200) outcome.answered += 1;
    else outcome.lost.push(String(answer));
    if (pauseMs > 0) await sleep(randomInt(pauseMs));
  }
  agent.destroy();
}

function post(agent: Agent, { url, headers, body }: Post): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: 'POST', agent, headers }, (response) => {
      text(response).then(() => resolve(response.statusCode), reject);
    });
    asked.on('error', reject).end(body);
  });
}
