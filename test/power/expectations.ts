/** What must be true of each grant, whatever has happened since, when clients have had certain answers. */

import { grantIdText } from '../../src/oauth/grants/grant.ts';
import { readCredential } from '../../src/oauth/keys/credential.ts';
import type { RevocationNotice } from '../../src/oauth/resource-servers/revocation-notice.ts';
import type { Entry, Pair } from '../instances/history.ts';

/** What the answers say of one grant. */
export type Expectation = {
  readonly id: string;
  /** It was allowed, if that was answered. */
  allowed: Entry<'allow'> | null;
  /** The newest generation that was answered, and the newest that was asked for. */
  answered: number;
  asked: number;
  /** The pairs that were answered, by generation. */
  readonly pairs: Map<number, Pair>;
  /** Its end was answered; or may have come. */
  isEnded: boolean;
  mayBeEnded: boolean;
};

type Expectations = Map<string, Expectation>;

/** The expectations of all grants, from entries in the order in which they ended. */
export function expectationsOf(entries: readonly Entry[]): Expectations {
  const all: Expectations = new Map();
  for (const entry of entries) {
    if (entry.kind === 'allow' && entry.code !== null) of(all, read('ac', entry.code)).allowed = entry;
    if (entry.kind === 'refresh') expectPair(all, read('rt', entry.refreshToken), entry);
    if (entry.kind === 'exchange') expectPair(all, read('ac', entry.code), entry);
  }
  expectReplays(all, entries);
  for (const entry of entries) if (entry.kind === 'revoke') expectEnds(all, entry);
  return all;
}

function expectPair(all: Expectations, { id, generation }: Named, { pair }: Entry<'exchange' | 'refresh'>): void {
  const grant = of(all, { id });
  grant.asked = Math.max(grant.asked, generation + 1);
  if (!pair) return;
  grant.answered = Math.max(grant.answered, generation + 1);
  grant.pairs.set(generation + 1, pair);
}

/** A code that is exchanged twice ends its grant, once the second is answered. */
function expectReplays(all: Expectations, entries: readonly Entry[]): void {
  const exchanges = Map.groupBy(
    entries.filter((entry) => entry.kind === 'exchange'),
    ({ code }) => code,
  );
  for (const [code, attempts] of exchanges) {
    const grant = of(all, read('ac', code));
    const first = attempts.find(({ pair }) => pair !== null);
    grant.mayBeEnded ||= attempts.length > 1;
    grant.isEnded ||= attempts.some(({ outcome, started }) => first && outcome === 'refused' && started > first.ended);
  }
}

/** Of many grants, a revocation ends those that were there for certain; one that was just being allowed it may miss. */
function expectEnds(all: Expectations, { whose, outcome, started, ended }: Entry<'revoke'>): void {
  for (const grant of all.values()) {
    const { allowed, id } = grant;
    if (!includes(whose, { ...allowed, grantId: id })) continue;
    const cameLater = allowed !== null && allowed.started > ended && outcome === 'done';
    grant.mayBeEnded ||= !cameLater;
    grant.isEnded ||=
      outcome === 'done' && (whose.grantId !== undefined || (allowed !== null && allowed.ended < started));
  }
}

/** Whether an act on `whose` concerns what has these names. */
export function includes(whose: RevocationNotice, names: RevocationNotice): boolean {
  return Object.entries(whose).every(([key, value]) => names[key as keyof RevocationNotice] === value);
}

function of(all: Expectations, { id }: { readonly id: string }): Expectation {
  const known = all.get(id);
  if (known) return known;
  const fresh = { id, allowed: null, answered: 0, asked: 0, pairs: new Map(), isEnded: false, mayBeEnded: false };
  all.set(id, fresh);
  return fresh;
}

type Named = { readonly id: string; readonly generation: number };

/** Each cut reads the same credentials again. */
const known = new Map<string, Named>();

function read(kind: 'ac' | 'rt', text: string): Named {
  const named = known.get(text);
  if (named) return named;
  const credential = readCredential('vk', kind, text);
  if (!credential) throw new Error(`this is no credential: ${text}`);
  const fresh = { id: grantIdText(credential.grantId), generation: credential.generation };
  known.set(text, fresh);
  return fresh;
}
