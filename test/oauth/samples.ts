/** Sample values for tests of the protocol: each a whole one, of which a test says only what matters to it. */
import assert from 'node:assert/strict';
import type { Client } from '../../src/oauth/clients/client.ts';
import { Refusal } from '../../src/oauth/error.ts';
import type { Generation, Grant, GrantInContext, Lifetimes, Standing } from '../../src/oauth/grants/grant.ts';
import { PERSON_FIELDS } from '../../src/oauth/grants/person-fields.ts';
import type { Scope } from '../../src/oauth/grants/scope.ts';
import {
  type Credential,
  type CredentialHeader,
  type CredentialKind,
  deriveCredential,
  readCredential,
} from '../../src/oauth/keys/credential.ts';
import { createKeyring, type Keyring } from '../../src/oauth/keys/keyring.ts';
import type { Allow } from '../../src/oauth/protocol/allow.ts';

export const PREFIX = 'vk';
/** Some moment, in ms since the epoch. */
export const NOW = Date.UTC(2026, 0, 2, 3, 4, 5, 678);
export const DAY = 24 * 3600;

export const keyring = createKeyring([Buffer.alloc(32, 'a key')]);
export const otherKeyring = createKeyring([Buffer.alloc(32, 'another key')]);
/** The same installation after a key rotation. */
export const rotatedKeyring = createKeyring([Buffer.alloc(32, 'a new key'), Buffer.alloc(32, 'a key')]);
/** The ring after the earlier key was retired. */
export const newKeyring = createKeyring([Buffer.alloc(32, 'a new key')]);

export const lifetimes: Lifetimes = {
  code: 60,
  accessToken: 1800,
  refreshTokenIdle: 30 * DAY,
  refreshTokenMax: 365 * DAY,
  refreshOverlap: 10,
  refreshRetryWindow: 600,
};

export const confidentialClient: Client = {
  id: 'app_one',
  type: 'confidential',
  name: 'One',
  redirectUris: ['https://one.test/cb', 'https://one.test/other'],
  scopes: [],
  defaultResource: null,
  publisher: null,
  homepage: null,
  privacyPage: null,
  contact: null,
  isChecked: false,
  personFields: PERSON_FIELDS,
  requirePkce: false,
  refreshOverlap: null,
  refreshRetryWindow: null,
  keys: [],
  consent: 'ask',
  deviceFlow: false,
  assertionAudience: 'any',
  seesExternalId: false,
  signIn: false,
  documentSha256: null,
  jwksUri: null,
  jwksFetchedAt: null,
  jwksAskedAt: null,
  status: 'active',
  epoch: 0,
  secrets: [],
  createdAt: NOW - 1000,
  remembersSince: null,
};
export const publicClient: Client = { ...confidentialClient, type: 'public' };
export const strictClient: Client = { ...confidentialClient, refreshOverlap: 0, refreshRetryWindow: 0 };

/** Scopes of these names, as a client is registered for them. */
export function scopesOf(...names: string[]): Scope[] {
  return names.map((name) => ({ name, sentence: null, optional: false }));
}

const epochs = { installation: 3, client: 5, resourceOwner: 7 };

/** A grant that was allowed just now: generation 0, its code not redeemed. */
export const issuedGrant: Grant = {
  id: Buffer.from('019b7cd0a1b27c3d8e4f5a6b7c8d9e0f', 'hex'),
  clientId: confidentialClient.id,
  resourceOwnerId: 'usr_ada',
  scope: 'read write',
  leftOut: '',
  personFields: 'name username email avatar_url',
  redirectUri: 'https://one.test/cb',
  codeChallenge: null,
  resource: null,
  resourceIsDefault: false,
  providerId: null,
  externalId: null,
  signedInAt: NOW - 60_000,
  openid: null,
  seed: Buffer.alloc(16, 'seed'),
  epochs,
  grantedAt: NOW,
  absoluteExpiresAt: NOW + 365 * DAY * 1000,
  generation: 0,
  keyId: keyring.currentKeyId,
  rotatedAt: NOW,
  accessTokenExpiresAt: null,
  expiresAt: NOW + 60_000,
  usedGeneration: 0,
  lastUsedAt: null,
  revokedAt: null,
  revocationReason: null,
};

