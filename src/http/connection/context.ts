/** The parts of a server that its connections share. */
import type { OpenConnections } from './open-connections.ts';
import type { RequestBatch } from './request-batch.ts';
import type { Unreadable } from './unreadable.ts';

/**
 * Keep-alive timeout that clients are told: maximum silence between two requests (s). Longer than the usual 60 s of
 * load balancers, so that they close first: they cannot repeat a POST that meets our close.
 */
export const KEEP_ALIVE_SECONDS = 75;

/** Timeouts of a connection (ms). Node.js' own are off: they would count before reading input that came in time. */
export const TIMEOUTS = {
  /** Until the head of the first request is complete, from the connection's start. */
  firstHead: 10_000,
  /** Until a request is complete, from its first byte. */
  request: 15_000,
  /** Between two requests: one second longer than clients are told, so that a client with the same timeout closes first. */
  keepAlive: (KEEP_ALIVE_SECONDS + 1) * 1000,
} as const;

/** The parts of its server that a connection uses. */
export type ConnectionContext = {
  readonly batch: RequestBatch;
  readonly open: OpenConnections;
  readonly unreadable: Unreadable;
};
