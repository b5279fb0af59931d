/** The connected apps of a user, page by page: there may be thousands. */
import type { PersonField } from '../grants/person-fields.ts';
import { isNamed } from '../name-key.ts';

/**
 * The subject of an entry in the connected apps: one device; one installation of an app that shares its client id, a metadata
 * document's address, with other installations; or the app as a whole.
 */
export type LineKind = 'app' | 'device' | 'installation';

/**
 * An app's access that a user can revoke separately: that of one device or installation, access that the app has not fetched
 * yet, or all its other current access. Times in ms since the epoch.
 */
export type ConnectedApp = {
  readonly clientId: string;
  readonly clientName: string;
  /** The grant's id as text, for its revocation; of several, the newest one's. */
  readonly grantId: string;
  readonly kind: LineKind;
  /** It was allowed, and its code or device code is not redeemed yet. */
  readonly isWaiting: boolean;
  /** The hosts that it sends people to, on loopback without a port; none for a device. */
  readonly redirectHosts: readonly string[];
  /** True if it signs the user in. */
  readonly signsIn: boolean;
  /** The scope names of all its grants together, without those of a sign-in. */
  readonly scope: readonly string[];
  readonly personFields: readonly PersonField[];
  readonly since: number;
  /** The last check, refresh or sign-in; null if there was none. */
  readonly lastUsedAt: number | null;
  /** The expiry without another refresh, and the expiry in any case. */
  readonly expiresAt: number;
  readonly absoluteExpiresAt: number;
};

/** A connection's name outside, for its revocation: a whole app, or one grant. */
export type ConnectionName = { readonly clientId: string } | { readonly grantId: string };

/** Returns the opaque id of an entry. It stays the same while the app is connected, whichever grants come and go. */
export function connectionId({ kind, isWaiting, clientId, grantId }: ConnectedApp): string {
  const name: ConnectionName = kind === 'app' && !isWaiting ? { clientId } : { grantId };
  return Buffer.from(JSON.stringify(name)).toString('base64url');
}

/** Reads such an id; null for any other text. */
export function readConnectionId(text: string): ConnectionName | null {
  try {
    const name = JSON.parse(Buffer.from(text, 'base64url').toString()) as Record<string, unknown> | null;
    const { clientId, grantId } = name ?? {};
    if (typeof clientId === 'string') return { clientId };
    return typeof grantId === 'string' ? { grantId } : null;
  } catch {
    return null;
  }
}

/** All entries of one app. */
export type AppAccess = Pick<ConnectedApp, 'clientId' | 'clientName'> & {
  readonly lines: readonly ConnectedApp[];
  /** True if it may do something with which it could do harm. */
  readonly isSensitive: boolean;
  /** Its last use; before the first, the time of the newest Allow (ms since the epoch). */
  readonly usedAt: number;
};

/** Usual number of entries on a page. */
const PAGE = 12;

/** A page of a list: entries `first` (from 1) and on of `total`. */
export type Page<Entry> = {
  readonly entries: readonly Entry[];
  readonly first: number;
  readonly total: number;
  /** The cursor of this page; null for the first page. */
  readonly after: string | null;
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null;
};

/** The place of an entry in its list: keys in descending weight, each ascending. */
type Key = readonly (string | number)[];

/** Compares lines by the names of their apps; of one app the oldest comes first. */
export function byName(one: ConnectedApp, other: ConnectedApp): number {
  return compareKeys(keyOfLine(one), keyOfLine(other));
}

/** Groups lines by app: sensitive apps first, and the last used one first among them and among the others. */
export function groupByApp(lines: readonly ConnectedApp[], sensitive: ReadonlySet<string>): AppAccess[] {
  const groups = [...Map.groupBy(lines, ({ clientId }) => clientId)];
  const apps = groups.map(([clientId, own]) => ({
    clientId,
    clientName: own[0]?.clientName ?? '',
    lines: own,
    isSensitive: own.some(({ scope }) => scope.some((name) => sensitive.has(name))),
    usedAt: Math.max(...own.map(({ lastUsedAt, since }) => lastUsedAt ?? since)),
  }));
  return apps.sort((one, other) => compareKeys(keyOfApp(one), keyOfApp(other)));
}

/** The apps whose names contain a text, letters in either case; all for an empty text. */
export function appsNamed(apps: readonly AppAccess[], text: string): readonly AppAccess[] {
  return text === '' ? apps : apps.filter(({ clientName }) => isNamed(text, [clientName]));
}

/** The page of apps after a cursor. */
export function pageOfApps(apps: readonly AppAccess[], after: string | null): Page<AppAccess> {
  return pageAfter(apps, keyOfApp, after, PAGE);
}

/** The page of lines after a cursor, in the order of `byName`. */
export function pageOfLines(lines: readonly ConnectedApp[], after: string | null, length = PAGE): Page<ConnectedApp> {
  return pageAfter(lines, keyOfLine, after, length);
}

/** Returns true for a cursor of `pageOfLines`. */
export function isLinesCursor(text: string): boolean {
  return readCursor(text, ['', '', 0, '']) !== null;
}

function keyOfLine({ clientName, clientId, since, grantId }: ConnectedApp): Key {
  return [clientName, clientId, since, grantId];
}

function keyOfApp({ isSensitive, usedAt, clientName, clientId }: AppAccess): Key {
  return [isSensitive ? 0 : 1, -usedAt, clientName, clientId];
}

function compareKeys(one: Key, other: Key): number {
  for (const [at, part] of one.entries()) {
    const against = other[at];
    const difference = typeof part === 'number' ? part - Number(against) : part.localeCompare(String(against));
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * The page after a cursor, of entries in the order of their keys. The cursor holds the key, so its entry may be deleted. After
 * the last entry, this is the last page; an invalid cursor gives the first page.
 */
function pageAfter<Entry>(
  entries: readonly Entry[],
  keyOf: (entry: Entry) => Key,
  after: string | null,
  length: number,
): Page<Entry> {
  const [sample] = entries;
  const place = after === null || sample === undefined ? null : readCursor(after, keyOf(sample));
  const behind = place ? entries.findIndex((entry) => compareKeys(keyOf(entry), place) > 0) : 0;
  const start = behind >= 0 ? behind : Math.max(0, entries.length - length);
  const page = entries.slice(start, start + length);
  const before = entries[start - 1];
  const last = page.at(-1);
  return {
    entries: page,
    first: start + 1,
    total: entries.length,
    after: before ? cursorOf(keyOf(before)) : null,
    next: last && start + length < entries.length ? cursorOf(keyOf(last)) : null,
  };
}

function cursorOf(key: Key): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

/** Reads a cursor whose key has the parts of a sample; null for any other text. */
function readCursor(text: string, sample: Key): Key | null {
  try {
    const key = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown;
    const isKey =
      Array.isArray(key) && key.length === sample.length && key.every((part, at) => typeof part === typeof sample[at]);
    return isKey ? (key as Key) : null;
  } catch {
    return null;
  }
}
