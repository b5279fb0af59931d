/** A small product, on each framework that the package is for, with a sign-in of its own. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import express from 'express';
import fastify from 'fastify';
import { type Context, Hono } from 'hono';
import type { CurrentUser, Pending, Problem, SignInOptions } from '../../packages/product/src/product.ts';
import type { Lifetime } from '../support/service.ts';
import type { Modules } from './installed.ts';

/** The frameworks. */
export const FRAMEWORKS = ['Express', 'Fastify', 'Hono', 'Fetch'] as const;

/** One of them. */
export type Framework = (typeof FRAMEWORKS)[number];

/** How a product behaves; every part may change while it runs. */
export type Habits = {
  /** Its session cookie is `SameSite=Strict`. */
  strict?: boolean;
  /** It does not keep when somebody signed in. */
  forgetsTimes?: boolean;
  /** Its sign-in page sends people who are signed in straight back. */
  sendsBack?: boolean;
  /** The address, without the endpoint's path, at which browsers find it. */
  publicUrl?: string;
};

/** A running product. */
export type Site = {
  readonly url: string;
  readonly habits: Habits;
  readonly problems: Problem[];
  /** The wishes that its sign-in page heard of. */
  readonly wishes: unknown[];
  stop(): Promise<void>;
};

/** The endpoint's path, as this server sees it. */
export const PATH = '/oauth/sign-in';

const PEOPLE: Readonly<Record<string, Omit<CurrentUser, 'signedInAt'>>> = {
  ada: { subject: 'p-17', name: 'Ada <Lovelace>', email: 'ada@example.com', emailVerified: true, amr: ['pwd'] },
  grace: { subject: 'p-42', name: 'Grace Hopper', email: 'grace@example.com', emailVerified: true },
};

type Reply = { status: number; headers: Record<string, string>; body: string };
type Session = { who: string; at: number };

/** Starts a product on a port that `listen` reserved. */
export async function startSite(
  t: Lifetime,
  modules: Modules,
  framework: Framework,
  registration: { readonly url: string } & Pick<SignInOptions<unknown>, 'secret' | 'privateKey'>,
  port: number,
  habits: Habits = {},
): Promise<Site> {
  const url = `http://localhost:${port}`;
  const base = habits.publicUrl ?? url;
  const mount = new URL(base).pathname.replace(/\/$/, '');
  const sessions = new Map<string, Session>();
  const problems: Problem[] = [];
  const wishes: unknown[] = [];
  const sessionOf = (cookie: string) => sessions.get(/(?:^|; )sid=([\w-]+)/.exec(cookie)?.[1] ?? '');
  const currentUser = (cookie: string): CurrentUser | null => {
    const session = sessionOf(cookie);
    const person = session && PEOPLE[session.who];
    return person ? { ...person, signedInAt: habits.forgetsTimes ? null : session.at } : null;
  };
  const options = <R>(cookieOf: (request: R) => string): SignInOptions<R> => ({
    ...registration,
    id: 'product',
    address: base + PATH,
    currentUser: (request) => currentUser(cookieOf(request)),
    loginUrl: (next, wish) => {
      wishes.push(wish);
      return `${mount}/login?next=${encodeURIComponent(next)}`;
    },
    onProblem: (problem) => void problems.push(problem),
  });
  const answer = (method: string, target: string, cookie: string, pending: Pending | null): Reply => {
    const { pathname, searchParams } = new URL(target, url);
    const next = /^\/(?![/\\])\P{Cc}*$/u.exec(searchParams.get('next') ?? '') ? String(searchParams.get('next')) : '/';
    const goTo = (location: string, set = ''): Reply => ({
      ...{ status: 303, body: '' },
      headers: { location, ...(set && { 'set-cookie': set }) },
    });
    const page = (body: string): Reply => ({
      ...{ status: 200, headers: { 'content-type': 'text/html; charset=utf-8' } },
      body: `<!doctype html><title>Photos</title>${body}`,
    });
    if (pathname === '/out') {
      sessions.delete(/sid=([\w-]+)/.exec(cookie)?.[1] ?? '');
      return page('Signed out');
    }
    if (pathname !== '/login') return page('The album');
    if (method === 'POST') {
      const id = randomUUID();
      const now = Date.now();
      // No whole second: the endpoint compares such a time in seconds, and an old sign-in would pass for a new one.
      const at = now % 1000 === 0 ? now + 1 : now;
      sessions.set(id, { who: searchParams.get('as') ?? '', at });
      return goTo(next, `sid=${id}; Path=/; HttpOnly; SameSite=${habits.strict ? 'Strict' : 'Lax'}`);
    }
    if (habits.sendsBack && currentUser(cookie)) return goTo(next);
    const enter = (who: string) =>
      `<form method="post" enctype="text/plain" action="${mount}/login?as=${who}&#38;next=${encodeURIComponent(next)}"><button>Sign in as ${who}</button></form>`;
    const refuse = pending
      ? `<p>${escaped(pending.appName)} asks</p><form method="post" enctype="text/plain" action="${escaped(pending.refuseUrl)}"><button>Refuse</button></form>`
      : '';
    return page(`<h1>Sign in to Photos</h1>${enter('ada')}${enter('grace')}${refuse}`);
  };

  const stop = await LISTEN[framework](port, modules, options, answer);
  t.after(stop);
  return { url, habits, problems, wishes, stop };
}

