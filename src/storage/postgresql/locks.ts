/** The advisory locks that instances on one database agree on. */

/** "Vkey": tells our locks from those of others. */
const OURS = 0x566b6579;

/** The locks, as parameters of PostgreSQL's functions. The trail's is also named in the schema. */
export const LOCKS = {
  /** Whoever changes the schema or founds the installation. */
  opening: [OURS, 1],
  /** The one instance that cleans up. */
  cleanUp: [OURS, 2],
  /** Shared by those who have taken a place in the audit trail and not committed yet. */
  audit: [OURS, 3],
} as const;
