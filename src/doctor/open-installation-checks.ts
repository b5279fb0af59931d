/** Checks an opened installation: settings, keys, clocks, sizes, permissions and ways to sign in. */
import type { Client } from '../oauth/clients/client.ts';
import type { BackupRecord } from '../oauth/installation/restore.ts';
import type { RootKeys } from '../oauth/keys/root-key.ts';
import { rootKeyName } from '../oauth/keys/root-key.ts';
import type { ListedSigningKey } from '../oauth/openid/signing-keys.ts';
import type { Operator } from '../operator/access/operator.ts';
import type { Passkey } from '../operator/access/passkey.ts';
import type { ProviderFinding } from '../operator/products-and-apis/provider-test.ts';
import type { UnexplainedScopes } from '../operator/products-and-apis/unexplained-scopes.ts';
import type { Fault } from '../process/installation-error.ts';
import type { Finding as StorageFinding } from '../storage/schema/check-finding.ts';
import { type Finding, Findings } from './finding.ts';
import { readableAge, readableBytes } from './readable-sizes.ts';

/** Data on an opened installation. Times in ms, sizes in bytes. */
export type Opened = {
  readonly checks: readonly StorageFinding[];
  readonly exposures: readonly Fault[];
  readonly keys: RootKeys;
  /** The ids of the examiner's keys. */
  readonly ownKeyIds: readonly number[];
  /** The keys for ID tokens. */
  readonly signingKeys: readonly ListedSigningKey[];
  /** The process that looks, as its findings name it. */
  readonly examiner: 'command' | 'service';
  /** The clock of the database's server, if it has its own; this machine's clock; and the time of the newest event. */
  readonly serverNow: number | null;
  readonly now: number;
  readonly newestEventAt: number | null;
  readonly sizes: { readonly database: number; readonly log: number | null; readonly free: number | null };
  readonly backups: BackupRecord;
  readonly running: number;
  /** The passkeys of operators that may have been copied. */
  readonly suspected: readonly { passkey: Pick<Passkey, 'name'>; operator: Pick<Operator, 'id' | 'name'> }[];
  readonly methods: readonly string[];
  /** The test's findings for each provider in use; null if no provider has the id. */
  readonly providers: ReadonlyMap<string, readonly ProviderFinding[] | null>;
  /** The active clients that publish their keys. */
  readonly publishers: readonly Publisher[];
  /** The active providers that VALETKEY_SIGN_IN_METHODS omits. */
  readonly leftOut: readonly string[];
  /** True if users of a public installation find no help: VALETKEY_SUPPORT_ADDRESS is not set. */
  readonly lacksSupport: boolean;
  /** The default resources of apps that are no API's. */
  readonly lostDefaults: readonly string[];
  /** The scopes of active apps without any sentence, and without an effect. */
  readonly unexplained: UnexplainedScopes;
};

/** A client that publishes its keys, with the times of the last fetch and the last try (ms). */
type Publisher = Pick<Client, 'id' | 'jwksUri' | 'jwksFetchedAt' | 'jwksAskedAt'>;

const DAY_MS = 24 * 3_600_000;
/** Age after which a key is overdue for a rotation, and the time before it in which the doctor announces the day. */
const KEY_IS_OLD_MS = 400 * DAY_MS;
const KEY_IS_DUE_SOON_MS = 30 * DAY_MS;
/** Maximum age of a daily backup. */
const BACKUP_IS_OLD_MS = 2 * DAY_MS;
/** Time after which a fetch of keys is over: it takes at most 10 s. */
const FETCH_IS_OVER_MS = 60_000;
const CLOCK_WARNING_MS = 2000;
const CLOCK_WRONG_MS = 30_000;
/** Size of a log that is not reset any more: a reader holds it for long, or nobody copies it. */
const LONG_LOG_BYTES = 128 * 2 ** 20;
const LITTLE_SPACE_BYTES = 500 * 2 ** 20;

/** The part of it that is quick to find, and asks no other machine. */
export type Served = Pick<
  Opened,
  | 'checks'
  | 'exposures'
  | 'keys'
  | 'ownKeyIds'
  | 'signingKeys'
  | 'examiner'
  | 'serverNow'
  | 'now'
  | 'newestEventAt'
  | 'sizes'
  | 'backups'
  | 'running'
  | 'suspected'
>;

/** Makes the checks that a running service makes of itself. */
export function examineServed(served: Served): Finding[] {
  return [
    ...ofDatabase(served),
    ...ofPermissions(served),
    ...ofKeys(served),
    ...ofSigningKeys(served),
    ...ofClocks(served),
    ...ofSizes(served),
    ...ofBackups(served),
    ...ofOperators(served),
  ];
}

/** Makes all checks. */
export function examineOpened(opened: Opened): Finding[] {
  return [...examineServed(opened), ...ofSignIn(opened), ...ofApps(opened), ...ofAgents(opened)];
}

