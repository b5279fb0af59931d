/** What providers said of sign-ins that browsers come back from. */
import type { ExternalSignIn } from '../../accounts/external-sign-in.ts';
import type { ExternalSignInStore } from '../../accounts/store.ts';
import { found, listed, type Runner, type Statement, WALK_WINDOW, walked } from '../acts.ts';
import { rowKey } from '../row-key.ts';
import { SESSION } from './sessions.ts';
import { Table } from './table.ts';

/** A sign-in elsewhere, as it is stored. */
export const EXTERNAL_SIGN_IN = Table.of<ExternalSignIn>('external_sign_in', {
  nonce: 'bytes',
  providerId: 'text',
  identityId: 'text?',
  browser: 'bytes',
  continueTo: 'text',
  requestedAt: 'time',
  demandsLogin: 'boolean',
  maxAge: 'integer?',
  authTime: 'time?',
  amr: 'json',
  ticket: 'bytes?',
  ticketExpiresAt: 'time',
  expiresAt: 'time',
});

const FIND = `SELECT ${EXTERNAL_SIGN_IN.names} FROM external_sign_in WHERE nonce = $1`;

/** Whoever says it first binds the request to one person; the same may say it again until the ticket was shown. */
const STATE = `${EXTERNAL_SIGN_IN.insertion}
  ON CONFLICT (nonce) DO UPDATE SET auth_time = excluded.auth_time, amr = excluded.amr,
    ticket = excluded.ticket, ticket_expires_at = excluded.ticket_expires_at
  WHERE external_sign_in.ticket IS NOT NULL AND external_sign_in.provider_id = excluded.provider_id
    AND external_sign_in.identity_id IS NOT DISTINCT FROM excluded.identity_id`;

const TAKE = 'UPDATE external_sign_in SET ticket = NULL WHERE nonce = $1 AND ticket = $2';

const TICKET = EXTERNAL_SIGN_IN.pick('nonce', 'providerId', 'ticket', 'ticketExpiresAt');
const WALK = `SELECT ${TICKET.names} FROM external_sign_in WHERE nonce > $1 ORDER BY nonce LIMIT ${WALK_WINDOW}`;

/** The account's row is locked where others write meanwhile: one that is being disabled is waited for, or ends this session. */
const BEGIN = `
  INSERT INTO session (${SESSION.names})
  SELECT $1, id, $3, $4, $5, $6 FROM account WHERE id = $2 AND status = 'active' FOR SHARE`;
const EXTEND = 'UPDATE session SET external = $2 WHERE digest = $1 AND external = $3';
const END = 'DELETE FROM session WHERE digest = $1';

/** The port's sign-ins elsewhere. */
export function externalSignInStore(runner: Runner): ExternalSignInStore {
  const find = (nonce: Buffer) => found(runner, EXTERNAL_SIGN_IN, { sql: FIND, values: [nonce] }, [rowKey(nonce)]);
  return {
    findExternalSignIn: find,
    async stateExternalSignIn(stated) {
      await runner.change([rowKey(stated.nonce)], { sql: STATE, values: EXTERNAL_SIGN_IN.values(stated) });
      return (await find(stated.nonce)) as ExternalSignIn;
    },
    async walkTickets(providerId, after) {
      return walked(
        await listed(runner, TICKET, WALK, [after]),
        (signIn) => signIn.providerId === providerId && signIn.ticket !== null,
        ({ nonce }) => nonce,
      );
    },
    takeTicket(nonce, ticket, result, event) {
      const [touches, rest]: [Buffer[], Statement[]] = [[nonce], []];
      if (result?.kind === 'begin') {
        touches.push(result.session.digest);
        rest.push({ sql: BEGIN, values: SESSION.values(result.session) });
      }
      if (result?.kind === 'begin' && result.replaces) {
        touches.push(result.replaces);
        rest.push({ sql: END, values: [result.replaces] });
      }
      if (result?.kind === 'extend') {
        const { digest, from, to } = result;
        touches.push(digest);
        const [before, after] = [from, to].map((external) => SESSION.stored('external', external));
        rest.push({ sql: EXTEND, values: [digest, after ?? null, before ?? null] });
      }
      return runner.act({ touches: touches.map(rowKey), event, first: { sql: TAKE, values: [nonce, ticket] }, rest });
    },
  };
}
