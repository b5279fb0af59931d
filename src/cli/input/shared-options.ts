/** Options that commands share, and readers of values. A reader returns the value, or throws an error with the remedy. */

import { InvalidArgumentError } from 'commander';
import { SCOPE_EFFECTS, type ScopeEffect } from '../../oauth/grants/scope.ts';
import { readDuration } from '../../settings/duration.ts';
import { readOne } from './setting-options.ts';

/** The option of commands that end one of two secrets. */
export const NEWER = [
  '--newer',
  'retire the newer one instead, for example if it was lost before anybody used it',
] as const;

/** The option of `NEWER`. */
export type NewerOption = { newer?: boolean };

/** Default number of entries in a list. */
export const DEFAULT_LIMIT = 100;

/** Reads a number of entries, from 1. */
export function readLimit(text: string): number {
  if (!/^[1-9][0-9]{0,5}$/.test(text)) throw new InvalidArgumentError('give a whole number from 1 to 999999');
  return Number(text);
}

/** The note below a list that reached its limit. */
export function whereItEnds(listed: readonly unknown[], limit: number): { note?: string } {
  if (listed.length < limit) return {};
  return { note: `At most the newest ${limit} are shown. Raise --limit to see more.` };
}

/** A time (ms) that was given either as such or by how long ago it was. */
export type Moment = { readonly at: number } | { readonly ago: number };

/** Reads a time: a length of time back from now, or ISO 8601 (UTC where it names no zone). */
export function readMoment(text: string): Moment {
  const seconds = readDuration(text);
  if (seconds !== null && /[smhd]$/.test(text)) return { ago: seconds * 1000 };
  const [, day, time = 'T00:00', zone = 'Z'] =
    /^(\d{4}-\d\d-\d\d)(?:([T ]\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?)(?: ?(Z|UTC|[+-]\d\d:\d\d))?)?$/.exec(text) ?? [];
  const at = Date.parse(`${day}${time.replace(' ', 'T')}${zone === 'UTC' ? 'Z' : zone}`);
  if (Number.isNaN(at))
    throw new InvalidArgumentError('give an age such as 2h or 7d, or a time such as 2026-11-24T09:30');
  return { at };
}

/** The time (ms since the epoch) of a moment. `now` likewise. */
export function timeOf(moment: Moment, now: number): number {
  return 'at' in moment ? moment.at : now - moment.ago;
}

/** Reads the effect of a scope, or `none`. */
export function readEffect(text: string): ScopeEffect | 'none' {
  return readOne([...SCOPE_EFFECTS, 'none'], text) as ScopeEffect | 'none';
}

/** Sentences by their language. */
export type Sentences = Readonly<Record<string, string>>;

/** One more sentence: `LANGUAGE=Sentence in words`, or an English one alone. */
export function readSentence(text: string, before: Sentences = {}): Sentences {
  // A word directly before "=" is meant as a language, right or wrong: no sentence begins like that.
  const [, language = 'en', sentence = text] = /^([^\s=]*)=(.*)$/s.exec(text) ?? [];
  if (Object.hasOwn(before, language))
    throw new InvalidArgumentError(`${language} has two sentences: give one for each language`);
  return { ...before, [language]: sentence };
}
