/** The result of a call, in words for people. */
import { asJson } from '../exchange.ts';
import type { Call, Purpose } from './visit.ts';

/** The words for an outcome; `code` is Valetkey's own word for a refusal. */
export type Outcome = {
  readonly isGood: boolean;
  readonly heading: string;
  readonly text: string;
  readonly code: string | null;
};

/** The user. */
type Identity = { readonly name: string };

const GOOD: Readonly<Record<Purpose, readonly [heading: string, text: string]>> = {
  exchange: ['Two tokens came', 'The code is used up now.'],
  check: ['The token works', 'Valetkey confirmed just now whose it is.'],
  refresh: [
    'Two new tokens came',
    'The refresh token before is used up. The access token before works until it runs out.',
  ],
};

const REFUSED: Readonly<Record<Purpose, readonly [heading: string, text: string]>> = {
  exchange: ['Valetkey didn’t take the code', 'A code works once, and only for a minute.'],
  check: ['The token is refused', 'You took the access back, or the token ran out. Postcards can’t look any more.'],
  refresh: [
    'There are no new tokens',
    'You took the access back, so the refresh token is worth nothing now. Postcards has to ask you again.',
  ],
};

/** Returns the result of a call. */
export function outcomeOf({ purpose, exchange: { response } }: Call): Outcome {
  if (!response) {
    const text = 'It may have ended. Start the demonstration again in your terminal.';
    return { isGood: false, heading: 'Valetkey didn’t answer', text, code: null };
  }
  const isGood = response.status === 200;
  const [heading, text] = (isGood ? GOOD : REFUSED)[purpose];
  return { isGood, heading, text, code: isGood ? null : errorCode(response.body) };
}

/** Returns the user, according to the last successful check. */
export function identityOf(calls: readonly Call[]): Identity | null {
  const good = calls.findLast(({ purpose, exchange }) => purpose === 'check' && exchange.response?.status === 200);
  if (!good) return null;
  return (asJson(good.exchange.response?.body ?? '') as { data: Identity }).data;
}

/** The token endpoints say `{"error": "…"}`, the API `{"error": {"code": "…"}}`. */
function errorCode(body: string): string | null {
  const { error } = (asJson(body) ?? {}) as { error?: string | { code: string } };
  return typeof error === 'object' ? error.code : (error ?? null);
}
