/**
 * The Allow: makes a grant, whether an app or a device requested it, and whether consent was given, remembered or skipped.
 * Only this file fills a new column of grants.
 */
import { randomBytes } from 'node:crypto';
import type { Client } from '../clients/client.ts';
import type { RequestOrigin } from '../clients/client-authenticator.ts';
import { isForDevice } from '../grants/device-grant.ts';
import { type Grant, type Lifetimes, namesOf, type OpenIdContext } from '../grants/grant.ts';
import { type PersonField, personFieldsText } from '../grants/person-fields.ts';
import { leftOutScope, scopeNames } from '../grants/scope.ts';
import { SEED_BYTES } from '../keys/credential.ts';
import { isSignInAlone } from '../openid/openid-scope.ts';
import { type AuditAction, type AuditEvent, auditEvent, userActor } from '../trail/audit.ts';
import type { Consent } from './consent.ts';

/** The session in which a resource owner allows something (its digest): when it ended before, there is no grant. */
export type OwnerSession = Pick<Grant, 'resourceOwnerId' | 'providerId' | 'externalId' | 'signedInAt'> & {
  readonly session: Buffer;
  /** The time of the last authentication (ms), if it is known, and the methods that a product named. */
  readonly authTime: number | null;
  readonly amr: readonly string[];
};

/** A client's request; `openid` if it asks to sign in, which no device does. */
export type Asked = Pick<Grant, 'redirectUri' | 'codeChallenge' | 'resource' | 'resourceIsDefault'> & {
  readonly client: Pick<Client, 'id' | 'epoch' | 'scopes'>;
  readonly scope: readonly string[];
  readonly openid?: { readonly nonce: string | null } | null;
};

/** The access that somebody allows: `scope` of the names that were asked for, and what the client gets of them. */
export type Allow = {
  readonly asked: Asked;
  readonly scope: readonly string[];
  readonly personFields: readonly PersonField[];
  readonly owner: OwnerSession;
  readonly given: Consent['given'];
  readonly origin: RequestOrigin;
};

/**
 * The parts of a grant that differ by its origin; `expiresAt` (ms) is the time after which the code or device code cannot be
 * exchanged.
 */
type Made = Pick<Grant, 'id' | 'epochs' | 'keyId' | 'expiresAt'>;

/** The grant that is allowed now (ms): generation 0, with a seed of its own. */
export function newGrant(
  { asked, scope, personFields, owner, given }: Allow,
  made: Made,
  { refreshTokenMax }: Pick<Lifetimes, 'refreshTokenMax'>,
  now: number,
): Grant {
  const { client, redirectUri, codeChallenge, resource, resourceIsDefault } = asked;
  const { session: _, authTime, amr, ...signIn } = owner;
  return {
    ...made,
    ...signIn,
    clientId: client.id,
    // Read together with the client's registration: a change of the registration, and a revocation after it, end this grant.
    epochs: { ...made.epochs, client: client.epoch },
    scope: scope.join(' '),
    leftOut: leftOutScope(client.scopes, asked.scope, scope).join(' '),
    personFields: personFieldsText(personFields),
    redirectUri,
    codeChallenge,
    resource,
    resourceIsDefault,
    openid: asked.openid ? openIdContext(asked.openid.nonce, scope, { authTime, amr }, given) : null,
    seed: randomBytes(SEED_BYTES),
    grantedAt: now,
    absoluteExpiresAt: now + refreshTokenMax * 1000,
    generation: 0,
    rotatedAt: now,
    accessTokenExpiresAt: null,
    usedGeneration: 0,
    lastUsedAt: null,
    revokedAt: null,
    revocationReason: null,
  };
}

function openIdContext(
  nonce: string | null,
  scope: readonly string[],
  { authTime, amr }: Pick<OwnerSession, 'authTime' | 'amr'>,
  given: Consent['given'],
): OpenIdContext {
  return {
    ...(nonce === null ? {} : { nonce }),
    ...(authTime === null ? {} : { auth_time: Math.floor(authTime / 1000) }),
    ...(amr.length === 0 ? {} : { amr }),
    ...(given !== 'allowed' && isSignInAlone(scope) ? { renews: true } : {}),
  };
}

const ACTIONS = {
  allowed: 'consent_allowed',
  remembered: 'consent_remembered',
  skipped: 'consent_skipped',
} as const satisfies Record<Consent['given'], AuditAction>;

/** Returns the audit event of an Allow and its grant. */
export function allowEvent({ given, origin }: Allow, grant: Grant): AuditEvent {
  const detail = { scopes: scopeNames(grant.scope), for_device: isForDevice(grant) || undefined };
  const actor = userActor(grant.resourceOwnerId, origin);
  return auditEvent(ACTIONS[given], actor, grant.grantedAt, namesOf(grant), detail);
}
