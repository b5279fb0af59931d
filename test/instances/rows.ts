/** What the rows of an installation must be like, whatever happened to the lines over which they were written. */
import type { SharedPostgres } from '../support/shared-postgres.ts';

/** What is asked about rows. */
export type Queried = Pick<SharedPostgres, 'query'>;

/** Each finds ids that should not be found. */
const ODD: Readonly<Record<string, string>> = {
  // Not the other way round: a grant that an epoch ended may be cleared away at once, and its event stays.
  'a grant without the one event of its Allow': `
    SELECT id::text FROM oauth_grant
    LEFT JOIN (SELECT grant_id, count(*) AS events FROM audit_event WHERE action = 'consent_allowed' GROUP BY 1) AS allowed
      ON allowed.grant_id = id::text
    WHERE events IS DISTINCT FROM 1`,
  'a grant that was revoked alone, without the one event that says so': `
    SELECT id::text FROM oauth_grant
    LEFT JOIN (SELECT grant_id, count(*) AS events FROM audit_event
      WHERE action IN ('grant_revoked', 'code_replay', 'refresh_reuse', 'refresh_conflict', 'too_many_grants') GROUP BY 1) AS ended ON ended.grant_id = id::text
    WHERE coalesce(events, 0) <> CASE WHEN coalesce(revocation_reason, 'user') = 'user' THEN 0 ELSE 1 END`,
  'a grant that was used before it was redeemed, or in a generation that it never had': `
    SELECT id::text FROM oauth_grant WHERE used_generation > generation`,
};

/** What is wrong with the rows of a database, in words; none when all is well. */
export async function oddRows(server: Queried, database: string): Promise<string[]> {
  const found = Object.entries(ODD).map(async ([what, sql]) =>
    (await server.query<{ id: string }>(database, sql)).map(({ id }) => `${what}: ${id}`),
  );
  return (await Promise.all(found)).flat();
}
