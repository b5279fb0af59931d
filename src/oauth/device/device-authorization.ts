/**
 * Device authorization (RFC 8628). The device code is sealed. It holds the id of the grant that Allow will make, and a
 * verifier, of which the grant keeps the challenge. So nothing is written before a signed-in person decides. Only the user
 * code must be kept somewhere, and that place is bounded and short-lived.
 */
import { hash, randomBytes, randomInt } from 'node:crypto';
import { invalidDeviceCode, Refusal } from '../error.ts';
import { ageOfGeneration, isAheadOfClock } from '../grants/clock-steps.ts';
import {
  type Generation,
  type Grant,
  type GrantInContext,
  type Lifetimes,
  newGrantId,
  whyRefused,
} from '../grants/grant.ts';
import { WEIGHTS } from '../guessing/networks.ts';
import { readChecked, withChecksum } from '../keys/credential.ts';
import type { Keyring } from '../keys/keyring.ts';
import { seal, unseal } from '../keys/sealed.ts';
import { verifiesChallenge } from '../tokens/pkce.ts';
import { currentGeneration, nextGeneration } from '../tokens/token-pair.ts';

/** A device's request, while it waits for a decision. */
export type DeviceRequest = {
  /** Eight letters; see `readableUserCode`. */
  readonly userCode: string;
  readonly grantId: Buffer;
  readonly clientId: string;
  /** The scope names that were asked for. */
  readonly scope: readonly string[];
  readonly resource: string | null;
  /** The mark of the client's default resource: the device named none. */
  readonly resourceIsDefault: boolean;
  readonly codeChallenge: string;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
};

/** The user's decision on a device's request, or null. */
export type DeviceDecision = 'allowed' | 'denied' | null;

/** When a device polled last (ms), and how long it must wait between polls (s). */
export type PollPace = { readonly polledAt: number; readonly interval: number };

/** A request that waits, with what was decided on it, and the pace of its device. */
export type WaitingDevice = {
  readonly request: DeviceRequest;
  readonly decision: DeviceDecision;
  readonly pace: PollPace;
};

/** A device code that this service made. It may still be another client's. */
export type DeviceCode = {
  readonly userCode: string;
  readonly grantId: Buffer;
  readonly clientId: string;
  readonly verifier: string;
  readonly expiresAt: number;
};

/** The result of a device's poll with a grant: the first pair, the same pair again, a replay, or a refusal. */
export type DevicePollDecision =
  | { readonly grant: Grant; readonly redeem: Generation }
  | { readonly grant: Grant; readonly again: Generation }
  | { readonly grant: Grant; readonly revoke: 'code_replay'; readonly refusal: Refusal }
  | Refusal;

/** Lifetime of both codes (s): somebody must type the user code within it. */
export const DEVICE_CODE_LIFETIME = 600;
/** Minimum time between two polls of a device (s; RFC 8628 §3.2). */
export const POLL_INTERVAL = 5;

/** The weight of the widest networks. */
const MAX_WEIGHT = Math.max(...WEIGHTS);

/** Maximum number of requests that wait, for all networks together. */
export const MAX_DEVICES_WAITING = 10_000;

/**
 * Returns true if another request of a network may wait, when `waiting` of its requests wait already and `free`
 * places are left. A network of the greatest weight takes at most as many places as it leaves free, and others less,
 * by their weight. So the next network always finds places, and no waiting request loses its own.
 */
export function mayWait(waiting: number, weight: number, free: number): boolean {
  return waiting * MAX_WEIGHT < free * weight;
}

/** Tolerance (ms) for a device that keeps the pace: its poll may come early, because network delays vary. */
const EARLY_BY_NETWORK_MS = 500;

/** No vowels, so that no word appears, and no letter that looks like another (RFC 8628 §6.1): eight hold 34 bits. */
const LETTERS = 'BCDFGHJKLMNPQRSTVWXZ';
const USER_CODE = new RegExp(`^[${LETTERS}]{8}$`);
const NO_LETTERS = new RegExp(`[^${LETTERS}]`, 'gi');

/** Makes a request with its two codes; `now` in ms. */
export function newDeviceRequest(
  keyring: Keyring,
  prefix: string,
  asked: Pick<DeviceRequest, 'clientId' | 'scope' | 'resource' | 'resourceIsDefault'>,
  now: number,
): { readonly request: DeviceRequest; readonly deviceCode: string } {
  const verifier = randomBytes(32).toString('base64url');
  const request = {
    ...asked,
    userCode: Array.from({ length: 8 }, () => LETTERS[randomInt(LETTERS.length)]).join(''),
    grantId: newGrantId(now),
    codeChallenge: hash('sha256', verifier, 'base64url'),
    expiresAt: now + DEVICE_CODE_LIFETIME * 1000,
  };
  const { userCode, grantId, clientId, expiresAt } = request;
  const text = JSON.stringify([userCode, grantId.toString('base64url'), clientId, verifier]);
  return { request, deviceCode: withChecksum(`${prefix}_dc_${seal(keyring, 'device', text, expiresAt)}`) };
}

