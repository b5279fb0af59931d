/** What both ways of reading a connection share. */
import type { RequestLog } from '../request-log.ts';
import { KEEP_ALIVE_SECONDS } from './direct-reply.ts';
import type { OpenConnections } from './open-connections.ts';
import type { RequestBatch } from './request-batch.ts';
import type { Unreadable } from './unreadable.ts';

/** How long a connection may take for what, in milliseconds. */
export const TIMEOUTS = {
  /** For the head of its first request. The time begins with the connection. */
  firstHead: 10_000,
  /** For a request as a whole. */
  request: 15_000,
  /** Between two requests. */
  keepAlive: KEEP_ALIVE_SECONDS * 1000,
} as const;

/** What connections need of the server that they belong to. */
export type ConnectionContext = {
  readonly batch: RequestBatch;
  readonly log: RequestLog;
  readonly open: OpenConnections;
  readonly unreadable: Unreadable;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
};
