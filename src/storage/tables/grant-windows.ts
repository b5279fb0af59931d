/**
 * Reads the grants of a resource owner, of which there may be thousands, in windows of the index that finds them: none holds the
 * event loop, or a row of the server, for long. What changes meanwhile is seen in the windows that are read later.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Grant } from '../../oauth/grants/grant.ts';
import { found, type Runner, type Tuple, WALK_WINDOW } from '../acts.ts';
import { type Stored, Table } from './table.ts';

const PLACE = Table.of<Pick<Grant, 'clientId' | 'id'>>('oauth_grant', { clientId: 'text', id: 'uuid' });

/** Before and after each grant of a client. Bytes of UTF-8 are compared, of which these are the last. */
const [FIRST_ID, LAST_ID] = [Buffer.alloc(16), Buffer.alloc(16, 255)];
const LAST_CLIENT = '\u{10ffff}';

/** Reads all rows that a statement selects of the grants of a resource owner, or of those for one client. */
export type WindowReader = (
  resourceOwnerId: string,
  clientId: string | undefined,
  more: readonly Stored[],
) => Promise<Tuple[]>;

/**
 * Returns the reader of a statement. `sql` makes it of the condition that the grants are in a window, which has the parameters
 * `$1` to `$5`; `more` values follow.
 */
export function windowReader(runner: Runner, sql: (inWindow: string) => string): WindowReader {
  const { givenId } = runner.dialect;
  const inWindow = `resource_owner_id = $1
    AND (client_id, oauth_grant.id) > ($2, ${givenId('$3')}) AND (client_id, oauth_grant.id) <= ($4, ${givenId('$5')})`;
  const end = `
    SELECT ${PLACE.names} FROM oauth_grant WHERE ${inWindow} ORDER BY client_id, id LIMIT 1 OFFSET ${WALK_WINDOW - 1}`;
  const statement = sql(inWindow);
  return async (resourceOwnerId, clientId, more) => {
    const last = { clientId: clientId ?? LAST_CLIENT, id: LAST_ID };
    const rows: Tuple[] = [];
    for (let after: Pick<Grant, 'clientId' | 'id'> = { clientId: clientId ?? '', id: FIRST_ID }; ; await nextTurn()) {
      const rest = [resourceOwnerId, ...PLACE.values(after), ...PLACE.values(last)];
      const upTo = await found(runner, PLACE, { sql: end, values: rest });
      const window = [resourceOwnerId, ...PLACE.values(after), ...PLACE.values(upTo ?? last)];
      rows.push(...(await runner.select({ sql: statement, values: [...window, ...more] }, 'all')));
      if (!upTo) return rows;
      after = upTo;
    }
  };
}