/**
 * True if nobody can decide any more: the code has expired, or its expiry shows that the clock stepped back. `now` in
 * ms.
 */
export function isDeviceCodeExpired(expiresAt: number, now: number): boolean {
  return expiresAt <= now || isAheadOfClock(expiresAt, DEVICE_CODE_LIFETIME * 1000, now);
}

/** Reads a device code; null when this service did not make it. */
export function readDeviceCode(keyring: Keyring, prefix: string, text: string): DeviceCode | null {
  const sealed = readChecked(`${prefix}_dc_`, text);
  const opened = sealed === null ? null : unseal(keyring, 'device', sealed);
  if (!opened) return null;
  const [userCode, grantId, clientId, verifier] = JSON.parse(opened.content.toString()) as [
    string,
    string,
    string,
    string,
  ];
  return { userCode, grantId: Buffer.from(grantId, 'base64url'), clientId, verifier, expiresAt: opened.expiresAt };
}

/**
 * The code that somebody typed, in either case; null when it cannot be one. What is not of its alphabet is left out: dashes,
 * quotes and blanks of any kind (RFC 8628 §6.1).
 */
export function parseUserCode(text: string): string | null {
  const letters = text.replace(NO_LETTERS, '').toUpperCase();
  return USER_CODE.test(letters) ? letters : null;
}

/** The code as it is shown and typed: two groups of four. */
export function readableUserCode(userCode: string): string {
  return `${userCode.slice(0, 4)}-${userCode.slice(4)}`;
}

/** A device's poll for a grant that somebody allowed. `retryWindow` in seconds, `now` in ms. */
export type DevicePoll = {
  readonly keyring: Keyring;
  readonly lifetimes: Lifetimes;
  readonly deviceCode: DeviceCode;
  readonly found: GrantInContext;
  readonly retryWindow: number;
  readonly now: number;
};

/**
 * Decides on a device's poll (RFC 8628 §3.5). A response that was lost costs nothing: while its pair is unused the device
 * gets the same one again, as with a refresh.
 */
export function decideDevicePoll(poll: DevicePoll): DevicePollDecision {
  const { keyring, lifetimes, deviceCode, found, retryWindow, now } = poll;
  const { clientId, verifier } = deviceCode;
  const { grant, standing } = found;
  const { codeChallenge } = grant;
  if (grant.clientId !== clientId || codeChallenge === null || !verifiesChallenge(verifier, codeChallenge))
    return invalidDeviceCode('the grant is not the one that this device code was made for');
  const refused = whyRefused(grant, standing);
  if (refused) return invalidDeviceCode(refused);
  if (grant.generation === 0)
    return grant.expiresAt <= now || isAheadOfClock(grant.expiresAt, grant.expiresAt - grant.rotatedAt, now)
      ? expiredDeviceCode()
      : { grant, redeem: nextGeneration(grant, keyring.currentKeyId, lifetimes, now) };
  const age = ageOfGeneration(grant, now);
  // As with a refresh: the pair's age is unknown, so the pair is not shared and nothing is revoked.
  if (age === null) return invalidDeviceCode('the clock stepped back since the device got its pair');
  const isRetry = grant.usedGeneration === 0 && age < retryWindow * 1000;
  if (grant.generation === 1 && isRetry) return { grant, again: currentGeneration(grant) };
  return { grant, revoke: 'code_replay', refusal: invalidDeviceCode('the device code was already redeemed') };
}

/**
 * Returns whether a poll comes too early, and the new interval: each early poll makes it five seconds longer (RFC
 * 8628 §3.5).
 */
export function pollAt({ polledAt, interval }: PollPace, now: number): { isTooFast: boolean; pace: PollPace } {
  const isTooFast = now - polledAt < interval * 1000 - EARLY_BY_NETWORK_MS;
  return { isTooFast, pace: { polledAt: now, interval: isTooFast ? interval + POLL_INTERVAL : interval } };
}

/** `expired_token` (RFC 8628 §3.5). */
export function expiredDeviceCode(): Refusal {
  return new Refusal('expired_token', 'the device code has expired: ask for a new one');
}
