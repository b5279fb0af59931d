/**
 * The rules of every port to a store. A verb is a transition: one atomic write, with its audit event in the same transaction,
 * so that neither exists without the other. Its comment says who wins a race. When a verb returns, its effect is on disk. No
 * transaction crosses a port.
 */

/**
 * The store is unavailable; a retry may succeed. Nothing was written, unless the connection was lost during the commit. A
 * retry is always safe, and returns the result of the first try.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/**
 * The connection was lost during the commit of a write that must not happen twice. The write may have happened: the caller
 * drops it, and never retries.
 */
export class OutcomeUnknown extends StoreUnavailable {}

/** The rows of a walk in one window of keys, and the key after which the walk continues; null at the end. */
export type Walked<Row> = { readonly found: readonly Row[]; readonly goesOnAfter: Buffer | null };
