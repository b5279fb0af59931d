/** The words of events’ details. */
import { type HtmlValue, html } from '../../html.ts';
import { isolated, isolatedCode } from '../../isolated.ts';
import type { Messages } from '../../messages/en.ts';
import { SETTING_WORDS, type SettingWords } from './settings.ts';

/** The words of each named fact. */
const FACT_WORDS = {
  name: 'Name at that time',
  scope: 'Scope',
  scopes: 'Scopes',
  document: 'Metadata document',
  sha256: 'SHA-256 of the document',
  methods: 'Signed in with',
  role: 'Role',
  passkey: 'Passkey',
  key: 'Key',
  'key name': 'Name of the key',
  rights: 'Rights of the key',
  act: 'Refused action',
  reason: 'Reason',
  'root key': 'Root key',
  statement: 'Signed statement',
  backup: 'Backup',
} as const;

/** The words of each field of a person, by its name in JSON. */
const FIELD_WORDS: Readonly<Record<string, string>> = {
  email: 'email address',
  email_verified: 'verification of the email address',
  name: 'name',
  username: 'user name',
  avatar_url: 'picture',
};

/** Details that are told in other words than they are stored in. */
const TEXT_WORDS: Readonly<Record<string, string>> = {
  'by a restore': 'By a restore from a backup',
  'by a restore: all grants': 'By a restore from a backup: all grants of this person for this app',
  'by a restore: all grants but those of devices':
    'By a restore from a backup: all grants of this person for this app, except those of devices',
  'all grants for this client': 'All grants of this person for this app',
  'all grants for this client but those of devices': 'All grants of this person for this app, except those of devices',
  'at a one-time address': 'With a sign-in link',
  enrolled: 'With an enrollment link',
  'one session, by a sign-in in its browser': 'One session: its browser signed in again',
  invited: 'With an invitation link',
  'at sign-in': 'At a sign-in that asked for a new password',
  replaced: 'A newer link replaced it',
  'secret changed': 'The secret was changed meanwhile',
  paused: 'It was paused',
  deleted: 'It was deleted',
  restored: 'A restore from a backup ended it',
  'for a device': 'For a device',
  'a secret was made': 'A secret was made',
  'no secret: it proves itself otherwise': 'No secret was made: it proves itself by keys of its own',
};

/** The beginnings of details that go on with a time, in other words. */
const BEGINNINGS: readonly (readonly [stored: string, words: string])[] = [
  ['exchanged before at ', 'First exchanged: '],
  ['last refreshed before at ', 'Last refreshed: '],
];
const TIME = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z/g;

/** A changed setting, by its name in JSON, with the entries that were removed and added. */
export type ShownChange = {
  readonly name: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
};

/** A detail in its parts; `fields` are those of a person, `text` is a sentence or what nothing reads. */
export type ShownDetail = {
  readonly changes?: readonly ShownChange[];
  readonly fields?: readonly string[];
  readonly facts?: readonly (readonly [fact: keyof typeof FACT_WORDS, value: string])[];
  readonly text?: string;
};

/** Maximum lengths of a value among others, and of a text alone, such as a signature of the trail. */
const [MAX_VALUE, MAX_TEXT] = [320, 2000];
/** Maximum length of all sentences together, with their markup: a page stays below 50 KB. */
const MAX_SENTENCES = 12_000;

/** Returns the sentences of what changed; the last one counts those that are left out. */
export function changeSentences(detail: ShownDetail, messages: Messages): HtmlValue[] {
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
export function shortDetail(detail: ShownDetail, messages: Messages, room = Number.POSITIVE_INFINITY): HtmlValue[] {
  for (let length = SHORT; ; length = Math.floor(length / 2)) {
    const lines = twoLines(detail, messages, length);
    if (length === 1 || Buffer.byteLength(lines.join('')) <= room) return lines;
  }
}

function twoLines(detail: ShownDetail, messages: Messages, length: number): HtmlValue[] {
  const facts = (detail.facts ?? []).filter(([fact, value]) => value !== '' && !LONG.includes(fact));
  const all = [
    ...sentencesOf(detail, messages, { value: length, text: length }),
    ...facts.map(([fact, value]) => html`${FACT_WORDS[fact]}: ${isolated(value, length)}`),
  ];
  return all.length <= 2 ? all : [...all.slice(0, 2), `And ${all.length - 2} more`];
}

/** Maximum length of a value in a row. */
const SHORT = 80;
/** Facts that no row has: a signature is long, and the sentence has the name. */
const LONG: readonly string[] = ['name', 'statement', 'sha256'];

/** Returns the named facts of a detail, without a name that is the present one. */
export function detailFacts({ facts = [] }: ShownDetail, present: string | null): [name: string, value: HtmlValue][] {
  const some = facts.filter(([fact, value]) => fact !== 'name' || value !== present);
  return some.map(([fact, value]) => [FACT_WORDS[fact], value === '' ? 'None' : isolated(value, MAX_TEXT)]);
}

/** Maximum lengths in characters. */
type Lengths = { readonly value: number; readonly text: number };

function sentencesOf(
  { changes = [], fields = [], text = '' }: ShownDetail,
  messages: Messages,
  lengths: Lengths,
): HtmlValue[] {
  return [
    ...changes.flatMap((change) => changeWords(change, messages, lengths.value)),
    ...fields.map((field) => html`Changed the ${wordsIn(FIELD_WORDS, field) ?? isolatedCode(field)}`),
    ...(text === '' ? [] : [wordsIn(TEXT_WORDS, text) ?? isolated(textWords(text, messages), lengths.text)]),
  ];
}

function textWords(text: string, messages: Messages): string {
  const [stored, words] = BEGINNINGS.find(([beginning]) => text.startsWith(beginning)) ?? ['', ''];
  return (
    words +
    text.slice(stored.length).replace(TIME, (time) => {
      const at = Date.parse(time);
      return Number.isNaN(at) ? time : messages.second(at);
    })
  );
}

function changeWords(change: ShownChange, messages: Messages, length: number): HtmlValue[] {
  const { name, removed, added } = change;
  const words = wordsIn(SETTING_WORDS, name);
  if (words === undefined) return [isolated(storedText(change), length)];
  if (words.kind === 'list') {
    const entry = (verb: string) => (value: string) =>
      html`${verb} ${words.one} ${valueWords(words, value, messages, length)}`;
    if (removed.length + added.length === 0) return [`${words.name}: none was added or removed`];
    return [...added.map(entry('Added')), ...removed.map(entry('Removed'))];
  }
  if (removed.length + added.length === 0) return [`${words.name}: unchanged`];
  const one = ([value]: readonly string[]) =>
    value === undefined ? (words.none ?? 'none') : valueWords(words, value, messages, length);
  return [html`${words.name}: ${one(added)} (was ${one(removed)})`];
}

function valueWords(words: SettingWords, value: string, messages: Messages, length: number): HtmlValue {
  if (words.kind === 'seconds' && /^\d{1,12}$/.test(value)) return messages.duration(Number(value));
  return wordsIn(words.values ?? {}, value) ?? isolated(value, length);
}

/** A setting that this release does not know. */
function storedText({ name, removed, added }: ShownChange): string {
  return [name, ...removed.map((value) => `-${value}`), ...added.map((value) => `+${value}`)].join(' ');
}

function wordsIn<Words>(table: Readonly<Record<string, Words>>, name: string): Words | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