function ofDatabase({ checks, running }: Served): Finding[] {
  const found = new Findings('database');
  for (const { name, isWarning = false, detail, faults = [] } of checks) {
    const problems = faults.map(({ problem }) => problem).join('; ');
    const remedies = [...new Set(faults.flatMap(({ remedy }) => remedy ?? REMEDIES[name] ?? []))].join('; ') || null;
    if (faults.length === 0) found.good(name, detail);
    else found[isWarning ? 'warn' : 'wrong'](name, problems, remedies);
  }
  if (running === 0) found.warn('service', 'no service runs on this database', 'start it with "valetkey serve"');
  else found.good('service', running === 1 ? '1 instance runs' : `${running} instances run`);
  return found.all;
}

const REMEDIES: Readonly<Record<string, string>> = {
  settings: 'correct the server’s settings: otherwise a crash can undo revocations',
};

function ofOperators({ suspected }: Served): Finding[] {
  const found = new Findings('operators');
  for (const { passkey, operator } of suspected)
    found.warn(
      'passkey',
      `the passkey ${passkey.name} of the operator ${operator.name} may have been copied: its counter went back`,
      `the operator adds another passkey and removes this one, or you end all with "valetkey operator reset ${operator.id}"`,
    );
  return found.all;
}

function ofPermissions({ exposures, examiner }: Served): Finding[] {
  const found = new Findings('permissions');
  found.faults('reach', exposures);
  // A command may run on another machine than the service, or as another user.
  const limit = examiner === 'command' ? ', as far as this command can see' : '';
  if (exposures.length === 0) found.good('reach', `only Valetkey can read the stored data${limit}`);
  return found.all;
}

/** Returns when a root key, recorded at a time, is due for its rotation. Both in ms. */
export function keyDueAt(createdAt: number): number {
  return createdAt + KEY_IS_OLD_MS;
}

function ofKeys({ keys: { keys, currentKeyId }, ownKeyIds, examiner, now }: Served): Finding[] {
  const found = new Findings('keys');
  const current = keys.find(({ keyId }) => keyId === currentKeyId);
  const createdAt = current?.createdAt ?? now;
  const dueAt = keyDueAt(createdAt);
  const limit = `(limit: ${readableAge(KEY_IS_OLD_MS)})`;
  const detail = `root key ${rootKeyName(currentKeyId)} is in use and ${readableAge(now - createdAt)} old`;
  const remedy =
    'rotate once a year: "valetkey keys rotate" (users notice nothing; no restart if Valetkey can write its keys file)';
  if (now > dueAt) found.warn('current key', `${detail} ${limit}`, remedy);
  else if (now >= dueAt - KEY_IS_DUE_SOON_MS)
    found.warn('current key', `${detail}: due soon, on ${dayOf(dueAt)} ${limit}`, remedy);
  else found.good('current key', `${detail} ${limit}`);
  const live = keys.filter(({ retiredAt }) => retiredAt === null);
  const earlier = live.filter(({ supersededAt }) => supersededAt !== null);
  const lacking = live.filter(({ keyId }) => !ownKeyIds.includes(keyId));
  const waiting = live.filter(({ keyId, supersededAt }) => keyId !== currentKeyId && supersededAt === null);
  for (const { keyId } of waiting)
    found.warn(
      'announced key',
      `root key ${rootKeyName(keyId)} was added, but is not used`,
      'finish with "valetkey keys rotate"',
    );
  for (const { keyId } of lacking)
    found.warn(
      'missing key',
      `root key ${rootKeyName(keyId)} is not retired, but this ${examiner} does not have it`,
      'restore it, or retire it with "valetkey keys retire": no grant and no password needs it',
    );
  if (earlier.length > 0)
    found.good('earlier keys', `${earlier.length} not retired yet: "valetkey keys list" shows their uses`);
  return found.all;
}

function ofSigningKeys({ signingKeys, examiner }: Served): Finding[] {
  const found = new Findings('keys');
  for (const { id, opens } of signingKeys)
    if (!opens)
      found.wrong(
        'ID token key',
        `the root keys of this ${examiner} do not open the key ${id}: apps that sign people in get 503`,
        'restore the root key that "valetkey keys id-tokens" shows; or make other keys with "valetkey keys id-tokens replace --now"',
      );
  if (signingKeys.length > 0 && found.all.length === 0)
    found.good('ID token keys', `${signingKeys.length} in the key set`);
  return found.all;
}

/** The day of a time (ms) in UTC: "2026-11-29". */
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

function ofClocks({ serverNow, now, newestEventAt }: Served): Finding[] {
  const found = new Findings('clock');
  const remedy = 'set the clocks of all machines by NTP';
  if (serverNow !== null) {
    const difference = serverNow - now;
    const detail = `the database is ${Math.abs(difference / 1000).toFixed(1)} s ${difference > 0 ? 'ahead' : 'behind'} (limit: ${CLOCK_WARNING_MS / 1000} s)`;
    if (Math.abs(difference) > CLOCK_WRONG_MS) found.wrong('database', detail, remedy);
    else if (Math.abs(difference) > CLOCK_WARNING_MS) found.warn('database', detail, remedy);
    else found.good('database', detail);
  }
  const ahead = newestEventAt === null ? 0 : newestEventAt - (serverNow ?? now);
  if (ahead > CLOCK_WARNING_MS)
    found.wrong(
      'audit trail',
      `the newest event is ${readableAge(ahead)} in the future: the clock stepped back, or was ahead`,
      remedy,
    );
  else found.good('audit trail', newestEventAt === null ? 'is empty' : 'its newest event is in the past');
  return found.all;
}

