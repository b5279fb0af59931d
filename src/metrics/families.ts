/** The exported metrics, as one table. The table in `docs/operating/metrics.md` is made from it. */
import type { SignInTally } from '../accounts/providers/sign-in-tally.ts';
import type { RequestTally } from '../http/service/request-tally.ts';
import type { BackupRecord } from '../oauth/installation/restore.ts';
import type { RootKeys } from '../oauth/keys/root-key.ts';
import type { ListedSigningKey } from '../oauth/openid/signing-keys.ts';
import type { ProtocolTally } from '../oauth/protocol/protocol-tally.ts';
import type { PoolFigures, StoreFigures } from '../storage/opening/opened-storage.ts';
import { by, counter, type Family, gauge, histogram, one, type Sample } from './family.ts';

/** All values at the time of one scrape. Times in ms since the epoch. */
export type Snapshot = {
  readonly version: string;
  readonly database: string;
  readonly isReady: boolean;
  readonly requests: RequestTally;
  readonly connections: { readonly open: number; readonly opened: number };
  readonly maxConnections: number;
  readonly protocol: ProtocolTally;
  readonly signIns: SignInTally;
  readonly store: StoreFigures;
  /** Time when the audit trail was last verified and signed to its end, or start of the process. */
  readonly trailVerifiedAt: number;
  /** Number of dropped log lines: the buffer was full. */
  readonly droppedLines: number;
  /** Null until the first successful read. */
  readonly keys: RootKeys | null;
  readonly backups: BackupRecord | null;
  readonly signingKeys: readonly ListedSigningKey[] | null;
};

