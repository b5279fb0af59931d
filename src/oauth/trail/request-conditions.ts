/** Conditions of an operator's request over HTTP that the write of its act checks: `Idempotency-Key` and `If-Match`. */

/**
 * An `Idempotency-Key`: the digest of the operator and the key, the digest of the request, and when the request came
 * (ms). The write of the act records it, so that a crash never separates the two.
 */
export type OnceOnly = { readonly digest: Buffer; readonly request: Buffer; readonly at: number };

/** The id of the object that a request with an `Idempotency-Key` made, or made a secret for. */
export type Made = OnceOnly & { readonly made: string };

/** Lifetime of an `Idempotency-Key` (ms). */
export const IDEMPOTENCY_KEY_MS = 24 * 3_600_000;

/** A row as it was when its `ETag` was computed (RFC 9110 §13.1.1). Times of uses do not count. */
export type Unchanged = {
  readonly noun: 'client' | 'resource_server' | 'identity_provider' | 'scope' | 'user' | 'operator';
  readonly row: object;
  /** Of a user: the time of the page that showed them (ms). A session or a grant that began since is a change, too. */
  readonly seenAt?: number;
};

/** The conditions of one request. */
export type RequestConditions = { readonly once?: OnceOnly; readonly unchanged?: Unchanged };

/** Another request with this `Idempotency-Key` was done first. Nothing was written. */
export class DoneBefore extends Error {
  override readonly name = 'DoneBefore';
}

/** The row is not as it was when its `ETag` was computed. Nothing was written. */
export class ChangedSince extends Error {
  override readonly name = 'ChangedSince';
}

/** The port to recorded `Idempotency-Key`s. Rules are as for every port (`oauth/store.ts`). */
export type IdempotencyStore = {
  /** Returns the record of a key, even an expired one that clean-up has not deleted yet. */
  findMade(digest: Buffer): Promise<Made | null>;
};
