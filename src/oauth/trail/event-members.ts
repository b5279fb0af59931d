/**
 * The detail of each kind of event: an object whose members say what the act was about. A name that somebody chose is always
 * the value of a member, so that it passes for nothing else. The column of the trail holds the object as JSON.
 */

/** A changed setting by its name in JSON, with the entries that were removed and added. Both are empty if something else of an entry changed. */
export type SettingChange = {
  readonly name: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
};

/** The types of members. A `time` is ISO 8601 in UTC; a `flag` is true, or absent. */
type Kinds = {
  text: string;
  texts: readonly string[];
  number: number;
  boolean: boolean;
  flag: true;
  time: string;
  changes: readonly SettingChange[];
};

/** The kind of a member, with a question mark if it may be absent. */
type Kind = keyof Kinds | `${keyof Kinds}?`;

const CONSENT = { scopes: 'texts', for_device: 'flag?' } as const;
const PRESENTED = { exchanged_at: 'time?', refreshed_at: 'time?', presented_from: 'text?' } as const;
const NAME = { name: 'text' } as const;
const CHANGES = { changes: 'changes' } as const;
const BY_RESTORE = { by_restore: 'flag?' } as const;
const SIGNING_KEYS = { signing_key: 'text', next_key: 'text' } as const;
const THROUGH = { provider: 'text?', since: 'time?' } as const;
/** A signed text instead of members: `audit-checkpoint.ts` alone reads it. */
const STATEMENT = 'statement';
const NONE = {} as const;

