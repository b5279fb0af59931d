/**
 * The state machine of a grant against a model of a few lines. What the real decisions say is committed to a row in
 * memory as a store would: conditionally. The seed of a failing sequence is printed, and replays it.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Client } from '../../src/oauth/clients/client.ts';
import { Refusal } from '../../src/oauth/error.ts';
import type { Generation, Grant, RevocationReason, Standing } from '../../src/oauth/grants/grant.ts';
import { type CredentialKind, readCredential } from '../../src/oauth/keys/credential.ts';
import { isGoodAtOwnApi } from '../../src/oauth/resource-servers/resource-server.ts';
import { decideAccessToken } from '../../src/oauth/tokens/access-token.ts';
import { type CodeDecision, decideCodeExchange } from '../../src/oauth/tokens/authorization-code.ts';
import { decideRefresh, type RefreshDecision } from '../../src/oauth/tokens/refresh-token.ts';
import { deriveTokens, type IssuedTokens } from '../../src/oauth/tokens/token-pair.ts';
import type { AskedOfTokens } from '../../src/oauth/tokens/token-request.ts';
import {
  confidentialClient,
  goodStanding,
  inContext,
  inGeneration,
  issuedGrant,
  lifetimes,
  NOW,
  PREFIX,
  presented,
  publicClient,
  rotatedKeyring,
  strictClient,
} from './samples.ts';

const API = 'https://api.test';
/** Short enough that a few steps of time meet every limit. */
const short = { ...lifetimes, accessToken: 900, refreshTokenIdle: 2000, refreshTokenMax: 8000 };

type Step =
  | {
      readonly do: 'redeem';
      readonly wrong: 'nothing' | 'client' | 'redirect_uri' | 'verifier' | 'scope' | 'resource';
      readonly racers: number;
    }
  | {
      readonly do: 'refresh';
      readonly older: number;
      readonly wrong: 'nothing' | 'client' | 'seed' | 'scope' | 'resource';
      readonly racers: number;
    }
  | { readonly do: 'use'; readonly older: number; readonly elsewhere: boolean }
  | { readonly do: 'revoke'; readonly reason: RevocationReason }
  | { readonly do: 'raiseEpoch' | 'pause' | 'resume' | 'disable' | 'enable' }
  | { readonly do: 'wait'; readonly seconds: number }
  /** The clock steps back. */
  | { readonly do: 'step'; readonly seconds: number };

/** What the model expects of a request: the pair of a generation, or a refusal. */
type Expected = number | 'refused';

/** All that the protocol promises of one grant, in the plainest words. Times in seconds since the grant. */
class Model {
  now = 0;
  generation = 0;
  rotatedAt = 0;
  used = 0;
  isEnded = false;
  /** Why its row was revoked; null while it was not, and when an epoch ended it. */
  reason: RevocationReason | null = null;
  isPaused = false;
  isDisabled = false;
  readonly #overlap: number;
  readonly #retryWindow: number;

  constructor(overlap: number, retryWindow: number) {
    this.#overlap = overlap;
    this.#retryWindow = retryWindow;
  }

