/** Exchanging an authorization code (RFC 6749 §4.1.3): the rules, in the order in which they hold. */

import { isRegisteredRedirectUri, isRepeatedRedirectUri } from '../clients/redirect-uri.ts';
import { invalidCode, invalidRequest, type Reason, type Refusal } from '../error.ts';
import { isAheadOfClock } from '../grants/clock-steps.ts';
import { type Generation, type Grant, isEnded, whyRefused } from '../grants/grant.ts';
import { isGenuine } from '../keys/credential.ts';
import { isCodeVerifier, verifiesChallenge } from './pkce.ts';
import {
  codeExpired,
  codeUsed,
  explain,
  REDIRECT_URI_DIFFERS,
  REDIRECT_URI_MISSING,
  REDIRECT_URI_REMOVED,
  reasonOfStanding,
  VERIFIER_DIFFERS,
  VERIFIER_MISSING,
} from './refusal-reason.ts';
import { nextGeneration } from './token-pair.ts';
import { beyondGrant, type TokenRequest } from './token-request.ts';

/** The parameters of an exchange besides the code. */
export type CodeExchange = Pick<TokenRequest, 'asked'> & {
  /** Null when none was sent, which only PKCE makes safe (OAuth 2.1 §10.2). */
  readonly redirectUri: string | null;
  readonly codeVerifier: string | undefined;
  /** True if the answer can hold an ID token: that of the published face is two fields. */
  readonly takesIdToken?: boolean;
};

/** The result of an exchange: a transition of the grant, a refusal, or a refusal that also revokes the grant. */
export type CodeDecision =
  | { readonly grant: Grant; readonly redeem: Generation }
  | { readonly grant: Grant; readonly revoke: 'code_replay'; readonly refusal: Refusal }
  | Refusal;

/**
 * Decides on an authorization code. All other checks of the request come before the check for an earlier use: only the code's
 * own client, with a correct request, can redeem it or cause a replay (RFC 9700 §2.1.1).
 */
export function decideCodeExchange(request: TokenRequest & CodeExchange): CodeDecision {
  const { keyring, lifetimes, client, credential, found, redirectUri, codeVerifier, asked, now } = request;
  if (!found) return invalidCode('no such grant');
  const { grant, standing } = found;
  if (!isGenuine(keyring, credential, grant.seed) || credential.generation !== 0)
    return invalidCode('the code is forged');
  if (grant.clientId !== client.id) return invalidCode('the code was issued to another client'); // RFC 6749 §4.1.3
  // From here on the code is genuine and the client's own: a client that proved its secret gets the reason.
  const refuse = (detail: string, reason: Reason) => explain(invalidCode(detail), client, reason);
  if (redirectUri === null ? grant.codeChallenge === null : !isRepeatedRedirectUri(grant.redirectUri, redirectUri))
    return refuse(
      'redirect_uri differs from the authorization request', // RFC 6749 §4.1.3
      redirectUri === null ? REDIRECT_URI_MISSING : REDIRECT_URI_DIFFERS,
    );
  const pkceRefusal = checkCodeVerifier(grant.codeChallenge, codeVerifier, refuse);
  if (pkceRefusal) return pkceRefusal;
  const beyond = beyondGrant(grant, client, asked);
  if (beyond) return beyond;
  const refused = whyRefused(grant, standing);
  const isUsed = grant.generation > 0;
  if (refused)
    return refuse(refused, isUsed && isEnded(grant, standing) ? codeUsed(credential, grant) : reasonOfStanding(found));
  // Before the expiry: an expired code that was redeemed is still a replay, and everything issued from it is revoked.
  if (isUsed) {
    const refusal = refuse('the code was already redeemed', codeUsed(credential, grant));
    return { grant, revoke: 'code_replay', refusal }; // RFC 6749 §4.1.2
  }
  if (credential.expiresAt <= now) return refuse('the code has expired', codeExpired(credential, grant, now)); // RFC 6749 §4.1.2
  if (!isRegisteredRedirectUri(client.redirectUris, grant.redirectUri, client.type))
    return refuse(
      'the redirect URI was removed from the client since the request was allowed', // RFC 6749 §4.1.3
      REDIRECT_URI_REMOVED,
    );
  if (isAheadOfClock(credential.expiresAt, grant.expiresAt - grant.rotatedAt, now))
    return invalidCode('the clock stepped back: the code would outlive its time');
  return { grant, redeem: nextGeneration(grant, keyring.currentKeyId, lifetimes, now) };
}

/** RFC 7636 §4.6; a verifier without a challenge is a downgrade (RFC 9700 §4.8.2). */
function checkCodeVerifier(
  challenge: string | null,
  verifier: string | undefined,
  refuse: (detail: string, reason: Reason) => Refusal,
): Refusal | null {
  if (verifier !== undefined && !isCodeVerifier(verifier)) {
    return invalidRequest('code_verifier must be 43 to 128 unreserved characters'); // RFC 7636 §4.1
  }
  if (challenge === null && verifier === undefined) return null;
  if (challenge === null)
    return invalidRequest('code_verifier was sent, but the authorization request had no code_challenge');
  if (verifier === undefined) return refuse('code_verifier is missing', VERIFIER_MISSING);
  return verifiesChallenge(verifier, challenge)
    ? null
    : refuse('code_verifier does not match the challenge', VERIFIER_DIFFERS);
}
