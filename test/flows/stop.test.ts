/** Stopping the program as a process, under load. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramOnDisk } from '../support/program.ts';
import { basic } from '../support/standard.ts';

const CONNECTIONS = 200;
/** A client that stood still for so long may have been silent for all of the grace. */
const STOOD_MS = 100;
const LOAD_MS = 500;

type Ask = { readonly url: string; readonly method: string; readonly headers: Record<string, string>; body?: string };
type Answer = { readonly status: number | undefined; readonly body: string; readonly isLast: boolean };

/** What a client saw that asked on and on over one connection, until nobody took a new one. */
type Seen = { answers: number; last: number; readonly wrong: unknown[]; readonly lost: string[] };

/** One request; throws what its connection came to. */
function ask(agent: Agent, { url, body, ...options }: Ask): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, ...options }, async (response) => {
      const isLast = response.headers.connection === 'close';
      await text(response).then((body) => resolve({ status: response.statusCode, body, isLast }), reject);
    });
    asked.on('error', reject).end(body);
  });
}

async function askOn(what: Ask, isRight: (answer: Answer) => boolean, seen: Seen): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (;;) {
    const answer = await ask(agent, what).catch((error: NodeJS.ErrnoException) => error);
    if (answer instanceof Error) {
      if (answer.code === 'ECONNREFUSED') return;
      seen.lost.push(String(answer.code));
    } else {
      seen.answers += 1;
      if (answer.isLast) seen.last += 1;
      if (!isRight(answer)) seen.wrong.push(answer);
    }
  }
}

test('stop: of requests on 200 busy connections each is answered rightly, and the last on each says that it is', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const { child, ended } = await program.serve();
  const made = await program.json(['resource-server', 'register', '--name', 'Mail API']);
  const headers = {
    ...basic(String(made['resource_server_id']), String(made['resource_server_secret'])),
    'Content-Type': 'application/x-www-form-urlencoded',
  };
  const introspection = { url: `${program.appUrl}/oauth2/introspect`, method: 'POST', headers, body: 'token=x' };
  const check = { url: `${program.apiUrl}/v2/me`, method: 'GET', headers: { Authorization: 'Bearer x' } };
  const seen: Seen = { answers: 0, last: 0, wrong: [], lost: [] };
  const clients = Array.from({ length: CONNECTIONS }, (_, index) =>
    index % 2
      ? askOn(introspection, ({ status, body }) => status === 200 && body === '{"active":false}', seen)
      : askOn(check, ({ status }) => status === 401, seen),
  );
  await sleep(LOAD_MS);
  const before = seen.answers;
  const start = performance.now();
  const stood = monitorEventLoopDelay({ resolution: 5 });
  stood.enable();
  child.kill('SIGTERM');
  const [{ code, stderr }] = await Promise.all([ended, ...clients]);
  stood.disable();
  const ms = performance.now() - start;
  t.diagnostic(`${before} answers before the stop, ${seen.answers - before} in it, ${Math.round(ms)} ms`);
  assert.equal(code, 0, stderr);
  assert.ok(before > CONNECTIONS, 'it was under load');
  assert.deepEqual(seen.wrong, []);
  // Only who was silent for all of the grace can meet the end of a connection with the next request: a few, or, where this
  // process itself stood still, many.
  const mayLose = stood.max / 1e6 < STOOD_MS ? 2 : CONNECTIONS / 2;
  assert.ok(seen.lost.length <= mayLose, `${seen.lost.length} lost: ${seen.lost[0]}`);
  assert.ok(seen.last >= CONNECTIONS - mayLose, `${seen.last} were told`);
  assert.ok(ms < 3000, `${ms} ms`);
});