type Options = <R>(cookieOf: (request: R) => string) => SignInOptions<R>;
type Answer = (method: string, target: string, cookie: string, pending: Pending | null) => Reply;
type Listen = (port: number, modules: Modules, options: Options, answer: Answer) => Promise<() => Promise<void>>;

const LISTEN: Readonly<Record<Framework, Listen>> = {
  Express: (port, modules, options, answer) => {
    const app = express();
    app.use(express.urlencoded({ extended: false }), express.json());
    const endpoint = modules.express.signIn(options((request: express.Request) => request.headers.cookie ?? ''));
    app.all(PATH, endpoint);
    app.use((request, response) => {
      const { status, headers, body } = answer(
        request.method,
        request.url,
        request.headers.cookie ?? '',
        endpoint.pending(request),
      );
      response.status(status).set(headers).send(body);
    });
    return listen(createServer(app), port);
  },
  Fastify: async (port, modules, options, answer) => {
    const app = fastify();
    type Request = { method: string; url: string; headers: { cookie?: string | undefined } };
    const endpoint = modules.fastify.signIn(
      options((request: Request & fastify.FastifyRequest) => request.headers.cookie ?? ''),
    );
    app.all(PATH, endpoint);
    app.all('*', (request, reply) => {
      const { method, url, headers } = request;
      const reply2 = answer(method, url, headers.cookie ?? '', endpoint.pending(request));
      return reply.code(reply2.status).headers(reply2.headers).send(reply2.body);
    });
    await app.listen({ port, host: 'localhost' });
    return () => app.close();
  },
  Hono: (port, modules, options, answer) => {
    const app = new Hono();
    const endpoint = modules.hono.signIn(options((context: Context) => context.req.header('cookie') ?? ''));
    app.on(['GET', 'POST'], PATH, endpoint);
    app.all('*', (context) => {
      const { method, url } = context.req;
      const { status, headers, body } = answer(
        method,
        url,
        context.req.header('cookie') ?? '',
        endpoint.pending(context),
      );
      return new Response(body, { status, headers });
    });
    return listen(createServer(getRequestListener(app.fetch)), port);
  },
  Fetch: (port, modules, options, answer) => {
    const endpoint = modules.product.signIn(options((request) => request.headers.get('cookie') ?? ''));
    const handle = (request: Request) => {
      if (new URL(request.url).pathname === PATH) return endpoint(request);
      const cookie = request.headers.get('cookie') ?? '';
      const { status, headers, body } = answer(request.method, request.url, cookie, endpoint.pending(request));
      return new Response(body, { status, headers });
    };
    return listen(createServer(getRequestListener(handle)), port);
  },
};

async function listen(server: ReturnType<typeof createServer>, port: number): Promise<() => Promise<void>> {
  server.listen(port, 'localhost');
  await once(server, 'listening');
  if ((server.address() as AddressInfo).port !== port) throw new Error('another port');
  return async () => {
    server.close();
    server.closeAllConnections();
  };
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (mark) => `&#${mark.charCodeAt(0)};`);
}
