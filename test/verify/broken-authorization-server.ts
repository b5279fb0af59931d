/** An authorization server that fails in the ways a real one should not: for what `packages/verify` does then. */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createVerifier, type Verifier, type VerifierOptions } from '../../packages/verify/src/verifier.ts';
import type { Lifetime } from '../support/service.ts';
import { until } from '../support/until.ts';

/** An introspection request as it came. */
export type Question = { readonly headers: http.IncomingHttpHeaders; readonly form: URLSearchParams };
/** How to answer one: a body for status 200, or whatever the test does with the response. */
export type Reply = (question: Question, response: http.ServerResponse) => unknown;

/** The members of an answer for a token that works. */
export const ACTIVE = {
  active: true,
  scope: 'mail.read mail.send',
  client_id: 'app_1',
  sub: 'usr_1',
  username: 'ada',
  token_type: 'Bearer',
  grant_id: 'grant-1',
};

/** An answer that works for ten minutes. */
export function active(members: object = {}): object {
  return { ...ACTIVE, exp: Math.floor(Date.now() / 1000) + 600, ...members };
}

/** The server: tests replace `reply` and `greet`, and count `questions`. */
export class BrokenAuthorizationServer {
  readonly questions: Question[] = [];
  /** Every stream that is open. */
  readonly streams = new Set<http.ServerResponse>();
  /** How many streams were ever asked for. */
  connections = 0;
  /** Whether the streams get their sign of life. */
  beats = true;
  reply: Reply = () => active();
  greet = (stream: http.ServerResponse): void => {
    stream.writeHead(200, { 'Content-Type': 'text/event-stream' }).write('event: ready\ndata: {}\n\n');
  };
  readonly #server = http.createServer((request, response) => void this.#handle(request, response));
  readonly #beat = setInterval(() => {
    if (this.beats) this.send(':\n\n');
  }, 100);

  /** Listens on a free port, or again on the one it had. */
  async start(port = 0): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(port, '127.0.0.1', resolve));
  }

  /** Ends every connection and hears no new one. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  /** Ends it for good. */
  async end(): Promise<void> {
    clearInterval(this.#beat);
    await this.stop();
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get issuer(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Writes to every stream. */
  send(piece: string): void {
    for (const stream of this.streams) stream.write(piece);
  }

  /** Says that something was revoked. */
  revoke(revocation: object): void {
    this.send(`event: revoked\ndata: ${JSON.stringify(revocation)}\n\n`);
  }

  async #handle(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    if (request.url === '/oauth2/revocations') {
      this.connections += 1;
      response.once('close', () => this.streams.delete(response));
      this.greet(response);
      if (response.headersSent && !response.writableEnded) this.streams.add(response);
      return;
    }
    const question = { headers: request.headers, form: new URLSearchParams(await text(request)) };
    this.questions.push(question);
    const answer = await this.reply(question, response);
    if (answer === undefined || response.destroyed || response.headersSent) return;
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  }
}

/** A server that ends with the test. */
export async function startBroken(t: Lifetime): Promise<BrokenAuthorizationServer> {
  const server = new BrokenAuthorizationServer();
  await server.start();
  t.after(() => server.end());
  return server;
}

/** A verifier that asks a server and is closed with the test; what it warns of is kept in `problems`. */
export function verifierOf(
  t: Lifetime,
  { issuer }: { issuer: string },
  options: Partial<VerifierOptions> = {},
): Verifier & { problems: string[] } {
  const problems: string[] = [];
  const onProblem = (message: string) => void problems.push(message);
  const verifier = createVerifier({ issuer, id: 'rs_1', secret: 'canary-secret', onProblem, ...options });
  t.after(() => verifier.close());
  return Object.assign(verifier, { problems });
}

/** The status that a check comes to; 200 for one that is ok. */
export async function statusOf(verifier: Verifier, token = 'token', scopes: string[] = []): Promise<number> {
  const result = await verifier.check(`Bearer ${token}`, { scopes });
  return result.ok ? 200 : result.status;
}

/** Waits until the answer for each token is kept: a second check of it asks nobody. */
export async function untilKept(server: BrokenAuthorizationServer, verifier: Verifier, ...tokens: string[]) {
  await until(async () => {
    for (const token of tokens) await statusOf(verifier, token);
    return (await asks(server, () => Promise.all(tokens.map((token) => statusOf(verifier, token))))) === 0;
  });
}

/** How many introspection requests something leads to. */
export async function asks(server: BrokenAuthorizationServer, act: () => Promise<unknown>): Promise<number> {
  const before = server.questions.length;
  await act();
  return server.questions.length - before;
}
