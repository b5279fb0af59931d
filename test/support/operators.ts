/** Samples of operators and what belongs to them, for the tests of stores and rules. */
import { randomBytes } from 'node:crypto';
import type { OneTimeAddress } from '../../src/operator/access/one-time-address.ts';
import type { Operator } from '../../src/operator/access/operator.ts';
import type { OperatorKey } from '../../src/operator/access/operator-key.ts';
import type { OperatorSession } from '../../src/operator/access/operator-session.ts';
import type { Assertion, Passkey, UsedChallenge } from '../../src/operator/access/passkey.ts';
import { HOUR, NOW } from './storage.ts';

export function sampleOperator(some: Partial<Operator> = {}): Operator {
  return { id: 'opr_ann', name: 'Ann', role: 'admin', status: 'active', epoch: 0, createdAt: NOW, ...some };
}

export function sampleOperatorSession(some: Partial<OperatorSession> = {}): OperatorSession {
  return {
    digest: randomBytes(32),
    operatorId: 'opr_ann',
    how: 'passkey',
    createdAt: NOW,
    lastSeenAt: NOW,
    expiresAt: NOW + 12 * HOUR,
    presentAt: NOW,
    begunBy: null,
    confirmedBy: null,
    source: '192.0.2.0/24',
    browser: 'Firefox on Linux',
    ...some,
  };
}

export function sampleOperatorKey(some: Partial<OperatorKey> = {}): OperatorKey {
  return {
    id: 'opk_portal',
    operatorId: 'opr_ann',
    name: 'portal',
    digest: randomBytes(32),
    rights: ['clients.read', 'clients.write'],
    createdAt: NOW,
    expiresAt: NOW + 24 * HOUR,
    ...some,
  };
}

export function samplePasskey(some: Partial<Passkey> = {}): Passkey {
  return {
    id: randomBytes(16).toString('base64url'),
    operatorId: 'opr_ann',
    name: 'laptop',
    publicKey: randomBytes(77),
    counter: 0,
    transports: ['internal', 'hybrid'],
    isBackedUp: false,
    createdAt: NOW,
    lastUsedAt: null,
    suspectedAt: null,
    ...some,
  };
}

export function sampleAddress(some: Partial<OneTimeAddress> = {}): OneTimeAddress {
  return {
    digest: randomBytes(32),
    operatorId: 'opr_ann',
    purpose: 'enroll',
    createdAt: NOW,
    expiresAt: NOW + 24 * HOUR,
    ...some,
  };
}

export function sampleChallenge(): UsedChallenge {
  return { digest: randomBytes(32), expiresAt: NOW + 300_000 };
}

export function sampleAssertion({ id, counter }: Passkey, some: Partial<Assertion> = {}): Assertion {
  return {
    passkeyId: id,
    before: counter,
    counter: counter + 1,
    isBackedUp: true,
    challenge: sampleChallenge(),
    ...some,
  };
}
