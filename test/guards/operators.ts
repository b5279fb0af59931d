/** The guards of operators: what an operator may do, and what ends with the access of one. */
import { type Guard, guardsIn } from './guard.ts';

const RIGHTS = ['test/operator/access/rights.test.ts'];
const ACCESS = ['test/operator/access/operators.test.ts'];
const APP_PAGE = ['test/http/operator/console/app.test.ts'];
const COUNTERS = ['test/postgresql/counters.test.ts'];
const INSTANCES = ['test/postgresql/instances.test.ts'];
const STORES = ['test/storage/sqlite.test.ts'];
const POSTGRESQL = ['test/postgresql/conformance.test.ts'];

/** Guards of the rights, of access that ends midway, and of what works once. */
export const operatorGuards: readonly Guard[] = [
  ...guardsIn('src/operator/access/rights.ts', RIGHTS, [
    ['a disabled operator does nothing', "if (operator.status !== 'active') return 'disabled';", ''],
    ['some acts are for commands alone', 'if (needs === COMMANDS_ALONE) return', 'if (false) return'],
    ['an act needs its role', 'if (!includesRole(operator.role, needs.role))', 'if (false)'],
    ['a key acts by its rights', '&& by.rights.includes(needs.right) ? null', '? null'],
    ['no key touches operators', 'needs.right !== null && by', 'by', 'no key has a right that is null'],
    ['presence passes', 'presentAt > now - PRESENCE_MS', 'true'],
    ['presence is not of the future', ' && !isAheadOfClock(presentAt, 0, now)', ''],
    ['a session at an address has no presence', "=== 'unless-address' && by.how", '!== undefined && by.how'],
  ]),
  ...guardsIn('src/operator/access/access.ts', ACCESS, [
    ['a key is not of the future', 'isAheadOfClock(key.createdAt, 0, now())', 'false'],
  ]),
  ...guardsIn(
    'src/operator/access/access.ts',
    ['test/http/guessing.test.ts'],
    [
      ['wrong keys do not keep out one that was right', 'isRecent ? check() :', 'false ? check() :'],
      ['a key that ended is a guess from then on', 'else if (isRecent) this.#recentKeys.delete(digest);', ''],
      [
        'only a right key is remembered',
        'if (!(access instanceof Refusal)) this.#recentKeys',
        'if (access) this.#recentKeys',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/checks/own-host.ts',
    ['test/http/operator/host.test.ts'],
    [
      ['no page of another host reads the operators’ address', '|| nameIn(authority) === own', '|| true'],
      ['the host of an absolute target counts', '?.[1] ?? headers.host', '?.[9] ?? headers.host'],
      ['a host is a name, and nothing beside it', '*)\\.?(?::\\d*)?$/.exec', '*)/.exec'],
    ],
  ),
  ...guardsIn(
    'src/http/server.ts',
    ['test/http/operator/host.test.ts'],
    [
      [
        'the operators’ address asks for its host',
        'if (operators) requireOwnHost(app, url, fallback);',
        'void requireOwnHost;',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/access/recent-keys.ts',
    ['test/operator/access/recent-keys.test.ts'],
    [
      ['a key is remembered for an hour', ' && now - usedAt < REMEMBERED_MS', ''],
      [
        'the number of remembered keys is bounded',
        'if (this.#usedAt.size > MAX_KEYS && oldest !== undefined)',
        'if (oldest === undefined)',
      ],
    ],
  ),
  ...guardsIn('src/http/operator/console/apps/app.ts', APP_PAGE, [
    ['a secret that is in use again stays', "advice?.kind === 'used' && form.get('advice') !== 'used'", 'false'],
    ['a secret retires as it was shown', "String(endingSecret(row, which)?.createdAt) !== form.get('made')", 'false'],
  ]),
  ...guardsIn('src/accounts/sign-in/rate-limits.ts', COUNTERS, [
    ['wrong keys leave no row', 'new Throttle(LIMITS.operatorKeys)', "throttle('operatorKeys')"],
  ]),
  ...guardsIn('src/operator/access/operator-session.ts', ACCESS, [
    ['a session is not of the future', ' && !isAheadOfClock(session.lastSeenAt, 0, now)', ''],
  ]),
  ...guardsIn('src/storage/sqlite/statements/runner.ts', STORES, [
    ['an act demands access', 'requireStanding(tables, act.event);', ''],
    ['the end of grants demands access', 'number { requireStanding(tables, event);', 'number {'],
    ['several acts demand access', 'requireStanding(tables, ...acts.map(({ event }) => event));', ''],
    ['an event alone demands access', 'requireStanding(tables, event); tables.record', 'tables.record'],
  ]),
  ...guardsIn('src/storage/postgresql/statements/database.ts', POSTGRESQL, [
    ['whatever is recorded demands access', 'await requireStanding(connection, event);', ''],
  ]),
  ...guardsIn('src/storage/tables/operators/operator-rows.ts', INSTANCES, [
    ['an act on oneself takes one lock', "clientId === operatorId ? 'NO KEY UPDATE' : 'SHARE'", "'SHARE'"],
  ]),
  ...guardsIn('src/storage/tables/operators/operator-rows.ts', STORES, [
    ['access ends with the epoch', "AND status = 'active' AND epoch = $2 FOR", "AND status = 'active' AND $2 = $2 FOR"],
    ['access ends with the status', "AND status = 'active' AND epoch", 'AND epoch', 'a disabling raises the epoch too'],
    ['nothing begins while disabled', "AND status = 'active' FOR NO KEY", 'FOR NO KEY'],
  ]),
  ...guardsIn('src/storage/tables/operators/operator-sessions.ts', STORES, [
    ['a challenge begins one session', 'isFirst, ...ended.map(', '...ended.map('],
    ['a counter that moved is refused', 'AND counter = $2', 'AND $2 = $2'],
    ['a confirmation needs the session', '...ended.map((old) => hasSession(old, operatorId))', ''],
    ['an address is for one operator', 'AND operator_id = $2 AND purpose', "AND $2 <> '' AND purpose"],
    ['an address is for one purpose', 'AND purpose = $3', 'AND $3 = $3'],
    ['an address expires', 'AND expires_at > $4', 'AND $4 = $4'],
    ['a first passkey is the first', '{ sql: HAS_NO_PASSKEY, values: [operatorId] },', ''],
    ['a first passkey is made in a session', '{ sql: HAS_SESSION_AT_ADDRESS, values: [replaces, operatorId] },', ''],
    ['a session by passkey makes no first one', "${HAS_SESSION} AND how = 'address'", '${HAS_SESSION}'],
    ['a challenge makes one first passkey', 'isFirst, { sql: HAS_SESSION_AT', '{ sql: HAS_SESSION_AT'],
    ['a first passkey takes its session’s place', '{ sql: END, values: [replaces, operatorId] }, ...', '...'],
    ['a passkey is added in a session', 'hasSession(session, operatorId), isFirst,', 'isFirst,'],
  ]),
  ...guardsIn('src/storage/tables/operators/operators.ts', STORES, [
    ['an admin stays', '? [staysAdmin(id)] : []', '? [] : []'],
    [
      'a disabling ends what was given',
      "'operator_session', 'operator_key', 'operator_one_time_address')",
      "'operator_session')",
    ],
    ['a reset ends passkeys', "'operator_passkey', 'operator_session'", "'operator_session'"],
    ['a newer address ends the older', '{ sql: `${END_ADDRESSES} AND purpose = $2`, values: [id, purpose] },', ''],
    ['a refusal is recorded once', 'demands: [isFirst], rest', 'rest'],
  ]),
];