/** An Allow that makes such a grant, with a scope that is left out. */
export const allow: Allow = {
  asked: {
    client: { ...confidentialClient, scopes: [{ name: 'send', sentence: null, optional: true }] },
    scope: ['read', 'write', 'send'],
    redirectUri: issuedGrant.redirectUri,
    codeChallenge: 'challenge',
    resource: 'https://letters.test',
    resourceIsDefault: true,
  },
  scope: ['read', 'write'],
  personFields: PERSON_FIELDS,
  owner: {
    session: Buffer.alloc(32),
    resourceOwnerId: issuedGrant.resourceOwnerId,
    providerId: 'product',
    externalId: 'u-1',
    signedInAt: NOW - 1000,
    authTime: null,
    amr: [],
  },
  given: 'allowed',
  origin: { source: '192.0.2.1', requestId: 'r1' },
};

/** The same grant in its fifth generation, which began just now and is not used yet. */
export const activeGrant: Grant = {
  ...issuedGrant,
  grantedAt: NOW - DAY * 1000,
  generation: 5,
  accessTokenExpiresAt: NOW + 1_800_000,
  expiresAt: NOW + 30 * DAY * 1000,
  usedGeneration: 4,
};

export const goodStanding: Standing = { epochs, clientPaused: false, resourceOwnerDisabled: false };

/** What makes nothing of a grant work, with what the log says of it. */
export const badStandings: { name: string; grant?: Partial<Grant>; standing?: Partial<Standing>; detail: RegExp }[] = [
  { name: 'revoked by its user', grant: { revokedAt: NOW, revocationReason: 'user' }, detail: /revoked \(user\)/ },
  { name: 'revoked without a reason', grant: { revokedAt: NOW }, detail: /revoked$/ },
  { name: 'installation epoch raised', standing: { epochs: { ...epochs, installation: 4 } }, detail: /revoked$/ },
  { name: 'installation epoch lower', standing: { epochs: { ...epochs, installation: 2 } }, detail: /revoked$/ },
  { name: 'client epoch raised', standing: { epochs: { ...epochs, client: 6 } }, detail: /revoked$/ },
  { name: 'resource owner epoch raised', standing: { epochs: { ...epochs, resourceOwner: 8 } }, detail: /revoked$/ },
  { name: 'client paused', standing: { clientPaused: true }, detail: /client is paused/ },
  { name: 'account disabled', standing: { resourceOwnerDisabled: true }, detail: /account is disabled/ },
];

/** A grant as the store finds it. */
export function inContext(grant: Grant, standing: Partial<Standing> = {}): GrantInContext {
  return {
    grant,
    standing: { ...goodStanding, ...standing },
    resourceOwner: {
      id: grant.resourceOwnerId,
      username: null,
      email: 'ada@example.com',
      name: 'Ada',
      avatarUrl: null,
    },
  };
}

/** A credential of a grant, as it is presented: derived and read back, with what a test says otherwise. */
export function presented(
  kind: CredentialKind,
  grant: Grant,
  header: Partial<CredentialHeader> = {},
  ring: Keyring = keyring,
): Credential {
  const whole = {
    keyId: ring.currentKeyId,
    grantId: grant.id,
    generation: grant.generation,
    expiresAt: kind === 'at' ? (grant.accessTokenExpiresAt ?? 0) : grant.expiresAt,
    ...header,
  };
  const credential = readCredential(PREFIX, kind, deriveCredential(ring, PREFIX, kind, whole, grant.seed));
  assert.ok(credential);
  return credential;
}

/** The same with another MAC. */
export function withWrongMac(credential: Credential): Credential {
  assert.ok(credential.unproven);
  return { ...credential, unproven: Buffer.concat([credential.unproven.subarray(0, -20), Buffer.alloc(20)]) };
}

/** The row after a transition. */
export function inGeneration(grant: Grant, next: Generation): Grant {
  const { grantId: _, ...columns } = next;
  return { ...grant, ...columns };
}

/** The outcome must be a refusal of this code, whose private detail matches and whose public text follows the clauses. */
export function assertRefusal(outcome: unknown, code: Refusal['code'], detail: RegExp): void {
  assert.ok(outcome instanceof Refusal, `not a refusal: ${JSON.stringify(outcome)}`);
  assert.equal(outcome.code, code);
  assert.match(outcome.detail, detail);
  assert.match(
    outcome.description,
    /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/,
    'RFC 6749 §5.2: characters of error_description',
  );
}
