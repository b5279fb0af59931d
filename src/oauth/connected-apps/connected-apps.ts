/** The connected apps of a user, page by page: there may be thousands. */
import type { PersonField } from '../grants/person-fields.ts';

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
  /** The scope names of all its grants together. */
  readonly scope: readonly string[];
  readonly personFields: readonly PersonField[];
  readonly since: number;
  /** The last check or refresh; null if there was none. */
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

/** Usual number of lines on a page. */
const PAGE = 50;

/** A page of connected apps: lines `first` (from 1) and on of `total`. */
export type AppsPage = {
  readonly apps: readonly ConnectedApp[];
  readonly first: number;
  readonly total: number;
  /** The cursor of this page; null for the first page. */
  readonly after: string | null;
  /** The cursor of the next page; null on the last page. */
  readonly next: string | null;
};

/** The order of lines. */
type Place = Pick<ConnectedApp, 'clientName' | 'clientId' | 'since' | 'grantId'>;

/** Compares lines by the names of their apps; of one app the oldest comes first. */
export function byName(one: Place, other: Place): number {
  return (
    one.clientName.localeCompare(other.clientName) ||
    one.clientId.localeCompare(other.clientId) ||
    one.since - other.since ||
    one.grantId.localeCompare(other.grantId)
  );
}

/**
 * The page after a cursor, of entries in the order of `byName`. The cursor holds the sort key, so its entry may be deleted.
 * After the last entry, this is the last page; an invalid cursor gives the first page.
 */
export function pageOfApps(apps: readonly ConnectedApp[], after: string | null, length = PAGE): AppsPage {
  const place = after === null ? null : readCursor(after);
  const behind = place ? apps.findIndex((app) => byName(app, place) > 0) : 0;
  const start = behind >= 0 ? behind : Math.max(0, apps.length - length);
  const page = apps.slice(start, start + length);
  const [before, last] = [apps[start - 1], page.at(-1)];
  return {
    apps: page,
    first: start + 1,
    total: apps.length,
    after: before ? cursorOf(before) : null,
    next: last && start + length < apps.length ? cursorOf(last) : null,
  };
}

function cursorOf({ clientName, clientId, since, grantId }: Place): string {
  return Buffer.from(JSON.stringify([clientName, clientId, since, grantId])).toString('base64url');
}

/** Returns true for a cursor of `pageOfApps`. */
export function isAppsCursor(text: string): boolean {
  return readCursor(text) !== null;
}

function readCursor(text: string): Place | null {
  try {
    const [clientName, clientId, since, grantId] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    if (![clientName, clientId, grantId].every((part) => typeof part === 'string') || typeof since !== 'number')
      return null;
    return { clientName, clientId, since, grantId } as Place;
  } catch {
    return null;
  }
}
