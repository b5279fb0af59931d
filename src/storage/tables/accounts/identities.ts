/** Identities: the subjects of accounts at identity providers. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Account, isMadeHere } from '../../../accounts/people/account.ts';
import { type Identity, identityId } from '../../../accounts/people/identity-provider.ts';
import type { IdentityStore, PersonChange } from '../../../accounts/people/store.ts';
import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import { type Act, listRows, type Runner, type Tuple } from '../../statements/shared-operations.ts';
import { Table } from '../../statements/table.ts';
import { stillProven } from '../registrations/identity-providers.ts';
import { ACCOUNT, accountUpdate, STORED_ACCOUNT, storedAccount } from './accounts.ts';

/** A stored identity. */
export const IDENTITY = Table.of<Identity>('identity', {
  id: 'text',
  providerId: 'text',
  accountId: 'text',
  createdAt: 'time',
});

/** An identity of a deleted account, kept for a day. */
export const FORMER_IDENTITY = Table.of<Identity & { readonly endedAt: number }>('former_identity', {
  id: 'text',
  providerId: 'text',
  accountId: 'text',
  createdAt: 'time',
  endedAt: 'time',
});

/** The last epoch of a deleted account whose id may be created again. */
export const FORMER_ACCOUNT = Table.of<{ readonly id: string; readonly epoch: number }>('former_account', {
  id: 'text',
  epoch: 'integer',
});

const FIND = `
  SELECT ${IDENTITY.selected}, ${ACCOUNT.selected}
  FROM identity JOIN account ON account.id = identity.account_id WHERE identity.id = $1`;
/**
 * Number of keys in one statement: a constant, so that the statement has one text. It is also the number of statements
 * between two yields to the event loop.
 */
const AT_ONCE = 20;
const SOME = `(${Array.from({ length: AT_ONCE }, (_, index) => `$${index + 1}`).join(', ')})`;
const FIND_MANY = `
  SELECT identity.id, ${ACCOUNT.selected} FROM identity JOIN account ON account.id = identity.account_id
  WHERE identity.id IN ${SOME}`;
/** `;` follows `:` in byte order, so this is the range of one provider's ids. */
const SOME_OF_PROVIDER = `
  SELECT ${ACCOUNT.selected} FROM identity JOIN account ON account.id = identity.account_id
  WHERE identity.id >= $1 AND identity.id < $2 LIMIT $3`;
const LIST_MANY = `
  SELECT ${IDENTITY.names} FROM identity WHERE account_id IN ${SOME}
  UNION ALL SELECT ${IDENTITY.names} FROM former_identity WHERE account_id IN ${SOME}`;
const LIST = `SELECT ${IDENTITY.names} FROM identity WHERE account_id = $1 ORDER BY created_at, id`;
const ADD = `${IDENTITY.insertion} ON CONFLICT DO NOTHING`;
const LINK = `
  INSERT INTO identity (${IDENTITY.names}) SELECT $1, $2, id, $4 FROM account WHERE id = $3 ON CONFLICT DO NOTHING`;
const ADD_ACCOUNT = `${STORED_ACCOUNT.insertion} ON CONFLICT DO NOTHING`;
/** Keeps old grants of the same account id dead: each keeps the epoch of its Allow. */
const ABOVE_LAST_EPOCH = `
  UPDATE account SET epoch = (SELECT former_account.epoch + 1 FROM former_account WHERE former_account.id = $1)
  WHERE id = $1 AND EXISTS (SELECT 1 FROM former_account WHERE former_account.id = $1)`;

function additionOf(identity: Identity, account: Account, emailKey: string | null, event: AuditEvent): Act {
  return {
    touches: [identity.id, account.id],
    event,
    first: { sql: ADD, values: IDENTITY.values(identity) },
    rest: [
      { sql: ADD_ACCOUNT, values: storedAccount(account, emailKey) },
      ...(isMadeHere(account.id) ? [] : [{ sql: ABOVE_LAST_EPOCH, values: [account.id] }]),
    ],
  };
}

/** Returns the act that creates or updates a provider's user. */
export function changeOf({ identity, before, account, emailKey, event }: PersonChange): Act {
  return before
    ? accountUpdate('provider', account, before, emailKey, event)
    : additionOf(identity, account, emailKey, event);
}

/** Implements the port for identities. */
export function identityStore(runner: Runner): IdentityStore {
  const find = async (id: string) => {
    // The deletion of an account takes its identities along, so that what is not there rests on a row that no result names.
    const [row] = await runner.select({ sql: FIND, values: [id] }, ([found]) =>
      found ? [id, found[2] as string] : 'all',
    );
    if (!row) return null;
    return { identity: IDENTITY.read(row), account: ACCOUNT.read(row.slice(IDENTITY.columns.length)) };
  };
  const selectMany = async (sql: string, keys: readonly string[]) => {
    const rows: Tuple[] = [];
    for (let start = 0; start < keys.length; start += AT_ONCE) {
      if (start > 0 && start % (AT_ONCE * AT_ONCE) === 0) await nextTurn();
      const some = keys.slice(start, start + AT_ONCE);
      const values = Array.from({ length: AT_ONCE }, (_, index) => some[index] ?? '');
      rows.push(...(await runner.select({ sql, values }, 'all')));
    }
    return rows;
  };
  return {
    findIdentity: (providerId, subject) => find(identityId(providerId, subject)),
    async findPeople(providerId, subjects) {
      const people = new Map<string, Account>();
      const prefix = identityId(providerId, '');
      const rows = await selectMany(
        FIND_MANY,
        subjects.map((subject) => prefix + subject),
      );
      for (const [id, ...row] of rows) people.set((id as string).slice(prefix.length), ACCOUNT.read(row));
      return people;
    },
    findIdentityById: find,
    listSomePeople: (providerId, limit) =>
      listRows(runner, ACCOUNT, SOME_OF_PROVIDER, [`${providerId}:`, `${providerId};`, limit]),
    listIdentities: (accountId) => listRows(runner, IDENTITY, LIST, [accountId]),
    async listIdentitiesOf(accountIds) {
      return (await selectMany(LIST_MANY, accountIds)).map((row) => IDENTITY.read(row));
    },
    addIdentityAndAccount: (identity, account, emailKey, event) =>
      runner.act(additionOf(identity, account, emailKey, event)),
    writePeople(changes, proof) {
      const [first, ...others] = changes.map(changeOf);
      // Locks the provider's row before those of its users, as every act of a provider does.
      return runner.actAll(first ? [{ ...first, demands: [stillProven(proof)] }, ...others] : []);
    },
    addAccountWithIdentity(identity, account, emailKey, event) {
      return runner.act({
        touches: [account.id, identity.id],
        event,
        first: { sql: ADD_ACCOUNT, values: storedAccount(account, emailKey) },
        rest: [{ sql: IDENTITY.insertion, values: IDENTITY.values(identity) }],
      });
    },
    linkIdentity: (identity, event) =>
      runner.act({
        touches: [identity.id, identity.accountId],
        event,
        first: { sql: LINK, values: IDENTITY.values(identity) },
      }),
  };
}