function ofSizes({ sizes: { database, log, free } }: Served): Finding[] {
  const found = new Findings('sizes');
  found.good('database', readableBytes(database));
  if (log !== null && log > LONG_LOG_BYTES)
    found.warn(
      'log',
      `the write-ahead log has ${readableBytes(log)} (limit: ${readableBytes(LONG_LOG_BYTES)})`,
      'end long reads of the database, such as a copy or an open shell',
    );
  else if (log !== null) found.good('log', `${readableBytes(log)} (limit: ${readableBytes(LONG_LOG_BYTES)})`);
  if (free === null) return found.all;
  const needed = Math.max(LITTLE_SPACE_BYTES, 2 * (log ?? 0));
  const detail = `${readableBytes(free)} on its disk (minimum: ${readableBytes(needed)})`;
  if (free < needed) found.wrong('free space', detail, 'free some space: on a full disk every write fails');
  else found.good('free space', detail);
  return found.all;
}

function ofBackups({ backups: { backedUpAt }, now }: Served): Finding[] {
  const found = new Findings('backup');
  const remedy =
    '"valetkey database backup FILE", or "valetkey database note-backup" after a copy by other means such as pg_dump';
  if (backedUpAt === null)
    found.warn('last', `none was ever recorded (limit: ${readableAge(BACKUP_IS_OLD_MS)} old)`, remedy);
  else {
    const detail = `${readableAge(now - backedUpAt)} old (limit: ${readableAge(BACKUP_IS_OLD_MS)})`;
    if (now - backedUpAt > BACKUP_IS_OLD_MS) found.wrong('last', detail, remedy);
    else found.good('last', detail);
  }
  return found.all;
}

function ofSignIn({ methods, providers, leftOut, lacksSupport }: Opened): Finding[] {
  const found = new Findings('sign-in');
  found.good('ways', methods.join(', '));
  if (lacksSupport)
    found.wrong(
      'help',
      'pages name nobody who helps a user that cannot sign in',
      'set VALETKEY_SUPPORT_ADDRESS to an email or https address, and restart',
    );
  for (const [id, findings] of providers) {
    if (findings === null)
      found.wrong(
        id,
        'VALETKEY_SIGN_IN_METHODS names it, but it is not registered',
        `register it with "valetkey identity-provider register --id ${id}", or remove it there`,
      );
    else
      for (const { name, ok, detail, remedy } of findings)
        if (ok) found.good(`${id}: ${name}`, detail);
        else found.wrong(`${id}: ${name}`, detail, remedy);
  }
  for (const id of leftOut)
    found.warn(
      id,
      'VALETKEY_SIGN_IN_METHODS omits it: its sign-ins get invalid_client',
      `add ${id} there, or pause it with "valetkey identity-provider pause ${id}"`,
    );
  return found.all;
}

/** Number of names in a finding; the rest is counted. */
const NAMED = 10;

function named(names: readonly string[]): string {
  const more = names.length - NAMED;
  return names.slice(0, NAMED).join(', ') + (more > 0 ? `, and ${more} more` : '');
}

function ofApps({ lostDefaults, unexplained: { withoutSentence, withoutEffect } }: Opened): Finding[] {
  const found = new Findings('apps');
  for (const resource of lostDefaults)
    found.warn(
      'default resource',
      `no API has ${resource}, the default resource of an app: its tokens work at no API but /v2/me`,
      '"client list --json" shows which app: "valetkey client update APP --default-resource URL", or --no-default-resource',
    );
  if (withoutSentence.length > 0)
    found.warn(
      'scope sentences',
      `consent shows only the names of ${named(withoutSentence)}: neither an app nor a definition explains them`,
      '"valetkey scope define NAME --sentence TEXT" explains one for every app',
    );
  if (withoutEffect.length > 0)
    found.warn(
      'scope effects',
      `nobody said what ${named(withoutEffect)} can do, so consent warns of none of them`,
      '"valetkey scope define NAME --sentence TEXT --effect reads", or changes, or sensitive',
    );
  return found.all;
}

/** Checks the last fetch of each publisher's keys. */
function ofAgents({ publishers, now }: Opened): Finding[] {
  const found = new Findings('agents');
  for (const { id, jwksUri, jwksFetchedAt, jwksAskedAt } of publishers) {
    const fetchedAt = jwksFetchedAt ?? 0;
    const askedAt = jwksAskedAt ?? 0;
    if (askedAt === fetchedAt || now - askedAt < FETCH_IS_OVER_MS)
      found.good(id, `its keys were fetched ${readableAge(now - fetchedAt)} ago`);
    else
      found.warn(
        id,
        `its keys could not be fetched ${readableAge(now - askedAt)} ago and are ${readableAge(now - fetchedAt)} old`,
        `the service’s log has the reason; "valetkey client refresh ${id}" fetches ${jwksUri} again`,
      );
  }
  return found.all;
}
