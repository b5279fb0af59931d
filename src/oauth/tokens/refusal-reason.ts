/**
 * The third text of an error: the reason why a code or refresh token is refused. Only a client that proved its secret gets it,
 * and only about its own genuine credential (decision 0057). It contains nothing of the request, and does not say who ended
 * the access.
 */
import type { Client } from '../clients/client.ts';
import { CLIENT_PAUSED } from '../clients/client-authenticator.ts';
import { type Reason, type ReasonKind, Refusal } from '../error.ts';
import { type Grant, type GrantInContext, isEnded } from '../grants/grant.ts';
import type { Credential } from '../keys/credential.ts';

/**
 * Adds the reason to a refusal about a genuine credential of the client's own. A public client gets only the common text:
 * anybody can name it, so it has proven nothing.
 */
export function explain(refusal: Refusal, client: Pick<Client, 'type'>, reason: Reason): Refusal {
  if (client.type === 'public') return refusal;
  return new Refusal(refusal.code, refusal.description, refusal.detail, refusal.retryAfter, reason);
}

/** The exchange names no redirect URI, though it must (RFC 6749 §4.1.3). */
export const REDIRECT_URI_MISSING: Reason = {
  kind: 'redirect-uri',
  text: 'redirect_uri is missing: send the one of the authorization request',
};
/** The exchange names another redirect URI than the authorization request did. */
export const REDIRECT_URI_DIFFERS: Reason = {
  kind: 'redirect-uri',
  text: 'redirect_uri differs from that of the authorization request: send the same, character by character',
};
/** The redirect URI was taken from the client after Allow. */
export const REDIRECT_URI_REMOVED: Reason = {
  kind: 'redirect-uri',
  text: 'redirect_uri is not registered for this client any more',
};
/** The authorization request had a challenge (RFC 7636 §4.6). */
export const VERIFIER_MISSING: Reason = {
  kind: 'code-verifier',
  text: 'code_verifier is missing: the authorization request had a code_challenge',
};
/** It says no more, because a guesser would learn from it. */
export const VERIFIER_DIFFERS: Reason = { kind: 'code-verifier', text: 'code_verifier does not match' };
/** It does not say who ended the access: perhaps the person did, who owes an app no explanation. */
export const ACCESS_ENDED: Reason = {
  kind: 'ended',
  text: 'the access that was allowed has ended: ask the user again',
};
/** The account is disabled. The text does not say that it is the account. */
const ACCESS_PAUSED: Reason = {
  kind: 'paused',
  text: 'this access is paused for now and has not ended: try again later, or ask the people who run this service',
};

/** Why a grant opens nothing: it ended, its client is paused, or its account is disabled. */
export function reasonOfStanding({ grant, standing }: GrantInContext): Reason {
  if (isEnded(grant, standing)) return ACCESS_ENDED;
  return standing.clientPaused ? CLIENT_PAUSED : ACCESS_PAUSED;
}

/**
 * The code was redeemed before (RFC 6749 §4.1.2). The row has only the time of the current pair, so the exact time is known
 * only while that is the first pair.
 */
export function codeUsed(code: Pick<Credential, 'expiresAt'>, { generation, rotatedAt }: Grant): Reason {
  return codeUsedOnce(generation === 1 ? `at ${dateTime(rotatedAt)}` : `before ${dateTime(code.expiresAt)}`);
}

/** The code was redeemed by another request while this one was under way. */
export function codeUsedMeanwhile(): Reason {
  return codeUsedOnce('by another request at the same time');
}

function codeUsedOnce(when: string): Reason {
  return {
    kind: 'used',
    text: `the authorization code was used already, ${when}: a code works once, and a second use ends all its tokens`,
  };
}

/** A later refresh token took the place of this one; `isReuse` when the access has ended. */
export function refreshTokenUsed(
  { generation }: Pick<Credential, 'generation'>,
  grant: Grant,
  isReuse: boolean,
): Reason {
  const when = `${generation === grant.generation - 1 ? 'at' : 'before'} ${dateTime(grant.rotatedAt)}`;
  const remedy = isReuse
    ? 'the access has ended, as always after an old refresh token, so ask the user again'
    : 'save the new refresh token of each answer';
  return { kind: 'used', text: `the refresh token was used already, ${when}: ${remedy}` };
}

/** The code came too late (RFC 6749 §4.1.2). `now` in ms. */
export function codeExpired({ expiresAt }: Pick<Credential, 'expiresAt'>, grant: Grant, now: number): Reason {
  const lifetime = span(grant.expiresAt - grant.rotatedAt);
  const text = `the authorization code expired ${span(now - expiresAt)} ago: it is good for ${lifetime}, so exchange it at once`;
  return { kind: 'expired', text };
}

/** The refresh token was not used in time, or its grant has reached its end. `now` in ms. */
export function refreshTokenExpired({ expiresAt, absoluteExpiresAt }: Grant, now: number): Reason {
  const why = expiresAt === absoluteExpiresAt ? 'at the end of the whole access' : 'because it was not used';
  return {
    kind: 'expired',
    text: `the refresh token expired ${span(now - expiresAt)} ago, ${why}: ask the user again`,
  };
}

/** Returns a reason without its times, which differ from failure to failure: the same for all failures of one cause. */
export function causeOf(text: string): string {
  return text.replace(/, (at|before) \d{4}-\d\d-\d\dT[\d:]+Z/, '').replace(/ expired \d+ [a-z]+ ago/, ' expired');
}

/** Reasons that are always the same. */
const FIXED = [
  ...[REDIRECT_URI_MISSING, REDIRECT_URI_DIFFERS, REDIRECT_URI_REMOVED, VERIFIER_MISSING, VERIFIER_DIFFERS],
  ...[ACCESS_ENDED, CLIENT_PAUSED, ACCESS_PAUSED],
];

/** Returns the kind of a cause; null if it is none of the reasons. */
export function kindOfCause(cause: string): ReasonKind | null {
  const [, end] = /^the (?:authorization code|refresh token) (was used already|expired)[,:]/.exec(cause) ?? [];
  if (end !== undefined) return end === 'expired' ? 'expired' : 'used';
  return FIXED.find(({ text }) => text === cause)?.kind ?? null;
}

/** RFC 3339, in whole seconds. */
function dateTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const;

/** A period (ms) as people say it: in whole units, of the largest of which it has two or more. */
function span(ms: number): string {
  const [unit, size] = UNITS.find(([, size]) => ms >= 2 * size) ?? ['second', 1000];
  const count = Math.max(1, Math.floor(ms / size));
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
