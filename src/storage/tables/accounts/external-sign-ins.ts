/** External sign-ins: the statements of identity providers about users who return from them. */
import type { ExternalSignIn } from '../../../accounts/people/external-sign-in.ts';
import type { ExternalSignInStore, SessionAfterTicket, TakenSignIn } from '../../../accounts/people/store.ts';
import { rowKey } from '../../statements/row-key.ts';
import {
  findRow,
  listRows,
  pageOfWalk,
  type Runner,
  type Statement,
  WALK_WINDOW,
} from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';
import { IDENTITY_PROVIDER, stillProven } from '../registrations/identity-providers.ts';
import { changeOf } from './identities.ts';
import { endingOldest, SESSION } from './sessions.ts';

/** A stored external sign-in. */
export const EXTERNAL_SIGN_IN = Table.of<ExternalSignIn>('external_sign_in', {
  nonce: 'bytes',
  providerId: 'text',
  identityId: nullable('text'),
  profile: 'json',
  browser: 'bytes',
  continueTo: 'text',
  requestedAt: 'time',
  demandsLogin: 'boolean',
  maxAge: nullable('integer'),
  authTime: nullable('time'),
  amr: 'json',
  ticket: 'bytes',
  ticketExpiresAt: 'time',
  takenAt: nullable('time'),
  expiresAt: 'time',
});

const FIND = `SELECT ${EXTERNAL_SIGN_IN.names} FROM external_sign_in WHERE nonce = $1`;

/**
 * The first statement binds the request to its provider and user; the same provider may repeat it until the ticket is
 * used.
 */
const STATE = `${EXTERNAL_SIGN_IN.insertion}
  ON CONFLICT (nonce) DO UPDATE SET profile = excluded.profile, auth_time = excluded.auth_time, amr = excluded.amr,
    ticket = excluded.ticket, ticket_expires_at = excluded.ticket_expires_at
  WHERE external_sign_in.taken_at IS NULL AND external_sign_in.provider_id = excluded.provider_id
    AND external_sign_in.identity_id IS NOT DISTINCT FROM excluded.identity_id`;

const TAKE = 'UPDATE external_sign_in SET taken_at = $3 WHERE nonce = $1 AND ticket = $2 AND taken_at IS NULL';
const END_OF_PERSON = 'UPDATE external_sign_in SET taken_at = $2 WHERE identity_id = $1 AND taken_at IS NULL';

const TICKET = EXTERNAL_SIGN_IN.pick('nonce', 'providerId', 'ticket', 'ticketExpiresAt', 'takenAt');
const WALK = `SELECT ${TICKET.names} FROM external_sign_in WHERE nonce > $1 ORDER BY nonce LIMIT ${WALK_WINDOW}`;

/**
 * The rows that a sign-in depends on, locked where others may write: the provider, the user, and an extended session.
 */
const PROVIDER = `
  SELECT 1 FROM identity_provider
  WHERE id = $1 AND status = 'active' AND rights = $2 AND session_lifetime IS NOT DISTINCT FROM $3 FOR SHARE`;
const PERSON = `
  SELECT 1 FROM identity JOIN account ON account.id = identity.account_id
  WHERE identity.id = $1 AND account.id = $2 AND account.status = 'active'
  FOR NO KEY UPDATE OF account`;
const SESSION_AS_READ = 'SELECT 1 FROM session WHERE digest = $1 AND external = $2 FOR NO KEY UPDATE';

const EXTEND = 'UPDATE session SET external = $2, expires_at = $3 WHERE digest = $1';
const END = 'DELETE FROM session WHERE digest = $1';

/** Returns the statements that begin or extend a session, and the sessions that they touch. */
function sessionOf(after: SessionAfterTicket): { touches: Buffer[]; demands: Statement[]; rest: Statement[] } {
  if (after.kind === 'begin') {
    const { session, replaces } = after;
    const ended = replaces ? [replaces] : [];
    const beginning = { sql: SESSION.insertion, values: SESSION.values(session) };
    const ending = ended.map((digest) => ({ sql: END, values: [digest] }));
    return { touches: [session.digest, ...ended], demands: [], rest: [...ending, beginning, endingOldest(session)] };
  }
  const { from, to } = after;
  const asRead = { sql: SESSION_AS_READ, values: [from.digest, SESSION.stored('external', from.external)] };
  const extending = { sql: EXTEND, values: [from.digest, SESSION.stored('external', to.external), to.expiresAt] };
  return { touches: [from.digest], demands: [asRead], rest: [extending] };
}

/** Returns the demands on a sign-in's provider and user. */
function demandsOf({ provider, identity, account }: TakenSignIn): [provider: Statement, person: Statement] {
  const { id, sessionLifetime } = provider;
  const rights = IDENTITY_PROVIDER.stored('rights', provider.rights);
  return [
    { sql: PROVIDER, values: [id, rights, sessionLifetime] },
    { sql: PERSON, values: [identity.id, account.id] },
  ];
}

/** Implements the port for external sign-ins. */
export function externalSignInStore(runner: Runner): ExternalSignInStore {
  // Waits for all writes: the statements that end a user's sessions also end tickets, without listing their keys.
  const find = (nonce: Buffer) => findRow(runner, EXTERNAL_SIGN_IN, { sql: FIND, values: [nonce] }, 'all');
  return {
    findExternalSignIn: find,
    async stateExternalSignIn(stated, proof) {
      const statement = { sql: STATE, values: EXTERNAL_SIGN_IN.values(stated) };
      await runner.change([rowKey(stated.nonce)], statement, [stillProven(proof)]);
      return find(stated.nonce);
    },
    async walkTickets(providerId, after) {
      return pageOfWalk(
        await listRows(runner, TICKET, WALK, [after]),
        (signIn) => signIn.providerId === providerId && signIn.takenAt === null,
        ({ nonce }) => nonce,
      );
    },
    endTickets: (identityId, at, proof) =>
      runner.change([], { sql: END_OF_PERSON, values: [identityId, at] }, [stillProven(proof)]),
    takeTicket(nonce, ticket, taken, event) {
      const first = { sql: TAKE, values: [nonce, ticket, event.at] };
      if (!taken) return runner.act({ touches: [rowKey(nonce)], event, first });
      const [provider, person] = demandsOf(taken);
      const { touches, demands, rest } = sessionOf(taken.session);
      const signIn = {
        touches: [nonce, ...touches].map(rowKey),
        event,
        demands: [person, ...demands],
        first,
        rest,
      };
      // Locks the provider's row before the user's, as every act of a provider does.
      if (!taken.change) return runner.act({ ...signIn, demands: [provider, ...signIn.demands] });
      return runner.actAll([{ ...changeOf(taken.change), demands: [provider] }, signIn]);
    },
  };
}