/** The members of each kind of event, in the order in which they are stored. */
export const EVENT_MEMBERS = {
  consent_allowed: CONSENT,
  consent_denied: NONE,
  consent_remembered: CONSENT,
  consent_skipped: CONSENT,
  grant_revoked: { all_of_app: 'flag?', but_for_devices: 'flag?', root_key: 'text?', ...THROUGH, ...BY_RESTORE },
  code_replay: PRESENTED,
  refresh_reuse: PRESENTED,
  refresh_conflict: PRESENTED,
  too_many_grants: { limit: 'number', all_installations: 'flag?' },
  all_grants_revoked: BY_RESTORE,
  client_registered: { ...NAME, document: 'text?', sha256: 'text?' },
  client_updated: CHANGES,
  client_document_refreshed: { ...CHANGES, sha256: 'text' },
  client_keys_refreshed: CHANGES,
  client_secret_rotated: NONE,
  client_secret_retired: NONE,
  client_paused: BY_RESTORE,
  client_resumed: NONE,
  client_grants_revoked: BY_RESTORE,
  client_deleted: NAME,
  hand_over_made: NONE,
  hand_over_fetched: { made_secret: 'boolean' },
  hand_over_ended: { reason: 'text' },
  resource_server_registered: NAME,
  resource_server_updated: CHANGES,
  resource_server_secret_rotated: NONE,
  resource_server_secret_retired: BY_RESTORE,
  resource_server_deleted: NAME,
  scope_defined: { scope: 'text' },
  scope_deleted: { scope: 'text' },
  sign_in: { provider: 'text?', methods: 'texts?' },
  sign_out: NONE,
  wrong_sign_ins: { number: 'number', hour: 'time' },
  user_added: { provider: 'text?', invited: 'flag?' },
  user_imported: NONE,
  user_updated: { fields: 'texts' },
  user_password_set: BY_RESTORE,
  user_invited: NONE,
  password_set_by_invitation: NONE,
  password_changed: { at_sign_in: 'flag?' },
  user_disabled: BY_RESTORE,
  user_enabled: NONE,
  user_sessions_ended: THROUGH,
  user_grants_revoked: BY_RESTORE,
  user_deleted: NONE,
  user_linked: NONE,
  identity_provider_registered: NAME,
  identity_provider_updated: CHANGES,
  identity_provider_secret_rotated: NONE,
  identity_provider_secret_retired: NONE,
  identity_provider_paused: BY_RESTORE,
  identity_provider_resumed: NONE,
  identity_provider_deleted: NAME,
  identity_provider_all_ended: THROUGH,
  sign_in_refused: { reason: 'text?', ...THROUGH },
  sign_in_request_conflict: { reason: 'text' },
  root_key_used: { root_key: 'text' },
  root_key_retired: { root_key: 'text' },
  signing_keys_made: SIGNING_KEYS,
  signing_keys_turned: { ...SIGNING_KEYS, former_key: 'text' },
  signing_keys_replaced: SIGNING_KEYS,
  audit_checkpoint: STATEMENT,
  audit_shortened: STATEMENT,
  database_backed_up: { backup: 'text' },
  database_restored: {
    backup: 'text',
    all_grants_ended: 'boolean',
    later_events: 'number?',
    revived_ended: 'boolean?',
    trail_failed: 'flag?',
  },
  operator_added: { ...NAME, role: 'text' },
  operator_updated: { ...NAME, ...CHANGES },
  operator_disabled: { name: 'text?', ...BY_RESTORE },
  operator_enabled: NAME,
  operator_deleted: NAME,
  operator_reset: NAME,
  operator_sign_in_address_made: NAME,
  operator_passkey_added: { passkey: 'text', enrolled: 'flag?', confirmed: 'flag?' },
  operator_passkey_removed: { passkey: 'text?', ...BY_RESTORE },
  operator_signed_in: { passkey: 'text?', one_time_address: 'flag?' },
  operator_confirmed: { passkey: 'text' },
  operator_signed_out: NONE,
  operator_sessions_ended: { name: 'text?', one_session: 'flag?', by_sign_in: 'flag?' },
  operator_key_added: { ...NAME, key: 'text', key_name: 'text', rights: 'texts' },
  operator_key_ended: { ...NAME, key: 'text', key_name: 'text?' },
  operator_refused: { act: 'text?', passkey: 'text?', reason: 'text' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, Kind>> | typeof STATEMENT>>;

type Action = keyof typeof EVENT_MEMBERS;

type Optional<Described, Member extends keyof Described> = Described[Member] extends `${string}?` ? Member : never;
type ValueOf<Of> = Of extends keyof Kinds
  ? Kinds[Of]
  : Of extends `${infer Base extends keyof Kinds}?`
    ? Kinds[Base]
    : never;
type MembersOf<Described> = {
  readonly [Member in keyof Described as Exclude<Member, Optional<Described, Member>>]: ValueOf<Described[Member]>;
} & { readonly [Member in keyof Described as Optional<Described, Member>]?: ValueOf<Described[Member]> | undefined };

type DetailsOf = {
  readonly [Name in Action]: (typeof EVENT_MEMBERS)[Name] extends typeof STATEMENT
    ? string
    : MembersOf<(typeof EVENT_MEMBERS)[Name]>;
};

/** The detail of an act: its members, or the signed text of a checkpoint or a shortening. */
export type DetailOf<Name extends Action> = DetailsOf[Name];

type Arguments = {
  readonly [Name in Action]: keyof DetailsOf[Name] extends never
    ? []
    : Partial<DetailsOf[Name]> extends DetailsOf[Name]
      ? [detail?: DetailsOf[Name] | undefined]
      : [detail: DetailsOf[Name]];
};

/** The argument for the detail of an act: none, one that may be left out, or one that is needed. */
export type DetailArgument<Name extends Action> = Arguments[Name];

/** The members of a stored event, which another release may have written. */
export type Members = Readonly<Record<string, unknown>>;

/**
 * Returns the text of a detail as it is stored; null without any member. The order of members is that of the table. A lone
 * surrogate would not survive UTF-8, and some readers of JSON take no NUL: both are replaced.
 */
export function detailText(action: Action, detail: DetailOf<Action> | null): string | null {
  if (detail === null || typeof detail === 'string') return detail;
  const known = Object.keys(EVENT_MEMBERS[action]).map((member) => [member, (detail as Members)[member]]);
  const given = known.filter(([, value]) => value !== undefined);
  if (given.length === 0) return null;
  return JSON.stringify(Object.fromEntries(given), (_, value) =>
    typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '\ufffd') : value,
  );
}

/** Returns the members of a stored detail; null for a text that is no JSON object. */
export function readMembers(detail: string | null): Members | null {
  if (!detail?.startsWith('{')) return null;
  try {
    return JSON.parse(detail) as Members;
  } catch {
    return null;
  }
}

/** Returns the changed settings among members; those that another release wrote in another form are left out. */
export function changesIn(members: Members | null): SettingChange[] {
  const changes = members?.['changes'];
  return Array.isArray(changes) ? changes.filter(isChange) : [];
}

function isChange(value: unknown): value is SettingChange {
  const { name, removed, added } = Object(value) as Partial<Record<keyof SettingChange, unknown>>;
  const isList = (entries: unknown) => Array.isArray(entries) && entries.every((entry) => typeof entry === 'string');
  return typeof name === 'string' && isList(removed) && isList(added);
}

/** Returns a member that is a text; null for any other. */
export function textIn(members: Members | null, member: string): string | null {
  const value = members?.[member];
  return typeof value === 'string' ? value : null;
}
