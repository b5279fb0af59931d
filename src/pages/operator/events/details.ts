/** The words of events’ details. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { isolated, isolatedCode } from '../../html/isolated-text.ts';
import type { Messages } from '../../messages/en.ts';

/** The words of each field of a person, by its name in JSON. */
const FIELD_WORDS: Readonly<Record<string, string>> = {
  email: 'email address',
  email_verified: 'verification of the email address',
  name: 'name',
  username: 'user name',
  avatar_url: 'picture',
};

/** A changed setting, by its name in JSON, with the entries that were removed and added. */
export type ShownChange = {
  readonly name: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
};

/** The words of a setting; `values` has those of single values, `none` stands for a missing one. */
type SettingWords = {
  readonly label: string;
  readonly kind: 'value' | 'seconds' | 'list';
  /** The noun of an entry of a list. */
  readonly one: string;
  readonly values: Readonly<Record<string, string>>;
  readonly none: string;
};

/** A part of a detail: a change, a field of a person, a sentence, values under a label, or a text that nothing reads. */
export type ShownPart =
  | { readonly kind: 'change'; readonly change: ShownChange; readonly words: SettingWords | null }
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'sentence'; readonly member: string; readonly words: string }
  | ShownFact
  | { readonly kind: 'stored'; readonly text: string };

type ShownFact = {
  readonly kind: 'fact';
  readonly member: string;
  readonly label: string | null;
  readonly values: readonly string[];
  readonly isTime: boolean;
};

/** Maximum lengths of a value among others, and of a text alone, such as a signature of the trail. */
const MAX_VALUE = 320;
const MAX_TEXT = 2000;
/** Maximum length of all sentences together, with their markup: a page stays below 50 KB. */
const MAX_SENTENCES = 12_000;

/** Returns the sentences of what changed; the last one counts those that are left out. */
export function changeSentences(detail: readonly ShownPart[], messages: Messages): HtmlValue[] {
  const all = sentencesOf(detail, messages, { value: MAX_VALUE, text: MAX_TEXT });
  let room = MAX_SENTENCES;
  const some = all.filter((sentence) => {
    room -= String(sentence).length;
    return room >= 0;
  });
  return some.length === all.length ? all : [...some, `And ${all.length - some.length} more`];
}

/**
 * Returns what a row has room for: at most two lines, and how many more there are. Values are cut until their markup takes
 * `room` bytes at most.
 */
export function shortDetail(
  detail: readonly ShownPart[],
  messages: Messages,
  room = Number.POSITIVE_INFINITY,
): HtmlValue[] {
  for (let length = SHORT; ; length = Math.floor(length / 2)) {
    const lines = twoLines(detail, messages, length);
    if (length === 1 || Buffer.byteLength(lines.join('')) <= room) return lines;
  }
}

function twoLines(detail: readonly ShownPart[], messages: Messages, length: number): HtmlValue[] {
  const facts = detail.filter(isFact).filter(({ member, values }) => values.length > 0 && !LONG.includes(member));
  const all = [
    ...sentencesOf(detail, messages, { value: length, text: length }),
    ...facts.map((fact) => html`${labelOf(fact)}: ${valuesOf(fact, messages, length)}`),
  ];
  return all.length <= 2 ? all : [...all.slice(0, 2), `And ${all.length - 2} more`];
}

/** Maximum length of a value in a row. */
const SHORT = 80;
/** Facts that no row has: a signature is long, and the sentence has the name. */
const LONG: readonly string[] = ['name', 'statement', 'sha256'];

/** Returns the named facts of a detail, without a name that is the present one. */
export function detailFacts(
  detail: readonly ShownPart[],
  present: string | null,
  messages: Messages,
): [name: Html | string, value: HtmlValue][] {
  const facts = detail.filter(isFact).filter(({ member, values }) => member !== 'name' || values[0] !== present);
  return facts.map((fact) => [labelOf(fact), valuesOf(fact, messages, MAX_TEXT)]);
}

function labelOf({ label, member }: ShownFact): Html | string {
  return label ?? isolatedCode(member);
}

function isFact(part: ShownPart): part is ShownFact {
  return part.kind === 'fact';
}

function valuesOf({ values, isTime }: ShownFact, messages: Messages, length: number): HtmlValue {
  const text = values.join(' ');
  const at = Date.parse(values[0] ?? '');
  if (isTime && !Number.isNaN(at)) return messages.second(at);
  return values.length === 0 ? 'None' : isolated(text, length);
}

/** Maximum lengths in characters. */
type Lengths = { readonly value: number; readonly text: number };

function sentencesOf(detail: readonly ShownPart[], messages: Messages, lengths: Lengths): HtmlValue[] {
  return detail.flatMap((part) => {
    if (part.kind === 'change') return changeWords(part, messages, lengths.value);
    if (part.kind === 'field')
      return [html`Changed the ${wordsIn(FIELD_WORDS, part.field) ?? isolatedCode(part.field)}`];
    if (part.kind === 'fact') return [];
    return [part.kind === 'sentence' ? part.words : isolated(part.text, lengths.text)];
  });
}

function changeWords(
  { change, words }: Extract<ShownPart, { kind: 'change' }>,
  messages: Messages,
  length: number,
): HtmlValue[] {
  const { removed, added } = change;
  if (words === null) return [isolated(storedText(change), length)];
  if (words.kind === 'list') {
    const entry = (verb: string) => (value: string) =>
      html`${verb} ${words.one} ${valueWords(words, value, messages, length)}`;
    if (removed.length + added.length === 0) return [`${words.label}: none was added or removed`];
    return [...added.map(entry('Added')), ...removed.map(entry('Removed'))];
  }
  if (removed.length + added.length === 0) return [`${words.label}: unchanged`];
  const one = ([value]: readonly string[]) =>
    value === undefined ? words.none : valueWords(words, value, messages, length);
  return [html`${words.label}: ${one(added)} (was ${one(removed)})`];
}

function valueWords(words: SettingWords, value: string, messages: Messages, length: number): HtmlValue {
  if (words.kind === 'seconds' && /^\d{1,12}$/.test(value)) return messages.duration(Number(value));
  return wordsIn(words.values, value) ?? isolated(value, length);
}

/** A setting that this release does not know. */
function storedText({ name, removed, added }: ShownChange): string {
  return [name, ...removed.map((value) => `-${value}`), ...added.map((value) => `+${value}`)].join(' ');
}

function wordsIn<Words>(table: Readonly<Record<string, Words>>, name: string): Words | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
