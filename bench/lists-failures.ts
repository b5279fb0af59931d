/** Made-up failures in either store: all apps failed in each hour and each day that is kept. */
import { COUNTERS, SPAN_MS, type Span, TALLIES_KEPT_MS } from '../src/oauth/activity/app-tally.ts';
import { TALLY } from '../src/storage/tables/registrations/activity.ts';

/** Adds the tallies of all clients. `now` in ms. */
export async function fillFailures(ask: (sql: string) => Promise<readonly object[]>, now: number): Promise<void> {
  for (const span of ['hour', 'day'] as const) await ask(filling(span, now));
}

function filling(span: Span, now: number): string {
  const newest = now - (now % SPAN_MS[span]);
  const counters = COUNTERS.map((counter) => (counter === 'invalidGrant' ? 'n + 1' : '0'));
  return `INSERT INTO tally (${TALLY.names})
    WITH RECURSIVE back (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM back WHERE n < ${TALLIES_KEPT_MS[span] / SPAN_MS[span] - 1}),
      made AS (SELECT n, ${newest} - n * CAST(${SPAN_MS[span]} AS bigint) AS bucket FROM back)
    SELECT id || ' ${span} ' || '000' || CAST(bucket AS text), id, '${span}', bucket, ${counters.join(', ')}
    FROM client CROSS JOIN made`;
}
