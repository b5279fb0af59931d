/** Options that commands share, and readers of values. A reader returns the value, or throws an error with the remedy. */

import { InvalidArgumentError } from 'commander';
import { PROVIDER_RIGHTS, type ProviderRight } from '../accounts/people/identity-provider.ts';
import type { AssertionAudience, ConsentPolicy } from '../oauth/clients/client.ts';
import { PERSON_FIELDS, type PersonField } from '../oauth/grants/person-fields.ts';
import { SCOPE_EFFECTS, type Scope, type ScopeEffect } from '../oauth/grants/scope.ts';
import { readDuration } from '../settings/duration.ts';

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

/** Seconds, or `default` for the installation's own setting. */
export type TimeSetting = number | 'default';

/** The seconds of a setting; null for the installation's own, and without the option. */
export function secondsOf(setting: TimeSetting | undefined): number | null {
  return typeof setting === 'number' ? setting : null;
}

/** Reads a length of time, or the word `default`. */
export function readTimeSetting(text: string): TimeSetting {
  if (text === 'default') return text;
  const seconds = readDuration(text);
  if (seconds === null) throw new InvalidArgumentError('give seconds, a time such as 90s, 30m or 12h, or "default"');
  return seconds;
}

/** Reads what an identity provider may do. */
export function readRights(text: string): readonly ProviderRight[] {
  const rights = text.split(',');
  const known = PROVIDER_RIGHTS.filter((right) => rights.includes(right));
  if (known.length < rights.length) throw new InvalidArgumentError(`give ${PROVIDER_RIGHTS.join(',')} or one of them`);
  return known;
}

/** Reads the effect of a scope, or `none`. */
export function readEffect(text: string): ScopeEffect | 'none' {
  const effect = ([...SCOPE_EFFECTS, 'none'] as const).find((known) => known === text);
  if (effect === undefined) throw new InvalidArgumentError(`give ${SCOPE_EFFECTS.join(', ')} or none`);
  return effect;
}

/** Reads what an app gets of a user. */
export function readPersonFields(text: string): readonly PersonField[] {
  const fields = text === 'none' ? [] : text.split(',');
  const known = PERSON_FIELDS.filter((field) => fields.includes(field));
  if (known.length < fields.length)
    throw new InvalidArgumentError(`give some of ${PERSON_FIELDS.join(',')}, without spaces, or none`);
  return known;
}

/** Reads when users are asked. */
export function readConsent(text: string): ConsentPolicy {
  if (text !== 'ask' && text !== 'remember' && text !== 'skip')
    throw new InvalidArgumentError('give ask, remember or skip');
  return text;
}

/** Reads what an app's assertions may be for. */
export function readAssertionAudience(text: string): AssertionAudience {
  if (text !== 'any' && text !== 'issuer') throw new InvalidArgumentError('give any or issuer');
  return text;
}

/** The scopes of one option so far; false after the option that removes them. */
type ScopesBefore = readonly Scope[] | false;

/** One more scope: `NAME`, or `NAME=Sentence in words`. */
export function readScope(text: string, before: ScopesBefore = []): Scope[] {
  return [...(before || []), scopeOf(text, false)];
}

/** One more scope that users may leave out, in the same form. */
export function readOptionalScope(text: string, before: ScopesBefore = []): Scope[] {
  return [...(before || []), scopeOf(text, true)];
}

function scopeOf(text: string, optional: boolean): Scope {
  const at = text.indexOf('=');
  return at < 0
    ? { name: text, sentence: null, optional }
    : { name: text.slice(0, at), sentence: text.slice(at + 1), optional };
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
