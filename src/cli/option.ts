/** Readers of option values, for commander: each answers the value or refuses it in words that say the remedy. */
import { InvalidArgumentError } from 'commander';
import { readDuration } from '../duration.ts';
import type { Scope } from '../oauth/scope.ts';

/** Lists show so many entries unless told otherwise. */
export const DEFAULT_LIMIT = 100;

/** A whole number of entries, from 1. */
export function readLimit(text: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw new InvalidArgumentError('give a whole number from 1 to 999999');
  return Number(text);
}

/** Seconds, or `default` for the installation's own setting. */
export type TimeSetting = number | 'default';

/** Reads a length of time, or the word `default`. */
export function readTimeSetting(text: string): TimeSetting {
  if (text === 'default') return text;
  const seconds = readDuration(text);
  if (seconds === null) throw new InvalidArgumentError('give seconds, a time such as 90s, 30m or 12h, or "default"');
  return seconds;
}

/** One more scope: `NAME`, or `NAME=Sentence in words`. */
export function readScope(text: string, before: readonly Scope[] = []): Scope[] {
  const at = text.indexOf('=');
  const scope = at < 0 ? { name: text, sentence: null } : { name: text.slice(0, at), sentence: text.slice(at + 1) };
  return [...before, scope];
}
