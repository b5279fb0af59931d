/** The advisory locks that instances on one database agree on. */

/** "Vkey": keeps our locks apart from other programs'. */
const OURS = 0x566b6579;

/** The locks, as parameters of PostgreSQL's functions. The trail's is also named in the schema. */
export const LOCKS = {
  /** For changing the schema and founding the installation. */
  opening: [OURS, 1],
  /** Held by the one instance that cleans up. */
  cleanUp: [OURS, 2],
  /** Shared by transactions that have a place in the audit trail and are not committed yet. */
  audit: [OURS, 3],
} as const;
