/**
 * The requests of bench/growth.ts: each on another grant, drawn from the whole table, with credentials that are derived
 * here as the service derives them. They are made a lap at a time, before its clock starts.
 */

import type { Grant } from '../src/oauth/grants/grant.ts';
import { deriveCredential } from '../src/oauth/keys/credential.ts';
import { currentGeneration, deriveTokens } from '../src/oauth/tokens/token-pair.ts';
import type { Call } from './connection.ts';
import { type FilledDatabase, putBack } from './growth-database.ts';
import {
  checkCall,
  exchangeCall,
  introspectCall,
  type Operation,
  type Pair,
  type Paths,
  refreshCall,
} from './operations.ts';
import { CODE_VERIFIER, filledGrant, isCode, keyring, PREFIX } from './scaling-store.ts';

/** Requests of a lap, as many at every size, since connections are new in each: what the fewest grants have of each kind. */
const [CODES_IN_LAP, PAIRS_IN_LAP] = [2500, 7500];

/** The grants of a filled database, as far as it is known here what the service did with them. */
export class GrantCalls {
  readonly #database: FilledDatabase;
  readonly #paths: Paths;
  readonly #chance: () => number;
  /** The codes that may have been exchanged. */
  readonly #spent = new Set<number>();
  /** Pairs that are no longer those that were filled in. */
  readonly #pairs = new Map<number, Pair>();

  /** `chance` answers numbers from 0 to below 1. */
  constructor(database: FilledDatabase, paths: Paths, chance: () => number) {
    this.#database = database;
    this.#paths = paths;
    this.#chance = chance;
  }

  /** A lap of calls in an order of chance, no two on the same grant. None of an earlier lap may be sent any more. */
  lap(operation: Operation): Call[] {
    const { made, resourceServer } = this.#database;
    if (operation === 'exchange') return this.#drawCodes().map((n) => this.#exchange(filledGrant(n, made)));
    const calls = {
      refresh: (n: number) => this.#refresh(n),
      check: (n: number) => checkCall(this.#paths, this.#pair(n)),
      introspect: (n: number) => introspectCall(this.#paths, resourceServer, this.#pair(n)),
    };
    return this.#draw(PAIRS_IN_LAP, 1, (n) => !isCode(n, made)).map(calls[operation]);
  }

  /** When too few codes are left, those before are put back. */
  #drawCodes(): number[] {
    const { grants, codeEvery } = this.#database.made;
    if (this.#spent.size + CODES_IN_LAP > Math.ceil(grants / codeEvery)) {
      putBack(this.#database, [...this.#spent]);
      this.#spent.clear();
    }
    const drawn = this.#draw(CODES_IN_LAP, codeEvery, (n) => !this.#spent.has(n));
    for (const n of drawn) this.#spent.add(n);
    return drawn;
  }

  /** Picks `count` numbers of grants: multiples of `step` that are fit. */
  #draw(count: number, step: number, isFit: (n: number) => boolean): number[] {
    const drawn = new Set<number>();
    const places = Math.ceil(this.#database.made.grants / step);
    while (drawn.size < count) {
      const n = Math.floor(this.#chance() * places) * step;
      if (isFit(n)) drawn.add(n);
    }
    return [...drawn];
  }

  #exchange(grant: Grant): Call {
    const { id: grantId, keyId, generation, expiresAt } = grant;
    const code = deriveCredential(keyring, PREFIX, 'ac', { grantId, keyId, generation, expiresAt }, grant.seed);
    return exchangeCall(this.#paths, this.#appOf(grant), code, () => {});
  }

  #refresh(n: number): Call {
    const app = this.#appOf(filledGrant(n, this.#database.made));
    return refreshCall(this.#paths, app, this.#pair(n), (pair) => this.#pairs.set(n, pair));
  }

  #pair(n: number): Pair {
    const known = this.#pairs.get(n);
    if (known) return known;
    const grant = filledGrant(n, this.#database.made);
    return deriveTokens(keyring, PREFIX, grant, currentGeneration(grant));
  }

  #appOf({ clientId, redirectUri }: Grant) {
    const clientSecret = this.#database.made.clientSecret.text;
    return { clientId, clientSecret, redirectUri, codeVerifier: CODE_VERIFIER };
  }
}
