/** Replay marks of client assertions. Each store adds and deletes them itself, since their locks differ. */
import { Table } from '../../statements/table.ts';

/** A replay mark: a digest of client id and `jti`. */
export const CLIENT_ASSERTION = Table.of<{
  readonly digest: Buffer;
  readonly clientId: string;
  readonly expiresAt: number;
}>('client_assertion', { digest: 'bytes', clientId: 'text', expiresAt: 'time' });

/** The number of a client's marks, and the latest expiry among its deleted marks. */
export const CLIENT_ASSERTION_TOTAL = Table.of<{
  readonly clientId: string;
  readonly marks: number;
  readonly clearedUntil: number;
}>('client_assertion_total', { clientId: 'text', marks: 'integer', clearedUntil: 'time' });
