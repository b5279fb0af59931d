/** What both readers of connections share: our own, and that of Node.js. */
import type { RequestLog } from '../request-log.ts';
import { KEEP_ALIVE_SECONDS } from './direct-reply.ts';
import type { OpenConnections } from './open-connections.ts';
import type { RequestBatch } from './request-batch.ts';
import type { Unreadable } from './unreadable.ts';

/** Timeouts of a connection (ms). */
export const TIMEOUTS = {
  /** For the head of its first request, from the beginning of the connection. */
  firstHead: 10_000,
  /** For a request as a whole. */
  request: 15_000,
  /** Between two requests. */
  keepAlive: KEEP_ALIVE_SECONDS * 1000,
} as const;

/** What a connection needs of its server. */
export type ConnectionContext = {
  readonly batch: RequestBatch;
  readonly log: RequestLog;
  readonly open: OpenConnections;
  readonly unreadable: Unreadable;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};
