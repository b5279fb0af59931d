/** The operations of OpenID Connect on grants with `openid`: ID tokens, an ID token as a hint, and the userinfo endpoint. */
import type { KeyObject } from 'node:crypto';
import type { Activity } from '../activity/activity.ts';
import { insufficientScope, invalidCode, Refusal, Unavailable } from '../error.ts';
import { type Generation, type Grant, type GrantNames, namesOf, whyRefused } from '../grants/grant.ts';
import { readCredential } from '../keys/credential.ts';
import type { Keyring } from '../keys/keyring.ts';
import { notTheCredential } from '../keys/mistaken-credential.ts';
import { accessTokenHash, ID_TOKEN_LIFETIME, signingInput, subjectOf } from '../openid/id-token.ts';
import { claimsOf, type UserClaims } from '../openid/openid-scope.ts';
import type { SigningKeys } from '../openid/signing-keys.ts';
import { decideAccessToken } from '../tokens/access-token.ts';
import { deriveTokens } from '../tokens/token-pair.ts';
import type { AuthorizationRequest } from './authorization-request.ts';
import type { FoundGrant, GrantStore } from './grant-store.ts';
import type { ProtocolTally } from './protocol-tally.ts';

/** Signs a text with RS256 off the event loop, and resolves to the signature (base64url); null if too many texts wait. */
export type Sign = (text: string, key: KeyObject) => Promise<string | null>;

/** Parts of OpenID Connect. `now` returns ms since the epoch. */
export type OpenIdConnectParts = {
  readonly store: Pick<GrantStore, 'findGrant' | 'noteUse'>;
  readonly signingKeys: Pick<SigningKeys, 'signing' | 'published'>;
  readonly sign: Sign;
  readonly keyring: Keyring;
  readonly prefix: string;
  readonly issuer: string;
  readonly tally: ProtocolTally;
  readonly activity: Pick<Activity, 'count'>;
  readonly now: () => number;
};

/** OpenID Connect, for clients whose users may sign in at them. */
export class OpenIdConnect {
  readonly #parts: OpenIdConnectParts;

  constructor(parts: OpenIdConnectParts) {
    this.#parts = parts;
  }

  /**
   * Signs the ID token for the pair of a redemption that is about to happen (OpenID Connect Core §3.1.3.3); null if the grant signs nobody in.
   * Before the redemption, because a code must outlive a signature that failed.
   */
  async idToken({ grant, client, resourceOwner }: FoundGrant, redeem: Generation): Promise<string | null | Refusal> {
    const { store, signingKeys, sign, keyring, prefix, issuer, tally, now } = this.#parts;
    if (!grant.openid || !client.signIn) return null;
    const signing = await signingKeys.signing();
    if (!signing) return this.#unavailable('the root keys here do not open the key that signs ID tokens');
    const issuedAt = Math.floor(now() / 1000);
    const { renews: _, ...saidAtAllow } = grant.openid;
    const text = signingInput(signing.kid, {
      ...saidAtAllow,
      iss: issuer,
      ...claimsOf(resourceOwner, grant),
      aud: client.id,
      exp: issuedAt + ID_TOKEN_LIFETIME,
      iat: issuedAt,
      at_hash: accessTokenHash(deriveTokens(keyring, prefix, grant, redeem).accessToken),
    });
    const signature = await sign(text, signing.key);
    if (signature === null) return this.#unavailable('too many ID tokens wait for their signature');
    // It may have waited for its turn, and an app that was removed meanwhile learns nothing any more.
    const found = await store.findGrant(grant.id);
    const refused = found ? whyRefused(found.grant, found.standing) : 'no such grant';
    if (refused) return invalidCode(refused);
    tally.idTokens += 1;
    return `${text}.${signature}`;
  }

  /** Returns true unless a request expects another resource owner, or nobody that it can name (OpenID Connect Core §3.1.2.1). */
  async expects({ client, openid }: AuthorizationRequest, resourceOwnerId: string): Promise<boolean> {
    const { signingKeys, issuer } = this.#parts;
    const hint = openid?.idTokenHint ?? null;
    if (hint === null) return true;
    return subjectOf(hint, await signingKeys.published(), { iss: issuer, aud: client.id }) === resourceOwnerId;
  }

  /** Checks an access token at the userinfo endpoint (Core §5.3), and returns the claims about its user. */
  async userInfo(accessToken: string): Promise<UserInfo | Refusal> {
    const { tally } = this.#parts;
    tally.checks += 1;
    const checked = await this.#check(accessToken);
    if (checked instanceof Refusal) tally.refusedChecks += 1;
    return checked;
  }

  async #check(accessToken: string): Promise<UserInfo | Refusal> {
    const { store, keyring, prefix, activity, now } = this.#parts;
    const credential = readCredential(prefix, 'at', accessToken);
    if (!credential) return notTheCredential('access token', accessToken, prefix);
    const found = await store.findGrant(credential.grantId);
    const at = now();
    // An API that gets a token that is bound to it could present it here.
    const isGoodHere = ({ resource }: Grant) => resource === null;
    const good = decideAccessToken({ keyring, credential, found, isGoodHere, now: at });
    if (good instanceof Refusal) return good;
    const { grant, client, resourceOwner } = good;
    if (!grant.openid || !client.signIn) return insufficientScope();
    activity.count(client.id, 'checks');
    store.noteUse(grant, { generation: credential.generation, usedAt: at });
    return { claims: claimsOf(resourceOwner, grant), grant: namesOf(grant) };
  }

  #unavailable(detail: string): Unavailable {
    this.#parts.tally.refusedIdTokens += 1;
    return new Unavailable(CODE_IS_LEFT, detail, RETRY_AFTER);
  }
}

/** The claims of a userinfo answer, and the grant that gave them. */
export type UserInfo = { readonly claims: UserClaims; readonly grant: GrantNames };

/** Not the same request: a client assertion is good once (RFC 7523 §3). */
const CODE_IS_LEFT =
  'no ID token can be signed right now: send the code again, with a new client assertion if you authenticate with one';
/** Seconds after which a waiting signature is done; a missing root key takes longer, and the code's lifetime is short. */
const RETRY_AFTER = 1;
