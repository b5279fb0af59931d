/** Authorization requests for tests: a whole one, of which a test says only what matters to it. */
import assert from 'node:assert/strict';
import type { Client } from '../../src/oauth/clients/client.ts';
import type { ErrorCode } from '../../src/oauth/error.ts';
import { type Parameter, Parameters } from '../../src/oauth/parameters.ts';
import {
  type AuthorizationRequest,
  type AuthorizationRequestOutcome,
  type Face,
  validateAuthorizationRequest,
} from '../../src/oauth/protocol/authorization-request.ts';
import { assertRefusal, confidentialClient, scopesOf } from './samples.ts';

export const FACES: readonly Face[] = ['published', 'standard'];
export const ISSUER = 'https://app.test';
export const R1 = 'https://one.test/cb';
export const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
/** The one resource that is known. */
export const LETTERS = 'https://letters.test';
export const client: Client = { ...confidentialClient, scopes: scopesOf('read', 'write') };
/** Good on both faces. */
export const whole = { client_id: client.id, redirect_uri: R1, response_type: 'code', state: 'some state' };
export const pkce = { code_challenge: CHALLENGE, code_challenge_method: 'S256' };

/** What is otherwise than in `whole`; undefined takes a parameter away, null makes it no text. */
export type Changes = Record<string, string | null | undefined>;

/** What else a test may change. */
export type Circumstances = { readonly by?: Client | null; readonly more?: readonly Parameter[] };

export function pairsOf(changes: Changes): Parameter[] {
  const all: Changes = { ...whole, ...changes };
  return Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

export function validate(
  face: Face,
  changes: Changes = {},
  { by = client, more = [] }: Circumstances = {},
): AuthorizationRequestOutcome {
  const resources = [LETTERS];
  const context = { face, issuer: ISSUER, client: by, resources };
  return validateAuthorizationRequest(new Parameters([...pairsOf(changes), ...more]), context);
}

/** The request that is valid. */
export function valid(face: Face, changes: Changes = {}, circumstances: Circumstances = {}): AuthorizationRequest {
  const outcome = validate(face, changes, circumstances);
  assert.ok(outcome.kind === 'valid', JSON.stringify(outcome));
  return outcome;
}

export function assertShown(outcome: AuthorizationRequestOutcome, error: string, detail: RegExp): void {
  assert.equal(outcome.kind, 'show');
  if (outcome.kind !== 'show') return;
  assert.equal(outcome.error, error);
  assert.match(outcome.detail, detail);
  const { received: _, ...rest } = outcome; // For the page, as text.
  assert.deepEqual(Object.keys(rest).sort(), ['detail', 'error', 'kind'], 'nothing that could be redirected to');
}

export function assertRedirected(
  face: Face,
  outcome: AuthorizationRequestOutcome,
  code: ErrorCode,
  detail: RegExp,
  state: string | null = whole.state,
): void {
  assert.equal(outcome.kind, 'redirect', JSON.stringify(outcome));
  if (outcome.kind !== 'redirect') return;
  assertRefusal(outcome.refusal, code, detail);
  assert.equal(outcome.redirectUri, R1);
  assert.equal(outcome.state, state);
  assert.equal(outcome.issuer, face === 'standard' ? ISSUER : null, 'RFC 9207 §2');
}
