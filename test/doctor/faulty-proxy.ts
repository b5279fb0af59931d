/** A proxy that ends TLS in front of a service, and can be told what to do wrong. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import { text } from 'node:stream/consumers';
import type { TestCertificate } from '../support/certificate.ts';
import type { Lifetime } from '../support/service.ts';

type Headers = Record<string, string | string[] | undefined>;

/** What it does otherwise than it should. */
export type Fault = {
  /** The headers that it hands on otherwise; undefined for those that it drops. */
  readonly asks?: (visitor: Headers) => Headers;
  readonly path?: (path: string) => string;
  /** The headers of an answer that it changes. */
  readonly answers?: (headers: Headers) => Headers;
  /** Answers by itself. */
  readonly itself?: (request: IncomingMessage) => { status: number; body: string } | undefined;
  readonly keepsConnections?: true;
  /** Answers again what it answered to an address before. */
  readonly caches?: true;
  readonly maxHeadBytes?: number;
};

/** A running proxy. */
export type FaultyProxy = { fault: Fault };

/** Starts one at a port, in front of a service; it ends with the test. */
export async function startProxy(
  t: Lifetime,
  port: number,
  service: string,
  certificate: TestCertificate,
): Promise<FaultyProxy> {
  const proxy: FaultyProxy = { fault: {} };
  const cache = new Map<string, Answer>();
  const agent = new http.Agent({ keepAlive: true });
  const server = https.createServer(certificate, async (visitor, response) => {
    const { fault } = proxy;
    const own = fault.itself?.(visitor);
    if (own) return void response.writeHead(own.status, { 'Content-Type': 'text/html' }).end(own.body);
    const path = visitor.url ?? '/';
    const kept = fault.caches ? cache.get(path) : undefined;
    const answer = kept ?? (await ask(visitor, path, fault, service, agent));
    if (fault.caches) cache.set(path, answer);
    send(response, answer, fault);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  t.after(() => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
  });
  return proxy;
}

type Answer = { readonly status: number; readonly headers: Headers; readonly body: string };

async function ask(
  visitor: IncomingMessage,
  path: string,
  fault: Fault,
  service: string,
  agent: http.Agent,
): Promise<Answer> {
  const body = await text(visitor);
  const own = { connection: undefined, 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' };
  const headers: Headers = { ...visitor.headers, ...own, ...fault.asks?.(visitor.headers) };
  const target = fault.path?.(path) ?? path;
  const sent = Object.fromEntries(Object.entries(headers).filter(([, value]) => value !== undefined));
  return new Promise((resolve) => {
    const options = { method: visitor.method, headers: sent, agent: fault.keepsConnections ? agent : false };
    const asking = http.request(service + target, options, async (answer) => {
      resolve({ status: answer.statusCode ?? 0, headers: { ...answer.headers }, body: await text(answer) });
    });
    asking.on('error', () => resolve({ status: 502, headers: {}, body: 'the proxy has no answer' }));
    asking.end(body);
  });
}

function send(response: ServerResponse, { status, headers, body }: Answer, fault: Fault): void {
  const ofConnection = { connection: undefined, 'keep-alive': undefined, 'transfer-encoding': undefined };
  const changed: Headers = { ...headers, ...fault.answers?.(headers), ...ofConnection };
  if (JSON.stringify(changed).length > (fault.maxHeadBytes ?? Number.POSITIVE_INFINITY))
    return void response.writeHead(502).end('the head is too long');
  const kept = Object.entries(changed).filter((pair): pair is [string, string | string[]] => pair[1] !== undefined);
  response.writeHead(status, Object.fromEntries(kept)).end(body);
}
