/**
 * The rules of every port to a store. A verb is a transition: one atomic write, whose comment says who wins a race, with its
 * audit event in the same transaction, so that neither is ever there without the other. When a verb returns, its effect
 * is on disk. No transaction crosses a port.
 */

/**
 * The store cannot serve now; a later try may succeed. Nothing was written, unless the connection was lost for good just
 * then. In any case a second try is safe, and returns what the first one did.
 */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
}

/**
 * The connection was lost at the commit of a write that must not happen twice. It may have happened: a caller drops it, and never
 * tries again.
 */
export class OutcomeUnknown extends StoreUnavailable {}

/** The rows that a walk found in one window of keys, and the key after which it goes on; null at the end. */
export type Walked<Row> = { readonly found: readonly Row[]; readonly goesOnAfter: Buffer | null };
