/** The parts of a server that its connections share. */
import type { OpenConnections } from './open-connections.ts';
import type { RequestBatch } from './request-batch.ts';
import type { Unreadable } from './unreadable.ts';

/**
 * Keep-alive timeout as clients are told it: the maximum silence of a connection between two requests (s). Longer than the
 * usual 60 s of load balancers, so that they close first: they cannot repeat a POST that meets our close.
 */
export const KEEP_ALIVE_SECONDS = 75;

/** Timeouts of a connection (ms). Node.js has none of its own: it would count before it reads what came in time. */
export const TIMEOUTS = {
  /** For the head of its first request, from the beginning of the connection. */
  firstHead: 10_000,
  /** For a request as a whole, from its first byte. */
  request: 15_000,
  /** Between two requests: a second longer than clients are told, so that a client with the same timeout closes first. */
  keepAlive: (KEEP_ALIVE_SECONDS + 1) * 1000,
} as const;

/** What a connection needs of its server. */
export type ConnectionContext = {
  readonly batch: RequestBatch;
  readonly open: OpenConnections;
  readonly unreadable: Unreadable;
};
