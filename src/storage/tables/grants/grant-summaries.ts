/**
 * Summaries of grants. The statement is generated from the domain's `SUMMARIZED`, so a new column needs no SQL here.
 */
import { type GrantSummary, SUMMARIZED, type SummarizedBy } from '../../../oauth/grants/grant.ts';
import { type Column, nullable, Table } from '../../statements/table.ts';
import { GRANT, NOT_ENDED } from './grant-rows.ts';

type Summarized = keyof typeof SUMMARIZED;

/** The columns that a summary shares with its grants. */
const OF_GRANTS = GRANT.pick(...(Object.keys(SUMMARIZED) as Summarized[]));

/** The columns that are computed from all grants of a summary. */
const OF_SUMMARY = Table.of<Omit<GrantSummary, Summarized>>('summary', {
  id: 'uuid',
  clientName: 'text',
  hasDocument: 'boolean',
  isRedeemed: 'boolean',
  signsIn: 'boolean',
  lastGrantedAt: 'time',
  lastUsedAt: nullable('time'),
});

/** A summary, as `summarize` selects it. */
export const SUMMARY: Table<GrantSummary> = OF_GRANTS.and(OF_SUMMARY);

const AGGREGATES: Readonly<Record<SummarizedBy, string>> = { alike: '', lowest: 'min', highest: 'max' };

const summarizedBy = ({ path }: Column): SummarizedBy => SUMMARIZED[path[0] as Summarized];

const ofGrants = OF_GRANTS.columns.map((column) => `${AGGREGATES[summarizedBy(column)]}(oauth_grant.${column.name})`);

const alike = OF_GRANTS.columns.flatMap((column) =>
  summarizedBy(column) === 'alike' ? [`oauth_grant.${column.name}`] : [],
);

/** The SQL form of `lastUse` in oauth/grants/grant.ts. */
export const LAST_USE =
  'CASE WHEN generation > 1 AND rotated_at > coalesce(last_used_at, 0) THEN rotated_at ELSE last_used_at END';

/**
 * Returns the statement that summarizes the grants of a window that are live at `$6` (ms); `$7` is the device grant
 * type. Grants of one summary in several windows have a summary in each. CROSS JOIN makes SQLite find each client by
 * its key.
 */
export const summarize = (newestId: string, inWindow: string): string => `
  SELECT ${ofGrants.join(', ')}, ${OF_SUMMARY.computed({
    id: newestId,
    clientName: 'client.name',
    hasDocument: 'client.document_sha256 IS NOT NULL',
    isRedeemed: 'generation > 0',
    signsIn: 'oauth_grant.openid IS NOT NULL',
    lastGrantedAt: 'max(granted_at)',
    lastUsedAt: `max(${LAST_USE})`,
  })}
  FROM oauth_grant CROSS JOIN client
  WHERE client.id = client_id AND ${inWindow} AND expires_at > $6 AND ${NOT_ENDED}
  GROUP BY ${alike.join(', ')}, client.name, client.document_sha256 IS NOT NULL, generation > 0, oauth_grant.openid IS NOT NULL,
    CASE WHEN generation = 0 OR redirect_uri = $7 OR client.document_sha256 IS NOT NULL THEN oauth_grant.id END`;