  #isStopped(): boolean {
    return this.isEnded || this.isPaused || this.isDisabled;
  }

  #refreshTokenExpiresAt(): number {
    return Math.min(this.rotatedAt + 2000, 8000);
  }

  #advance(): number {
    this.generation += 1;
    this.rotatedAt = this.now;
    return this.generation;
  }

  revoke(reason: RevocationReason): void {
    this.isEnded = true;
    this.reason ??= reason;
  }

  redeem(wrong: string): Expected {
    if (wrong !== 'nothing' || this.#isStopped()) return 'refused';
    if (this.generation > 0) this.revoke('code_replay');
    if (this.generation > 0 || this.now >= 60 || this.now < -60) return 'refused';
    return this.#advance();
  }

  refresh(generation: number, wrong: string): Expected {
    if (wrong !== 'nothing' || this.#isStopped() || this.now >= this.#refreshTokenExpiresAt()) return 'refused';
    if (generation === this.generation) return this.#advance();
    if (this.now < this.rotatedAt - 2) return 'refused'; // Nobody knows how old the pair is: nothing is shared or ended.
    const age = Math.max(0, this.now - this.rotatedAt);
    const isPredecessor = generation === this.generation - 1;
    if (isPredecessor && age < this.#overlap) return this.generation;
    if (isPredecessor && age < this.#retryWindow && this.used < this.generation) return this.generation;
    if (age >= this.#overlap) this.revoke('refresh_reuse');
    return 'refused';
  }

  isGood(issuedAt: number): boolean {
    const expiresAt = Math.min(issuedAt + 900, 8000);
    const lifetime = Math.min(900, 8000 - this.rotatedAt);
    return !this.#isStopped() && this.now < expiresAt && this.now >= expiresAt - lifetime - 60;
  }
}

/** One grant, its row, and all that was handed out for it. */
class System {
  now = NOW;
  row: Grant = {
    ...issuedGrant,
    keyId: rotatedKeyring.keyIds[1] as number,
    codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    resource: API,
    absoluteExpiresAt: NOW + 8_000_000,
  };
  standing: Standing = goodStanding;
  readonly client: Client;
  readonly code = presented('ac', this.row, { keyId: this.row.keyId }, rotatedKeyring);

  constructor(client: Client) {
    this.client = client;
  }

  decideCode(wrong: string): CodeDecision {
    return decideCodeExchange({
      ...this.#request(wrong),
      credential: this.code,
      client: wrong === 'client' ? { ...this.client, id: 'app_two' } : this.client,
      redirectUri: wrong === 'redirect_uri' ? 'https://one.test/other' : this.row.redirectUri,
      codeVerifier: wrong === 'verifier' ? undefined : 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
    });
  }

  decideRefresh(token: string, wrong: string): RefreshDecision {
    const client = wrong === 'client' ? { ...this.client, id: 'app_two' } : this.client;
    const row = wrong === 'seed' ? { ...this.row, seed: Buffer.alloc(16) } : this.row;
    const found = inContext(row, this.standing);
    return decideRefresh({ ...this.#request(wrong), client, credential: read('rt', token), found });
  }

  #request(wrong: string) {
    const found = inContext(this.row, this.standing);
    return { keyring: rotatedKeyring, lifetimes: short, found, asked: asked(wrong), now: this.now };
  }

  /** Commits a decision as a store does: a transition only from the generation before it, and never of an ended grant. */
  commit(decision: CodeDecision | RefreshDecision): IssuedTokens | 'refused' | 'lost' {
    if (decision instanceof Refusal) return 'refused';
    if ('again' in decision) return this.#pairOf(decision.again);
    if ('revoke' in decision) {
      this.revoke(decision.revoke);
      return 'refused';
    }
    const next = 'redeem' in decision ? decision.redeem : decision.rotate;
    if (this.row.generation !== next.generation - 1 || this.row.revokedAt !== null) return 'lost';
    this.row = inGeneration(this.row, next);
    return this.#pairOf(next);
  }

  /** The first reason stays, as in a store. */
  revoke(revocationReason: RevocationReason): void {
    if (this.row.revokedAt === null) this.row = { ...this.row, revokedAt: this.now, revocationReason };
  }

  isGood(accessToken: string, resource: string): boolean {
    const found = inContext(this.row, this.standing);
    const credential = read('at', accessToken);
    const isGoodHere = (grant: Grant) => isGoodAtOwnApi(resource, grant);
    const decision = decideAccessToken({ keyring: rotatedKeyring, credential, found, isGoodHere, now: this.now });
    return !(decision instanceof Refusal);
  }

  #pairOf(generation: Generation): IssuedTokens {
    return deriveTokens(rotatedKeyring, PREFIX, this.row, generation);
  }
}

function asked(wrong: string): AskedOfTokens {
  return {
    scope: wrong === 'scope' ? 'read admin' : 'read',
    resources: [wrong === 'resource' ? 'https://other.test' : API],
  };
}

function read(kind: CredentialKind, text: string) {
  return readCredential(PREFIX, kind, text) ?? assert.fail(`not a credential: ${text}`);
}

const racers = fc.constantFrom(1, 1, 1, 2, 3);
const someStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('redeem' as const), wrong: fc.constant('nothing' as const), racers }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('redeem' as const),
      wrong: fc.constantFrom(
        'client' as const,
        'redirect_uri' as const,
        'verifier' as const,
        'scope' as const,
        'resource' as const,
      ),
      racers,
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('refresh' as const),
      older: fc.constantFrom(0, 0, 0, 1, 1, 2, 3),
      wrong: fc.constant('nothing' as const),
      racers,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('refresh' as const),
      older: fc.nat(3),
      wrong: fc.constantFrom('client' as const, 'seed' as const, 'scope' as const, 'resource' as const),
      racers,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('use' as const),
      older: fc.constantFrom(0, 0, 1, 2),
      elsewhere: fc.constantFrom(false, false, false, true),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom<Step>(
      { do: 'revoke', reason: 'user' },
      { do: 'revoke', reason: 'client' },
      { do: 'raiseEpoch' },
      { do: 'pause' },
      { do: 'disable' },
    ),
  },
  { weight: 2, arbitrary: fc.constantFrom<Step>({ do: 'resume' }, { do: 'enable' }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      seconds: fc.constantFrom(1, 5, 9, 10, 49, 59, 60, 300, 599, 600, 899, 900, 1999, 2000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('step' as const), seconds: fc.constantFrom(1, 2, 3, 60, 61, 600, 3600) }),
  },
);

const clients: [string, Client, overlap: number, retryWindow: number][] = [
  ['a confidential client', confidentialClient, 10, 600],
  ['a public client', publicClient, 0, 60],
  ['a strict client', strictClient, 0, 0],
];

for (const [name, client, overlap, retryWindow] of clients) {
  test(`promises 1, 2 and 3: any sequence on a grant of ${name} does what the model says`, () => {
    const steps = fc.array(someStep, { minLength: 5, maxLength: 40 });
    const whole = steps.map((rest): Step[] => [{ do: 'redeem', wrong: 'nothing', racers: 1 }, ...rest]);
    fc.assert(
      fc.property(fc.oneof({ weight: 1, arbitrary: steps }, { weight: 5, arbitrary: whole }), (sequence) => {
        run(sequence, new System(client), new Model(overlap, retryWindow));
      }),
      { numRuns: 400 },
    );
  });
}

function run(steps: readonly Step[], system: System, model: Model): void {
  /** The pairs handed out, by generation, with the second they were made at. */
  const pairs = new Map<number, { tokens: IssuedTokens; at: number }>();
  let successfulRedemptions = 0;
  let everEnded = false;

  function expectPair(outcome: IssuedTokens | 'refused' | 'lost', expected: Expected): void {
    if (expected === 'refused') {
      assert.equal(outcome, 'refused');
      return;
    }
    assert.ok(typeof outcome === 'object', `the model expects generation ${expected}, not ${outcome}`);
    assert.equal(everEnded, false, 'an ended grant hands out nothing');
    assert.equal(read('rt', outcome.refreshToken).generation, expected);
    const known = pairs.get(expected);
    if (known) assert.deepEqual(outcome, known.tokens);
    else pairs.set(expected, { tokens: outcome, at: model.now });
  }

  for (const step of steps) {
    switch (step.do) {
      case 'redeem': {
        // All racers read before any of them writes; whoever loses is a replay.
        const decisions = Array.from({ length: step.racers }, () => system.decideCode(step.wrong));
        for (const decision of decisions) {
          const expected = model.redeem(step.wrong);
          let outcome = system.commit(decision);
          if (outcome === 'lost') {
            system.revoke('code_replay');
            outcome = 'refused';
          }
          if (outcome !== 'refused') successfulRedemptions += 1;
          expectPair(outcome, expected);
        }
        break;
      }
      case 'refresh': {
        const token = pairs.get(model.generation - step.older)?.tokens.refreshToken;
        if (token === undefined) break;
        const { generation } = read('rt', token);
        const decisions = Array.from({ length: step.racers }, () => system.decideRefresh(token, step.wrong));
        for (const decision of decisions) {
          const expected = model.refresh(generation, step.wrong);
          let outcome = system.commit(decision);
          if (outcome === 'lost') outcome = system.commit(system.decideRefresh(token, step.wrong));
          expectPair(outcome, expected);
        }
        break;
      }
      case 'use': {
        const pair = pairs.get(model.generation - step.older);
        if (!pair) break;
        const { generation } = read('at', pair.tokens.accessToken);
        const isGood = system.isGood(pair.tokens.accessToken, step.elsewhere ? 'https://other.test' : API);
        assert.equal(isGood, model.isGood(pair.at) && !step.elsewhere);
        if (!isGood) break;
        model.used = Math.max(model.used, generation);
        system.row = { ...system.row, usedGeneration: Math.max(system.row.usedGeneration, generation) };
        break;
      }
      case 'revoke':
        model.revoke(step.reason);
        system.revoke(step.reason);
        break;
      case 'raiseEpoch': {
        const { epochs } = system.standing;
        model.isEnded = true;
        system.standing = { ...system.standing, epochs: { ...epochs, client: epochs.client + 1 } };
        break;
      }
      case 'pause':
      case 'resume':
        model.isPaused = step.do === 'pause';
        system.standing = { ...system.standing, clientPaused: model.isPaused };
        break;
      case 'disable':
      case 'enable':
        model.isDisabled = step.do === 'disable';
        system.standing = { ...system.standing, resourceOwnerDisabled: model.isDisabled };
        break;
      case 'wait':
        model.now += step.seconds;
        system.now += step.seconds * 1000;
        break;
      case 'step':
        model.now -= step.seconds;
        system.now -= step.seconds * 1000;
    }
    everEnded ||= model.isEnded;
    assert.equal(system.row.generation, model.generation);
    assert.equal(system.row.revocationReason, model.reason);
    assert.ok(successfulRedemptions <= 1, 'one code, at most one success');
    assert.equal(pairs.size, model.generation, 'one pair a generation: a refresh token has at most one successor');
  }
}
