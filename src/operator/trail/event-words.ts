/** The words of events’ details, made from their members: for the console in parts, for commands and API in one text. */
import type { AuditAction } from '../../oauth/trail/audit.ts';
import {
  changesIn,
  EVENT_MEMBERS,
  type Members,
  readMembers,
  type SettingChange,
} from '../../oauth/trail/event-members.ts';
import { type SettingWords, settingWords } from '../fields/setting-words.ts';

/** A part of a detail: a change, a sentence of ours, values under a label, or a text that nothing reads. */
export type EventPart =
  | { readonly kind: 'change'; readonly change: SettingChange; readonly words: SettingWords | null }
  /** A changed field of a person, by its name in JSON; the trail has no values of people. */
  | { readonly kind: 'field'; readonly field: string }
  | { readonly kind: 'sentence'; readonly member: string; readonly words: string }
  | {
      readonly kind: 'fact';
      readonly member: string;
      /** Null for a member that this release does not know. */
      readonly label: string | null;
      readonly values: readonly string[];
      /** True for a value that is a time. */
      readonly isTime: boolean;
    }
  | { readonly kind: 'stored'; readonly text: string };

type MembersOf<Described> = Described extends string ? never : keyof Described;
type MemberName = { [Action in AuditAction]: MembersOf<(typeof EVENT_MEMBERS)[Action]> }[AuditAction];

/** The label of each member, or the sentences of one that is true or false. */
const WORDS: Readonly<Record<Exclude<MemberName, 'changes' | 'fields'>, string | readonly [yes: string, no?: string]>> =
  {
    act: 'Refused action',
    all_grants_ended: ['All grants ended', 'Grants go on, and codes ended'],
    all_installations: ['All installations of the app share the limit'],
    all_of_app: ['All grants of this person for this app'],
    at_sign_in: ['At a sign-in that asked for a new password'],
    backup: 'Backup',
    but_for_devices: ['Grants of devices go on'],
    by_restore: ['By a restore from a backup'],
    by_sign_in: ['Its browser signed in again'],
    confirmed: ['And confirmed an act with it'],
    document: 'Metadata document',
    enrolled: ['With an enrollment link'],
    exchanged_at: 'First exchanged',
    for_device: ['For a device'],
    former_key: 'Former key',
    hour: 'In the hour from',
    invited: ['With an invitation link'],
    key: 'Key',
    key_name: 'Name of the key',
    later_events: 'Later events that were read',
    limit: 'Limit of grants',
    made_secret: ['A secret was made', 'No secret was made: it proves itself by keys of its own'],
    methods: 'Signed in with',
    name: 'Name at that time',
    next_key: 'Next key',
    number: 'Wrong passwords',
    one_session: ['One session'],
    one_time_address: ['With a sign-in link'],
    passkey: 'Passkey',
    presented_from: 'From the address, that time',
    provider: 'Product',
    reason: 'Reason',
    refreshed_at: 'Last refreshed',
    revived_ended: ['What came back to life was taken away', 'What came back to life was left'],
    rights: 'Rights of the key',
    role: 'Role',
    root_key: 'Root key',
    scope: 'Scope',
    scopes: 'Scopes',
    sha256: 'SHA-256 of the document',
    signing_key: 'Signing key',
    since: 'Since',
    trail_failed: ['The later events had failed their verification'],
  };

/** Reasons that are told in other words than they are stored in. */
const REASONS: Readonly<Record<string, string>> = {
  replaced: 'A newer link replaced it',
  'secret changed': 'The secret was changed meanwhile',
  paused: 'It was paused',
  deleted: 'It was deleted',
  restored: 'A restore from a backup ended it',
};

/** Returns the parts of a stored detail, whatever it is: another release may have written it. */
export function eventParts({
  action,
  detail,
}: {
  readonly action: string;
  readonly detail: string | null;
}): EventPart[] {
  if (detail === null) return [];
  const members = readMembers(detail);
  if (members !== null) return Object.entries(members).flatMap(([member, value]) => partsOf(member, value, members));
  return isStatement(action) ? [fact('statement', 'Signed statement', [detail])] : [{ kind: 'stored', text: detail }];
}

/**
 * Returns a stored detail in a few words on one line; null without one. A value that could pass for the words around it is a
 * JSON string.
 */
export function eventWords(event: { readonly action: string; readonly detail: string | null }): string | null {
  if (readMembers(event.detail) === null) return event.detail;
  const parts = eventParts(event);
  const [first, ...others] = parts;
  if (first?.kind === 'fact' && others.length === 0) return valuesText(first.values);
  return parts.map(wordsOf).join(first?.kind === 'field' ? ', ' : '; ');
}

/** Returns a changed setting in one line: removed entries with `-`, added ones with `+`. */
export function changeText({ name, removed, added }: SettingChange): string {
  return [name, ...removed.map((entry) => `-${quoted(entry)}`), ...added.map((entry) => `+${quoted(entry)}`)].join(' ');
}

function isStatement(action: string): boolean {
  return Object.hasOwn(EVENT_MEMBERS, action) && typeof EVENT_MEMBERS[action as AuditAction] === 'string';
}

function partsOf(member: string, value: unknown, members: Members): EventPart[] {
  if (member === 'changes' && Array.isArray(value)) {
    const changes = changesIn(members);
    if (changes.length === value.length)
      return changes.map((change) => ({ kind: 'change', change, words: settingWords(change.name) }));
  }
  if (member === 'fields' && isTexts(value)) return value.map((field) => ({ kind: 'field', field }));
  const words = Object.hasOwn(WORDS, member) ? WORDS[member as keyof typeof WORDS] : undefined;
  if (typeof words === 'object') {
    const sentence = value === true ? words[0] : value === false ? words[1] : undefined;
    if (sentence !== undefined) return [{ kind: 'sentence', member, words: sentence }];
  }
  if (member === 'reason' && typeof value === 'string' && Object.hasOwn(REASONS, value))
    return [{ kind: 'sentence', member, words: REASONS[value] as string }];
  const label = typeof words === 'string' ? words : null;
  return [fact(member, label, isTexts(value) ? value : [typeof value === 'string' ? value : JSON.stringify(value)])];
}

const TIMES: readonly string[] = ['exchanged_at', 'refreshed_at', 'hour', 'since'];

function fact(member: string, label: string | null, values: readonly string[]): EventPart {
  return { kind: 'fact', member, label, values, isTime: TIMES.includes(member) };
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

function wordsOf(part: EventPart): string {
  switch (part.kind) {
    case 'change':
      return changeText(part.change);
    case 'field':
      return quoted(part.field);
    case 'sentence':
      return part.words;
    case 'fact':
      return `${part.label ?? quoted(part.member)}: ${valuesText(part.values)}`;
    case 'stored':
      return part.text;
  }
}

function valuesText(values: readonly string[]): string {
  return values.map(quoted).join(' ') || 'none';
}

function quoted(entry: string): string {
  return /^[^\s";]+$/.test(entry) ? entry : JSON.stringify(entry);
}
