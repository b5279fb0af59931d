/** What rows must be like after a power cut, since what belongs together was written in one transaction. */
import { DatabaseSync } from 'node:sqlite';

/** Each finds what should not be found. */
const ODD: Readonly<Record<string, string>> = {
  'a grant without the one event of its Allow': `
    SELECT hex(id) AS found FROM oauth_grant
    LEFT JOIN (SELECT unhex(grant_id, '-') AS allowed, count(*) AS events FROM audit_event
      WHERE action = 'consent_allowed' GROUP BY grant_id) ON allowed = id
    WHERE events IS NOT 1`,
  'a grant that was revoked alone, without the one event that says so': `
    SELECT hex(id) AS found FROM oauth_grant
    LEFT JOIN (SELECT unhex(grant_id, '-') AS ended, count(*) AS events FROM audit_event
      WHERE action IN ('grant_revoked', 'code_replay', 'refresh_reuse', 'refresh_conflict', 'too_many_grants') GROUP BY grant_id) ON ended = id
    WHERE coalesce(events, 0) <> iif(coalesce(revocation_reason, 'user') = 'user', 0, 1)`,
  'a grant that was used in a generation that it never had': `
    SELECT hex(id) AS found FROM oauth_grant WHERE used_generation > generation`,
};

/** What is wrong with the rows of a database, in words; none when all is well. */
export function oddRows(path: string): string[] {
  const database = new DatabaseSync(path, { readOnly: true });
  try {
    return Object.entries(ODD).flatMap(([what, sql]) =>
      database
        .prepare(sql)
        .all()
        .map(({ found }) => `${what}: ${found}`),
    );
  } finally {
    database.close();
  }
}
