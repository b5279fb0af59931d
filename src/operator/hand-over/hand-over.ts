/**
 * Hand-overs: one-time addresses at which a developer makes and sees a secret, so that no operator knows it. Before that,
 * only the digest of the address is stored, and no secret exists.
 */
import { hash, randomBytes } from 'node:crypto';
import type { IdentityProvider } from '../../accounts/people/identity-provider.ts';
import type { Client } from '../../oauth/clients/client.ts';
import type { SecretKind } from '../../oauth/keys/secret.ts';
import type { ResourceServer } from '../../oauth/resource-servers/resource-server.ts';
import { type Actor, type AuditEvent, auditEvent } from '../../oauth/trail/audit.ts';

/** The kinds of registrations that are handed over. */
export type HandOverKind = 'client' | 'resource_server' | 'identity_provider';

/** A registration by its kind and id. */
export type HandOverName = { readonly kind: HandOverKind; readonly id: string };

/** A registration as it was read. */
export type HandOverSubject =
  | { readonly kind: 'client'; readonly row: Client }
  | { readonly kind: 'resource_server'; readonly row: ResourceServer }
  | { readonly kind: 'identity_provider'; readonly row: IdentityProvider };

/** The reasons why an address ended before it was used. A deleted registration has no hand-overs. */
export type HandOverEnd = 'replaced' | 'secret changed' | 'paused' | 'deleted' | 'restored';

/** A stored hand-over. Times in ms since the epoch. */
export type HandOver = {
  /** SHA-256 of the token in the address. */
  readonly digest: Buffer;
  readonly subject: HandOverName;
  readonly madeAt: number;
  /** The operator who made it. */
  readonly madeBy: string;
  readonly expiresAt: number;
  readonly fetchedAt: number | null;
  /** The /24 or /48 that fetched it. */
  readonly fetchedFrom: string | null;
  readonly endedAt: number | null;
  readonly endedWhy: HandOverEnd | null;
};

/** A new hand-over, and the token for its address, which nobody keeps. */
export type NewHandOver = { readonly handOver: HandOver; readonly token: string };

/** Lifetime of an address (ms). */
export const HAND_OVER_LIFETIME_MS = 72 * 3_600_000;

/** How long a dead hand-over is kept (ms), for whoever opens a used address, and for the operator. */
export const HAND_OVERS_KEPT_MS = 30 * 86_400_000;

/** Makes a hand-over, and the token for its address: 256 random bits (ASVS 6.4.1). `now` in ms. */
export function makeHandOver(subject: HandOverName, madeBy: string, now: number): NewHandOver {
  const token = randomBytes(32).toString('base64url');
  const expiresAt = now + HAND_OVER_LIFETIME_MS;
  const open = { fetchedAt: null, fetchedFrom: null, endedAt: null, endedWhy: null };
  return { token, handOver: { digest: digestOf(token), subject, madeAt: now, madeBy, expiresAt, ...open } };
}

/** Returns true for an address that works at a time (ms), unless its subject changed. */
export function isOpen({ fetchedAt, endedAt, expiresAt }: HandOver, now: number): boolean {
  return fetchedAt === null && endedAt === null && expiresAt > now;
}

/** Returns the event of a new hand-over. */
export function handOverMade({ subject, madeAt }: HandOver, actor: Actor): AuditEvent {
  return auditEvent('hand_over_made', actor, madeAt, { clientId: subject.id });
}

/** Returns the digest of a token (ASVS 6.5.2: 256 random bits need no slow hash), or null for a text of another form. */
export function digestOfToken(token: string): Buffer | null {
  return /^[A-Za-z0-9_-]{43}$/.test(token) ? digestOf(token) : null;
}

/** Returns true for an app, API or product that proves itself with a secret of ours: neither public, nor by keys of its own. */
export function takesSecret({ kind, row }: HandOverSubject): boolean {
  if (kind === 'client') return row.type === 'confidential' && row.keys.length === 0 && row.documentSha256 === null;
  return kind === 'resource_server' || row.keys.length === 0;
}

/** Returns why an app, API or product cannot be handed over now, or null. An API cannot be paused. */
export function handOverProblem({ kind, row }: HandOverSubject): 'paused' | 'two secrets' | null {
  if (kind !== 'resource_server' && row.status !== 'active') return 'paused';
  return row.secrets.length > 1 ? 'two secrets' : null;
}

/**
 * The kinds of registrations: their commands, their word in messages, what proves one of them to the service, and the kind of
 * their secrets.
 */
export const REGISTERED = {
  client: { command: 'client', word: 'app', proof: 'secrets or keys of this app', secret: 'cs' },
  resource_server: { command: 'resource-server', word: 'API', proof: 'secrets of this API', secret: 'rs' },
  identity_provider: {
    command: 'identity-provider',
    word: 'identity provider',
    proof: 'secrets or keys of this provider',
    secret: 'ps',
  },
} as const satisfies Record<HandOverKind, { command: string; word: string; proof: string; secret: SecretKind }>;

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}