/** The table. */
export const FAMILIES: readonly Family<Snapshot>[] = [
  gauge(
    'valetkey_build_info',
    'Always 1; its labels name the running version and database.',
    ({ version, database }) => [{ value: 1, labels: { version, database } }],
  ),
  gauge('valetkey_ready', '1 while requests can be served, like /readyz; else 0.', ({ isReady }) =>
    one(Number(isReady)),
  ),
  counter(
    'valetkey_requests_total',
    'Requests by route (none: an unknown one) and outcome: ok, or the error’s name in the log.',
    ({ requests }) => [...requests.routes].flatMap(([route, tally]) => outcomesOf(route, tally.ok, tally.others)),
  ),
  histogram('valetkey_request_seconds', 'Durations of requests, by route.', ({ requests }) =>
    [...requests.routes].map(([route, { seconds }]) => [{ route }, seconds]),
  ),
  counter(
    'valetkey_throttled_total',
    'Requests refused with 429: too many requests or wrong guesses.',
    ({ requests }) => one(requests.throttled),
  ),
  gauge('valetkey_connections', 'Open connections of browsers, apps and proxies.', ({ connections }) =>
    one(connections.open),
  ),
  gauge(
    'valetkey_connections_max',
    'Maximum number of open connections: VALETKEY_MAX_CONNECTIONS.',
    ({ maxConnections }) => one(maxConnections),
  ),
  counter('valetkey_connections_opened_total', 'Connections opened since the start.', ({ connections }) =>
    one(connections.opened),
  ),
  counter('valetkey_exchanges_total', 'First pairs of tokens, for an authorization code or a device code.', (of) =>
    by('code', { authorization: of.protocol.codeExchanges, device: of.protocol.deviceExchanges }),
  ),
  counter('valetkey_refreshes_total', 'Rotations of a refresh token.', ({ protocol }) => one(protocol.refreshes)),
  counter(
    'valetkey_retries_total',
    'The same new pair sent again: after a lost answer, or to workers that refreshed at once.',
    ({ protocol }) => one(protocol.retries),
  ),
  counter(
    'valetkey_code_replays_total',
    'Grants that ended because their code was presented again: a fault in an app, or a theft.',
    ({ protocol }) => one(protocol.codeReplays),
  ),
  counter(
    'valetkey_refresh_reuses_total',
    'Grants that ended because an old refresh token was presented: a fault in an app, or a theft.',
    ({ protocol }) => one(protocol.refreshReuses),
  ),
  counter('valetkey_checks_total', 'Checks of an access token at the API of this service.', ({ protocol }) =>
    by('result', { active: protocol.checks - protocol.refusedChecks, refused: protocol.refusedChecks }),
  ),
  counter('valetkey_introspections_total', 'Tokens that resource servers asked about.', ({ protocol }) =>
    one(protocol.introspections),
  ),
  counter('valetkey_id_tokens_total', 'ID tokens that were signed, and that could not be (503).', ({ protocol }) =>
    by('result', { signed: protocol.idTokens, refused: protocol.refusedIdTokens }),
  ),
  counter('valetkey_consents_total', 'Users’ decisions on the consent page and for devices.', ({ protocol }) =>
    by('decision', { allowed: protocol.allowed, denied: protocol.denied }),
  ),
  counter(
    'valetkey_sign_ins_total',
    'Tries to sign in, with a password here or at an identity provider, by result.',
    ({ signIns }) => [...outcomesOfWay('password', signIns.password), ...outcomesOfWay('provider', signIns.provider)],
  ),
  histogram(
    'valetkey_group_size',
    'Number of requests that shared one commit (SQLite) or one statement (PostgreSQL), by kind.',
    ({ store }) => Object.entries(store.groups).map(([kind, sizes]) => [{ kind }, sizes]),
  ),
  histogram('valetkey_sync_seconds', 'Durations of syncs of the write-ahead log (SQLite).', ({ store }) =>
    store.syncs ? [[{}, store.syncs]] : [],
  ),
  gauge('valetkey_queued_writes', 'Writes that wait for their commit (SQLite).', ({ store }) => one(store.queued)),
  gauge('valetkey_wal_bytes', 'Size of the write-ahead log (SQLite).', ({ store }) => one(store.walBytes)),
  gauge('valetkey_database_connections', 'Open connections to the database server, by purpose (PostgreSQL).', (of) =>
    ofPools(of, ({ open }) => open),
  ),
  gauge(
    'valetkey_database_connections_busy',
    'Connections to the database server that are in use (PostgreSQL).',
    (of) => ofPools(of, ({ busy }) => busy),
  ),
  gauge('valetkey_database_waiting', 'Requests that wait for a connection to the database server (PostgreSQL).', (of) =>
    ofPools(of, ({ waiting }) => waiting),
  ),
  counter('valetkey_database_connections_lost_total', 'Lost connections to the database server (PostgreSQL).', (of) =>
    ofPools(of, ({ lost }) => lost),
  ),
  counter('valetkey_clean_up_rows_total', 'Rows that the clean-up of this instance read and deleted.', ({ store }) =>
    by('result', { read: store.cleanUp.seen, deleted: store.cleanUp.deleted }),
  ),
  counter('valetkey_clean_up_rounds_total', 'Rounds of the clean-up over all tables.', ({ store }) =>
    one(store.cleanUp.rounds),
  ),
  counter('valetkey_clean_up_failures_total', 'Steps of the clean-up that failed; it tries again.', ({ store }) =>
    one(store.cleanUp.failures),
  ),
  gauge('valetkey_clean_up_behind_seconds', 'Delay of the clean-up behind the clock.', ({ store }) =>
    one(store.cleanUp.behind / 1000),
  ),
  gauge(
    'valetkey_current_root_key_created_timestamp_seconds',
    'Time when the installation first had its current root key.',
    ({ keys }) => one(keys && currentKeyCreatedAt(keys)),
  ),
  gauge('valetkey_last_backup_timestamp_seconds', 'Time when the last backup was recorded; 0 if none was.', (of) =>
    one(of.backups && (of.backups.backedUpAt ?? 0) / 1000),
  ),
  gauge(
    'valetkey_audit_trail_verified_timestamp_seconds',
    'Time when this instance last verified the new events of the audit trail, and recorded a checkpoint if there were any.',
    ({ trailVerifiedAt }) => one(trailVerifiedAt / 1000),
  ),
  counter('valetkey_log_lines_dropped_total', 'Log lines that were dropped because nobody read them.', (of) =>
    one(of.droppedLines),
  ),
  gauge('valetkey_root_keys', 'Root keys that are not retired.', ({ keys }) =>
    one(keys?.keys.filter(({ retiredAt }) => retiredAt === null).length),
  ),
  gauge(
    'valetkey_id_token_keys_unopened',
    'Keys for ID tokens that the root keys of this instance do not open: apps that sign people in get 503.',
    ({ signingKeys }) => one(signingKeys?.filter(({ opens }) => !opens).length),
  ),
];

function outcomesOf(route: string, ok: number, others: ReadonlyMap<string, number>): Sample[] {
  return [['ok', ok] as const, ...others].map(([outcome, value]) => ({ value, labels: { route, outcome } }));
}

function outcomesOfWay(way: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([result, value]) => ({ value, labels: { way, result } }));
}

function ofPools({ store }: Snapshot, figure: (pool: PoolFigures) => number): Sample[] {
  return store.pools.map((pool) => ({ value: figure(pool), labels: { purpose: pool.purpose } }));
}

function currentKeyCreatedAt({ currentKeyId, keys }: RootKeys): number | null {
  const current = keys.find(({ keyId }) => keyId === currentKeyId);
  return current ? current.createdAt / 1000 : null;
}

/** Returns the table of metrics in Markdown. */
export function figuresTable(): string {
  const rows = FAMILIES.map(({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |`);
  return ['| metric | kind | meaning |', '|---|---|---|', ...rows].join('\n');
}
