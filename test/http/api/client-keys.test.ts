/** The keys of clients that publish them: when they are fetched again, by whose request, and what becomes of the old ones. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, type TestContext, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { makeRootKey } from '../../../src/settings/root-keys.ts';
import { PATIENT } from '../../support/postgres.ts';
import { Clock, freePort, startTestService, type TestService } from '../../support/service.ts';
import { type SharedPostgres, sharedPostgres } from '../../support/shared-postgres.ts';
import { assertionFields, type Key, makeKey, post } from '../../support/standard.ts';
import { storesOfRun } from '../../support/stores.ts';

const APP_URL = 'http://127.0.0.1:9'; // Behind a balancer that nobody asks.
const PROVEN = '400 invalid_grant'; // The client is itself, and what it presents is nothing.
const REFUSED = '401 invalid_client';
const MINUTE = 60;
const DAY = 24 * 3600;

/** An agent: its document, its keys, and how often somebody asked for those. `answer` is given in place of them. */
class Agent {
  readonly address: string;
  asked = 0;
  keys: readonly unknown[] = [];
  answer: http.RequestListener | null = null;

  static async start(t: TestContext): Promise<Agent> {
    const server = http.createServer((request, response) => agent.#serve(request, response));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    t.after(() => server.close().closeAllConnections());
    const agent = new Agent(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    return agent;
  }

  private constructor(origin: string) {
    this.address = `${origin}/client.json`;
  }

  #serve(request: http.IncomingMessage, response: http.ServerResponse): void {
    const { origin } = new URL(this.address);
    const document = {
      client_id: this.address,
      client_name: 'Agent',
      redirect_uris: ['https://agent.example/callback'],
      token_endpoint_auth_method: 'private_key_jwt',
      jwks_uri: `${origin}/keys.json`,
    };
    const isForKeys = request.url === '/keys.json';
    if (isForKeys) this.asked += 1;
    if (isForKeys && this.answer) this.answer(request, response);
    else json(response, isForKeys ? { keys: this.keys } : document);
  }
}

/** A key under an id, as it is published. */
function named(kid: string): Key & { readonly kid: string } {
  const key = makeKey();
  return { kid, jwk: { ...key.jwk, kid }, sign: (claims, header) => key.sign(claims, { kid, ...header }) };
}

let server: SharedPostgres | undefined;
after(() => server?.remove());

/** What a service on each store is told. */
const STORES: Readonly<Record<string, () => Promise<Record<string, string>>>> = {
  SQLite: async () => ({}),
  PostgreSQL: async () => {
    server ??= await sharedPostgres();
    return { VALETKEY_DATABASE_URL: await server.createDatabase(), VALETKEY_KEYS: makeRootKey() };
  },
};

async function startInstance(t: TestContext, variables: Record<string, string>, clock: Clock): Promise<TestService> {
  const own = {
    VALETKEY_APP_URL: APP_URL,
    VALETKEY_API_URL: 'http://127.0.0.2:9',
    VALETKEY_TRUSTED_PROXIES: '127.0.0.1',
    VALETKEY_APP_LISTEN: `127.0.0.1:${await freePort()}`,
    VALETKEY_API_LISTEN: `127.0.0.1:${await freePort()}`,
  };
  return startTestService(t, { ...own, ...variables }, clock, PATIENT);
}

for (const [store, variablesOf] of storesOfRun(STORES)) {
  /** A service, and an agent that the operator admitted with one key, `first`. */
  async function setUp(t: TestContext) {
    const variables = await variablesOf();
    const service = await startInstance(t, variables, new Clock());
    const agent = await Agent.start(t);
    const first = named('first');
    agent.keys = [first.jwk];
    const { clientDocuments, clients, audit, operator } = service.installation;
    await clientDocuments.register(await clientDocuments.fetch(agent.address), { name: undefined }, operator);
    assert.equal(agent.asked, 1);
    agent.asked = 0;
    const client = { clientId: agent.address, clientSecret: '' };
    /** How a request is answered that the client proves with a key; each comes from a source of its own. */
    const tried = async (
      key: Key,
      { claims = {}, header = {}, at = service, source = newSource() }: Tried = {},
    ): Promise<string> => {
      const fields = await assertionFields(service, client, key, { aud: APP_URL, ...claims }, header);
      const wanted = { grant_type: 'refresh_token', refresh_token: 'x', ...fields };
      const { status, body } = await post(at, 'token', wanted, { 'X-Forwarded-For': source });
      return `${status} ${body['error']}`;
    };
    const stored = () => clients.show(agent.address);
    const refreshes = () => audit.listAuditEvents({ action: 'client_keys_refreshed', limit: 9 });
    return { variables, service, agent, first, tried, stored, refreshes };
  }

  test(`RFC 7517 §4.5, RFC 7523 §3: ${store}: a key that the client publishes since is fetched by its first request, and one that it took out proves nobody`, async (t) => {
    const { agent, service, first, tried, stored, refreshes } = await setUp(t);
    const second = named('second');
    assert.equal(await tried(first), PROVEN);
    service.clock.advance(5 * MINUTE);
    agent.keys = [first.jwk, second.jwk];
    assert.equal(await tried(second), PROVEN, 'the request waits for the fetch that it causes');
    assert.equal(await tried(first), PROVEN);
    assert.equal(agent.asked, 1);
    const third = named('third');
    agent.keys = [second.jwk, third.jwk];
    assert.equal(await tried(third), REFUSED, 'they were asked for a moment ago');
    service.clock.advance(5 * MINUTE);
    assert.equal(await tried(third), PROVEN);
    assert.equal(await tried(first), REFUSED, 'it is not in the document any more');
    assert.equal(await tried(second), PROVEN);
    assert.equal(agent.asked, 2);
    assert.deepEqual(
      (await refreshes()).map(({ detail, clientId, actor }) => [detail, clientId, actor.kind]),
      [
        ['{"changes":[{"name":"keys","removed":["first"],"added":["third"]}]}', agent.address, 'service'],
        ['{"changes":[{"name":"keys","removed":[],"added":["second"]}]}', agent.address, 'service'],
      ],
    );
    assert.equal((await stored()).jwksFetchedAt, service.clock.now());
  });

  test(`RFC 7523 §3, agents: ${store}: a thousand forged kids fetch the keys once, and once more after five minutes`, async (t) => {
    const { agent, service, tried, refreshes } = await setUp(t);
    service.clock.advance(5 * MINUTE);
    const forger = makeKey();
    const forge = (n: number) => tried(forger, { header: { kid: `forged ${n}` } });
    const answers = new Set<string>();
    for (let n = 0; n < 1000; n += 50)
      for (const answer of await Promise.all(Array.from({ length: 50 }, (_, k) => forge(n + k)))) answers.add(answer);
    assert.deepEqual([...answers], [REFUSED]);
    assert.equal(agent.asked, 1);
    service.clock.advance(5 * MINUTE - 1);
    await forge(1000);
    assert.equal(agent.asked, 1);
    service.clock.advance(1);
    await forge(1001);
    assert.equal(agent.asked, 2);
    assert.deepEqual(await refreshes(), [], 'nothing changed');
  });

  test(`RFC 7523 §3, agents: ${store}: nobody causes a fetch without an assertion that is right in all but its key`, async (t) => {
    const { agent, service, first, tried, stored } = await setUp(t);
    const { jwksAskedAt: askedAt } = await stored();
    service.clock.advance(2 * DAY);
    const now = service.clock.now() / 1000;
    const unknown = named('unknown');
    const wrong: Record<string, Tried> = {
      'another audience': { claims: { aud: 'https://evil.test' } },
      'another audience as well': { claims: { aud: [APP_URL, 'https://evil.test'] } },
      expired: { claims: { exp: now - 31 } },
      'too long a life': { claims: { exp: now + 3600 } },
      'no expiry': { claims: { exp: undefined } },
      'no jti': { claims: { jti: undefined } },
      'a jti that is a number': { claims: { jti: 7 as never } },
      'another issuer': { claims: { iss: 'https://evil.test' } },
      'an unadmitted client': { claims: { iss: `${agent.address}x`, sub: `${agent.address}x` } },
      'a JWT of another kind': { header: { typ: 'at+jwt' } },
      'an unknown extension': { header: { crit: ['b64'], b64: true, typ: 'dpop+jwt' } },
    };
    for (const [name, how] of Object.entries(wrong)) {
      assert.equal(await tried(unknown, how), REFUSED, name);
      assert.equal(await tried(first, how), REFUSED, name);
    }
    for (const alg of ['HS256', 'RS384', 'none', 'ES256K']) {
      const forged = { ...unknown, sign: async (claims: object) => forge({ alg, kid: 'unknown' }, claims) };
      assert.equal(await tried(forged), REFUSED, alg);
    }
    await service.installation.clients.pause(agent.address, service.installation.operator);
    for (const key of [unknown, first]) assert.equal(await tried(key), REFUSED, 'paused');
    assert.deepEqual([agent.asked, (await stored()).jwksAskedAt], [0, askedAt]);
    await service.installation.clients.resume(agent.address, service.installation.operator);
    assert.equal(await tried(unknown), REFUSED);
    assert.equal(agent.asked, 1, 'all of them would have found keys that are due');
  });

  test(`agents: ${store}: keys older than a day are fetched in the background at the next use`, async (t) => {
    const { agent, service, first, tried, stored } = await setUp(t);
    service.clock.advance(DAY - 1);
    const second = named('second');
    agent.keys = [second.jwk];
    assert.equal(await tried(first), PROVEN);
    assert.equal(await tried(makeKey(), { header: { kid: 'first' } }), REFUSED);
    assert.equal(agent.asked, 0);
    service.clock.advance(1);
    let release = () => {};
    agent.answer = (_, response) => {
      release = () => set(response, agent.keys);
    };
    assert.equal(await tried(first), PROVEN, 'it does not wait, and the key is still there');
    await till(async () => agent.asked === 1);
    release();
    await till(async () => (await stored()).keys[0]?.kid === 'second');
    assert.equal(await tried(first), REFUSED);
    assert.equal(await tried(second), PROVEN);
    assert.equal(agent.asked, 1);
  });

  test(`agents: ${store}: while keys are fetched only the request that causes it waits`, async (t) => {
    const { agent, service, first, tried } = await setUp(t);
    service.clock.advance(5 * MINUTE);
    const second = named('second');
    let release = () => {};
    const isAsked = new Promise<void>((tell) => {
      agent.answer = (_, response) => {
        release = () => set(response, [first.jwk, second.jwk]);
        tell();
      };
    });
    const source = newSource(); // Of whose 30 wrong guesses one is left at the end.
    const waiting = tried(second, { source });
    await isAsked;
    for (let n = 0; n < 28; n += 1) assert.equal(await tried(second, { source }), REFUSED);
    for (let n = 0; n < 3; n += 1) assert.equal(await tried(first, { source }), PROVEN);
    release();
    assert.equal(await waiting, PROVEN);
    assert.equal(agent.asked, 1);
  });

  const FAILURES: Readonly<Record<string, [http.RequestListener, RegExp]>> = {
    'an error': [(_, response) => void response.writeHead(500).end('canary'), /its status is 500/],
    'no connection': [(request) => void request.socket.destroy(), /the connection was ended/],
    'a private key': [
      (_, response) => set(response, [{ ...makeKey().jwk, d: 'canary' }]),
      /key 1: it is a private key/,
    ],
    'six keys': [(_, response) => set(response, Array(6).fill(makeKey().jwk)), /more than 5 keys/],
    'too many bytes': [(_, response) => set(response, [{ x: 'canary'.repeat(11_000) }]), /larger than 65536 bytes/],
  };
  for (const [name, [answer, reason]] of Object.entries(FAILURES))
    test(`agents: ${store}: where the keys are answered with ${name}, the old ones stay, and the log says why`, async (t) => {
      const { agent, service, first, tried, stored, refreshes } = await setUp(t);
      const before = await stored();
      service.clock.advance(5 * MINUTE);
      agent.answer = answer;
      assert.equal(await tried(named('second')), REFUSED);
      const line = service.log.find((each) => each.includes('still the old ones')) ?? assert.fail();
      assert.match(line, reason);
      assert.ok(line.includes(agent.address), line);
      assert.doesNotMatch(service.log.join(''), /canary/);
      assert.deepEqual(await stored(), { ...before, jwksAskedAt: service.clock.now() });
      assert.equal(await tried(first), PROVEN);
      assert.deepEqual(await refreshes(), []);
      agent.answer = null;
      service.clock.advance(5 * MINUTE);
      const second = named('second');
      agent.keys = [second.jwk];
      assert.equal(await tried(second), PROVEN);
    });

  test(`agents: ${store}: a client that took out all its keys proves nobody, until it publishes one again`, async (t) => {
    const { agent, service, first, tried } = await setUp(t);
    service.clock.advance(5 * MINUTE);
    agent.keys = [];
    assert.equal(await tried(named('second')), REFUSED);
    assert.equal(await tried(first), REFUSED);
    service.clock.advance(5 * MINUTE);
    agent.keys = [first.jwk];
    assert.equal(await tried(first), PROVEN);
  });

  test(`agents: ${store}: keys that arrive after the client was paused are not taken`, async (t) => {
    const { agent, service, tried, stored, refreshes } = await setUp(t);
    service.clock.advance(5 * MINUTE);
    const second = named('second');
    agent.answer = (_, response) =>
      void service.installation.clients
        .pause(agent.address, service.installation.operator)
        .then(() => set(response, [second.jwk]));
    assert.equal(await tried(second), REFUSED);
    assert.deepEqual([(await stored()).keys[0]?.kid, await refreshes()], ['first', []]);
  });

  if (store === 'PostgreSQL')
    test('agents: two instances fetch the keys once, and the other has the new ones at its next request', async (t) => {
      const { variables, agent, service, first, tried, refreshes } = await setUp(t);
      const other = await startInstance(t, variables, service.clock);
      assert.equal(await tried(first, { at: other }), PROVEN);
      service.clock.advance(5 * MINUTE);
      const [second, forger] = [named('second'), makeKey()];
      agent.keys = [second.jwk];
      const forge = (n: number) => tried(forger, { at: [service, other][n % 2], header: { kid: `forged ${n}` } });
      const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => forge(n)));
      assert.deepEqual([...new Set(answers)], [REFUSED]);
      assert.equal(agent.asked, 1);
      for (const at of [service, other]) {
        assert.equal(await tried(second, { at }), PROVEN);
        assert.equal(await tried(first, { at }), REFUSED);
      }
      assert.equal((await refreshes()).length, 1);
    });
}

type Tried = {
  readonly claims?: Record<string, unknown>;
  readonly header?: Record<string, unknown>;
  readonly at?: TestService | undefined;
  readonly source?: string;
};

let sources = 0;

/** A source that made no guess yet. */
function newSource(): string {
  sources += 1;
  return `10.1.${sources >> 8}.${sources & 255}`;
}

function forge(header: object, claims: object): string {
  const [head, body] = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'));
  return `${head}.${body}.AAAA`;
}

function json(response: http.ServerResponse, value: unknown): void {
  response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));
}

function set(response: http.ServerResponse, keys: readonly unknown[]): void {
  json(response, { keys });
}

/** Looks until something has happened. */
async function till(hasHappened: () => Promise<boolean>): Promise<void> {
  while (!(await hasHappened())) await pause(5);
}
