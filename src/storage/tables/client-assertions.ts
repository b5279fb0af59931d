/** Replay marks of client assertions. How they are made and cleared away is each store's own: it is a matter of locks. */
import { Table } from './table.ts';

/** A mark: a digest of client and jti. */
export const CLIENT_ASSERTION = Table.of<{
  readonly digest: Buffer;
  readonly clientId: string;
  readonly expiresAt: number;
}>('client_assertion', { digest: 'bytes', clientId: 'text', expiresAt: 'time' });

/** How many marks a client has, and the latest expiry of those that were cleared away. */
export const CLIENT_ASSERTION_TOTAL = Table.of<{
  readonly clientId: string;
  readonly marks: number;
  readonly clearedUntil: number;
}>('client_assertion_total', { clientId: 'text', marks: 'integer', clearedUntil: 'time' });
