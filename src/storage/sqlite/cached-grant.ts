/** Grants as they are kept between requests: small, and written over in place. */
import type { Generation, Grant, RevocationReason, Use } from '../../oauth/grants/grant.ts';
import { bytesOf, rowKey } from '../row-key.ts';

/** Stands for no time, so that a field for a time always holds a number: see `CachedGrant`. */
const NONE = Number.NaN;
/** Maximum number of texts that are kept to be shared. With more, all are let go, and sharing begins anew. */
const MAX_SHARED = 4096;

/**
 * A transition or a use changes this object in place. A new object for each change would live long enough to reach V8's
 * old generation, which only a collection of the whole heap clears: some 40 ms, several times a minute. Such a collection
 * is shorter with fewer objects. So bytes are kept as text, and equal texts are kept once.
 *
 * A large number that changes has a field that held a number from the beginning and is no `#` field. In any other field
 * V8 makes a new number for each change.
 */
export class CachedGrant {
  readonly #clientId: string;
  readonly #resourceOwnerId: string;
  readonly #scope: string;
  readonly #leftOut: string;
  readonly #personFields: string;
  readonly #redirectUri: string;
  readonly #codeChallenge: string | null;
  readonly #resource: string | null;
  readonly #resourceIsDefault: boolean;
  readonly #providerId: string | null;
  readonly #externalId: string | null;
  readonly #signedInAt: number;
  readonly #seed: string;
  readonly #installationEpoch: number;
  readonly #clientEpoch: number;
  readonly #resourceOwnerEpoch: number;
  readonly #grantedAt: number;
  readonly #absoluteExpiresAt: number;
  #generation: number;
  private keyId = NONE;
  private rotatedAt = NONE;
  private accessTokenExpiresAt = NONE;
  private expiresAt = NONE;
  #usedGeneration: number;
  private lastUsedAt = NONE;
  readonly #revokedAt: number;
  readonly #revocationReason: RevocationReason | null;

  /** `texts` are what grants of one database share. */
  constructor(grant: Grant, texts: SharedTexts) {
    this.#clientId = texts.shared(grant.clientId);
    this.#resourceOwnerId = grant.resourceOwnerId;
    this.#scope = texts.shared(grant.scope);
    this.#leftOut = texts.shared(grant.leftOut);
    this.#personFields = texts.shared(grant.personFields);
    this.#redirectUri = texts.shared(grant.redirectUri);
    this.#codeChallenge = grant.codeChallenge;
    this.#resource = grant.resource && texts.shared(grant.resource);
    this.#resourceIsDefault = grant.resourceIsDefault;
    this.#providerId = grant.providerId && texts.shared(grant.providerId);
    this.#externalId = grant.externalId;
    this.#signedInAt = grant.signedInAt;
    this.#seed = rowKey(grant.seed);
    this.#installationEpoch = grant.epochs.installation;
    this.#clientEpoch = grant.epochs.client;
    this.#resourceOwnerEpoch = grant.epochs.resourceOwner;
    this.#grantedAt = grant.grantedAt;
    this.#absoluteExpiresAt = grant.absoluteExpiresAt;
    this.#generation = grant.generation;
    this.keyId = grant.keyId;
    this.rotatedAt = grant.rotatedAt;
    this.accessTokenExpiresAt = grant.accessTokenExpiresAt ?? NONE;
    this.expiresAt = grant.expiresAt;
    this.#usedGeneration = grant.usedGeneration;
    this.lastUsedAt = grant.lastUsedAt ?? NONE;
    this.#revokedAt = grant.revokedAt ?? NONE;
    this.#revocationReason = grant.revocationReason;
  }

  /** A copy of the grant as it is now, under its id. Later changes do not reach the copy. */
  grant(id: Buffer): Grant {
    return {
      id,
      clientId: this.#clientId,
      resourceOwnerId: this.#resourceOwnerId,
      scope: this.#scope,
      leftOut: this.#leftOut,
      personFields: this.#personFields,
      redirectUri: this.#redirectUri,
      codeChallenge: this.#codeChallenge,
      resource: this.#resource,
      resourceIsDefault: this.#resourceIsDefault,
      providerId: this.#providerId,
      externalId: this.#externalId,
      signedInAt: this.#signedInAt,
      seed: bytesOf(this.#seed),
      epochs: {
        installation: this.#installationEpoch,
        client: this.#clientEpoch,
        resourceOwner: this.#resourceOwnerEpoch,
      },
      grantedAt: this.#grantedAt,
      absoluteExpiresAt: this.#absoluteExpiresAt,
      generation: this.#generation,
      keyId: this.keyId,
      rotatedAt: this.rotatedAt,
      accessTokenExpiresAt: orNull(this.accessTokenExpiresAt),
      expiresAt: this.expiresAt,
      usedGeneration: this.#usedGeneration,
      lastUsedAt: orNull(this.lastUsedAt),
      revokedAt: orNull(this.#revokedAt),
      revocationReason: this.#revocationReason,
    };
  }

  /** It is in the next generation. */
  advance({ generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt }: Generation): void {
    this.#generation = generation;
    this.keyId = keyId;
    this.rotatedAt = rotatedAt;
    this.accessTokenExpiresAt = accessTokenExpiresAt;
    this.expiresAt = expiresAt;
  }

  /** A token of it was used. */
  use({ generation, usedAt }: Use): void {
    this.#usedGeneration = Math.max(this.#usedGeneration, generation);
    this.lastUsedAt = Math.max(orNull(this.lastUsedAt) ?? 0, usedAt);
  }
}

/** Texts that many grants have, once each. */
export class SharedTexts {
  readonly #texts = new Map<string, string>();

  /** An equal text. */
  shared(text: string): string {
    const known = this.#texts.get(text);
    if (known !== undefined) return known;
    if (this.#texts.size >= MAX_SHARED) this.#texts.clear();
    this.#texts.set(text, text);
    return text;
  }
}

function orNull(time: number): number | null {
  return Number.isNaN(time) ? null : time;
}
