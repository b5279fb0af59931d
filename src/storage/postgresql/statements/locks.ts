/** The advisory locks that the instances on one database share. */

/** First key of Valetkey's locks, apart from other programs': "Vkey". */
const OURS = 0x566b6579;

/** The locks, as parameters of PostgreSQL's functions. The schema also names the audit trail's. */
export const LOCKS = {
  /** For changing the schema and founding the installation. */
  opening: [OURS, 1],
  /** Lock of the one instance that cleans up. */
  cleanUp: [OURS, 2],
  /** Shared by uncommitted transactions with a sequence number of the audit trail. */
  audit: [OURS, 3],
} as const;
