/** Counts of the protocol's operations since the process began: plain integers, which cost a hot path a nanosecond. */

/** The counts. They only grow. */
export type ProtocolTally = {
  /** First pairs for authorization codes, and for device codes. */
  codeExchanges: number;
  deviceExchanges: number;
  /** Rotations of a refresh token; and the same new pair answered again, with no write. */
  refreshes: number;
  retries: number;
  /** Grants that ended because a code, or a refresh token, was presented again. */
  codeReplays: number;
  refreshReuses: number;
  /** Checks of access tokens at this service's own API, and those that were refused. */
  checks: number;
  refusedChecks: number;
  introspections: number;
  /** ID tokens that were signed, and that could not be. */
  idTokens: number;
  refusedIdTokens: number;
  /** Users' decisions. */
  allowed: number;
  denied: number;
};

/** A tally in which nothing was counted yet. */
export function newProtocolTally(): ProtocolTally {
  return {
    codeExchanges: 0,
    deviceExchanges: 0,
    refreshes: 0,
    retries: 0,
    codeReplays: 0,
    refreshReuses: 0,
    checks: 0,
    refusedChecks: 0,
    introspections: 0,
    idTokens: 0,
    refusedIdTokens: 0,
    allowed: 0,
    denied: 0,
  };
}
