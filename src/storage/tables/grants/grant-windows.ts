/**
 * Reads the grants of a resource owner, possibly thousands, in windows of the index that finds them: no window blocks
 * the event loop, or locks a server's row, for long. Later windows show changes made meanwhile.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Grant } from '../../../oauth/grants/grant.ts';
import { findRow, type Runner, type Tuple, WALK_WINDOW } from '../../statements/shared-operations.ts';
import { type Stored, Table } from '../../statements/table.ts';

const PLACE = Table.of<Pick<Grant, 'clientId' | 'id'>>('oauth_grant', { clientId: 'text', id: 'uuid' });

/** Keys before and after every grant. Texts compare by their UTF-8 bytes, of which these are the highest. */
const FIRST_ID = Buffer.alloc(16);
const LAST_ID = Buffer.alloc(16, 255);
const LAST_CLIENT = '\u{10ffff}';

/** Reads all rows that a statement selects from the grants of a resource owner, optionally for one client. */
export type WindowReader = (
  resourceOwnerId: string,
  clientId: string | undefined,
  more: readonly Stored[],
) => Promise<Tuple[]>;

/**
 * Returns the reader of a statement. `sql` builds the statement from the condition of a window, which has the
 * parameters `$1` to `$5`; the values `more` follow.
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
      const upTo = await findRow(runner, PLACE, { sql: end, values: rest });
      const window = [resourceOwnerId, ...PLACE.values(after), ...PLACE.values(upTo ?? last)];
      rows.push(...(await runner.select({ sql: statement, values: [...window, ...more] }, 'all')));
      if (!upTo) return rows;
      after = upTo;
    }
  };
}
