/** The program as a fixture: the real service on free ports with a database in memory, an advanced clock and its log kept. */
import { randomInt } from 'node:crypto';
import net from 'node:net';
import type { PasswordAccount } from '../../src/accounts/people/account.ts';
import { startService } from '../../src/main.ts';
import type { Client, ClientSettings, ClientType } from '../../src/oauth/clients/client.ts';
import { makeLogger } from '../../src/process/log.ts';
import { readConfiguration } from '../../src/settings/configuration.ts';
import type { World } from '../../src/wiring/open-database.ts';
import type { RunningService } from '../../src/wiring/running-service.ts';

/** A clock that only moves when it is told to; ms since the epoch. */
export class Clock {
  #now = Date.UTC(2026, 0, 15, 12, 0, 0);
  readonly now = (): number => this.#now;

  /** Moves the clock on (or back, with a negative number); seconds. */
  advance(seconds: number): void {
    this.#now += seconds * 1000;
  }
}

/** A running service for one test. */
export type TestService = {
  readonly appUrl: string;
  readonly apiUrl: string;
  /** Null without VALETKEY_OPERATOR_URL. */
  readonly operatorUrl: string | null;
  readonly clock: Clock;
  readonly installation: RunningService['installation'];
  /** Every line that the service logged, as text. */
  readonly log: string[];
  stop(): Promise<void>;
};

/** The one password of test accounts. */
export const PASSWORD = 'correct horse battery staple';
/** Where test clients get their codes; nothing listens there. */
export const REDIRECT_URI = 'https://client.example/callback';

/** Who ends what a fixture started: a test's context, or `after` of node:test for a whole file. */
export type Lifetime = { after(end: () => Promise<void> | void): void };

/** Starts a service that stops when the test (or the file) ends; variables are as in the environment. `clock` may be another's. */
export async function startTestService(
  t: Lifetime,
  variables: Record<string, string> = {},
  clock = new Clock(),
  world: Omit<World, 'now' | 'logger'> = {},
): Promise<TestService> {
  const [appPort, apiPort] = [await freePort(), await freePort()];
  const log: string[] = [];
  const logger = makeLogger(
    { write: (line: string) => void log.push(line) },
    Date.now,
    variables['VALETKEY_LOG_LEVEL'],
  );
  const configuration = readConfiguration({
    VALETKEY_APP_URL: `http://127.0.0.1:${appPort}`,
    VALETKEY_API_URL: `http://127.0.0.1:${apiPort}`,
    VALETKEY_DATABASE_URL: 'sqlite::memory:',
    ...variables,
  });
  const running = await startService(configuration, { now: clock.now, logger, ...world });
  t.after(() => running.stop());
  const { appListen, apiListen } = configuration;
  const appUrl = `http://${appListen.host}:${appListen.port}`;
  const apiUrl = `http://${apiListen.host}:${apiListen.port}`;
  const { operatorUrl } = configuration;
  return { appUrl, apiUrl, operatorUrl, clock, log, installation: running.installation, stop: () => running.stop() };
}

/** Ports of a process, so that two that run at once seldom share any. All of them are beyond 10080, which browsers and `fetch` refuse. */
const PORTS = 400;
const FIRST_PORT = 11_000 + PORTS * (process.pid % 54);
let lastPort = randomInt(PORTS);

/**
 * A port on loopback that nobody listens on right now, and that this process was not given lately. Below those that systems give
 * to connections (from 32768 on), of which another test's may get this one before it is listened on.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    lastPort += 1;
    const port = FIRST_PORT + (lastPort % PORTS);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = net.createServer().once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** Adds an account whose password is `PASSWORD`. */
export function addUser(
  { installation }: TestService,
  email = 'ada@example.com',
  name = 'Ada Example',
): Promise<PasswordAccount & { readonly name: string }> {
  const account = { email, name, username: null, password: PASSWORD };
  return installation.accounts.add(account, installation.operator);
}

/** Registers a client; the secret is empty for a public one. */
export async function addClient(
  { installation }: TestService,
  settings: Partial<ClientSettings> = {},
  type: ClientType = 'confidential',
): Promise<{ client: Client; clientId: string; clientSecret: string }> {
  const usual = { name: 'Test App', redirectUris: [REDIRECT_URI] };
  const { row: client, secret: clientSecret } = await installation.clients.register(
    type,
    { ...usual, ...settings },
    installation.operator,
  );
  return { client, clientId: client.id, clientSecret: clientSecret ?? '' };
}
