/** The product server's calls to Valetkey: those of the package, each of which somebody hears. */
import { AsyncLocalStorage } from 'node:async_hooks';
import { createApi, ValetkeyError } from '../../packages/product/src/product.ts';
import type { Exchange } from '../exchange.ts';
import type { SeededProduct } from '../seed.ts';

export type { Connection } from '../../packages/product/src/product.ts';

/** The purpose of a call. */
export type Purpose = 'sign_in' | 'connections' | 'disconnect' | 'end_sessions';

/** Hears of every call. */
export type Hear = (purpose: Purpose, exchange: Exchange) => void;

const PURPOSES: Readonly<Record<string, Purpose>> = {
  '/api/auth/oauth/sign-in': 'sign_in',
  '/api/auth/oauth/users/connections': 'connections',
  '/api/auth/oauth/users/connections/revoke': 'disconnect',
  '/api/auth/oauth/users/end-sessions': 'end_sessions',
};

const listener = new AsyncLocalStorage<Hear>();

/** Does something, and lets somebody hear of the calls that it makes. */
export function heardBy<T>(hear: Hear, act: () => T): T {
  return listener.run(hear, act);
}

/** Returns the options of the package for a registration. */
export function registrationOf({ appUrl, providerId, providerSecret }: SeededProduct & { readonly appUrl: string }) {
  return { url: appUrl, id: providerId, secret: providerSecret, fetch: heardFetch };
}

/** Makes the calls. Null, or false, stands for one that failed. */
export function callsOf(registration: ReturnType<typeof registrationOf>) {
  const { users, connections } = createApi(registration);
  return {
    connections: (subject: string) => connections.list(subject).then(({ connections }) => connections, failed(null)),
    disconnect: (subject: string, connection_id: string) =>
      connections.revoke(subject, { connection_id }).then(() => true, failed(false)),
    endSessions: (subject: string) => users.endSessions(subject).catch(failed(false)),
  };
}

const heardFetch: typeof fetch = async (input, init = {}) => {
  const { method = 'GET', body } = init;
  const url = String(input);
  const headers = Object.fromEntries(new Headers(init.headers));
  const request = { method, url, headers, body: typeof body === 'string' ? body : '' };
  const response = await fetch(input, init);
  const answer = {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    body: await response.clone().text(),
  };
  const purpose = PURPOSES[new URL(url).pathname];
  if (purpose) listener.getStore()?.(purpose, { request, response: answer });
  return response;
};

function failed<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof ValetkeyError) return instead;
    throw error;
  };
}
