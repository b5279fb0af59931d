/** Stopping the program as a process, under load. */
import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { type TestContext, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ProgramOnDisk } from '../support/program.ts';
import { basic } from '../support/standard.ts';

const CONNECTIONS = 200;
/** For so long, and until each has been answered, they ask before it is stopped. */
const LOAD_MS = 500;
const LOOK_MS = 50;
/**
 * Where the machine is busy, a client may send nothing in the 250 ms in which a stop waits for a request on each connection, and
 * then meets its end: as the service sees it, it was silent from its request before at most. A little less, since the
 * clocks are two (ms).
 */
const SILENT_MS = 225;

type Ask = { readonly url: string; readonly method: string; readonly headers: Record<string, string>; body?: string };
type Answer = { readonly status: number | undefined; readonly body: string; readonly isLast: boolean };

/** What a client saw that asked on and on over one connection, until nobody took a new one. */
type Seen = {
  answers: number;
  /** How many connections have had an answer, and how many were told that theirs is the last. */
  served: number;
  last: number;
  readonly wrong: unknown[];
  /** What became of that which was asked and not answered, and how long after the request before it was sent (ms). */
  readonly lost: { readonly code: string | undefined; readonly after: number }[];
};

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
  for (let [isFirst, before] = [true, performance.now()]; ; ) {
    const sent = performance.now();
    const answer = await ask(agent, what).catch((error: NodeJS.ErrnoException) => error);
    if (answer instanceof Error) {
      if (answer.code === 'ECONNREFUSED') return;
      seen.lost.push({ code: answer.code, after: sent - before });
    } else {
      seen.answers += 1;
      if (isFirst) seen.served += 1;
      isFirst = false;
      if (answer.isLast) seen.last += 1;
      if (!isRight(answer)) seen.wrong.push(answer);
    }
    before = sent;
  }
}

test('stop: of requests on 200 busy connections of a proxy each is answered rightly, and the last on each says that it is', async (t) => {
  // For its connections the grace is 9 seconds, which no machine stands still.
  const seen = await stopUnderLoad(t, { VALETKEY_TRUSTED_PROXIES: '127.0.0.1', VALETKEY_PROXY_IDLE_TIMEOUT: '8' });
  assert.deepEqual([seen.lost, seen.last], [[], CONNECTIONS]);
});

test('stop: of requests on 200 busy connections each is answered rightly, and who sends one in time hears that it is the last', async (t) => {
  const { lost, last } = await stopUnderLoad(t);
  const silent = lost.filter(({ after }) => after >= SILENT_MS);
  assert.deepEqual(
    lost.filter((one) => !silent.includes(one)),
    [],
  );
  assert.ok(last + silent.length >= CONNECTIONS, `${last} were told, and ${silent.length} were silent`);
});

/** Starts the program, asks it on all connections, and stops it meanwhile. */
async function stopUnderLoad(t: TestContext, variables: Record<string, string> = {}): Promise<Seen> {
  const program = await ProgramOnDisk.make(t);
  const { child, ended } = await program.serve(variables);
  const made = await program.json(['resource-server', 'register', '--name', 'Mail API']);
  const headers = {
    ...basic(String(made['resource_server_id']), String(made['resource_server_secret'])),
    'Content-Type': 'application/x-www-form-urlencoded',
  };
  const introspection = { url: `${program.appUrl}/oauth2/introspect`, method: 'POST', headers, body: 'token=x' };
  const check = { url: `${program.apiUrl}/v2/me`, method: 'GET', headers: { Authorization: 'Bearer x' } };
  const seen: Seen = {
    answers: 0,
    served: 0,
    last: 0,
    wrong: [],
    lost: [],
  };
  const clients = Array.from({ length: CONNECTIONS }, (_, index) =>
    index % 2
      ? askOn(introspection, ({ status, body }) => status === 200 && body === '{"active":false}', seen)
      : askOn(check, ({ status }) => status === 401, seen),
  );
  for (let ms = 0; ms < LOAD_MS || seen.served < CONNECTIONS; ms += LOOK_MS) await sleep(LOOK_MS);
  const before = seen.answers;
  child.kill('SIGTERM');
  const [{ code, stderr }] = await Promise.all([ended, ...clients]);
  t.diagnostic(`${before} answers before the stop, ${seen.answers - before} in it, and ${seen.lost.length} lost`);
  // With 1 it ends after 12 seconds of its own clock.
  assert.equal(code, 0, stderr);
  assert.deepEqual(seen.wrong, []);
  return seen;
}
