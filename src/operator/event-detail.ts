/** Reads the details of audit events: what each act writes there, in parts with names. */
import { BY_RESTORE } from '../oauth/installation/since-backup.ts';
import type { AuditAction, AuditEvent } from '../oauth/trail/audit.ts';
import { ACTS } from './access/rights.ts';
import { jsonName } from './fields/field.ts';
import { CHANGES, readChanges, type SettingChange } from './registration-changes.ts';

/** The name of a fact in a detail. */
export type DetailFact =
  | 'name'
  | 'scope'
  | 'scopes'
  | 'document'
  | 'sha256'
  | 'methods'
  | 'role'
  | 'passkey'
  | 'key'
  | 'key name'
  | 'rights'
  | 'act'
  | 'reason'
  | 'root key'
  | 'statement'
  | 'backup';

/** A detail in its parts. */
export type EventDetail = {
  readonly changes?: readonly SettingChange[];
  /** The names of a person’s changed fields in JSON; the trail has no values of people. */
  readonly fields?: readonly string[];
  readonly facts?: readonly (readonly [fact: DetailFact, value: string])[];
  /** The part that is a sentence already, or that no rule reads: as it is stored. */
  readonly text?: string;
};

/** Reads a detail; null for one that is not as this act writes it. */
type Reader = (detail: string, event: Pick<AuditEvent, 'clientId'>) => EventDetail | null;

/** Returns the detail of an event in parts, whatever it is: another release may have written it. Null without one. */
export function readDetail({
  action,
  detail,
  ...event
}: Pick<AuditEvent, 'action' | 'detail' | 'clientId'>): EventDetail | null {
  if (detail === null) return null;
  if (detail === BY_RESTORE || detail.startsWith(`${BY_RESTORE}: `)) return { text: detail };
  const read = Object.hasOwn(READERS, action) ? READERS[action] : asStored;
  return read(detail, event) ?? asStored(detail);
}

const asStored = (text: string) => ({ text });
const fact = (name: DetailFact) => (detail: string) => ({ facts: [[name, detail]] as const });
const name = fact('name');

const changes: Reader = (detail) => {
  const found = readChanges(detail);
  return found && { changes: found };
};

const consent: Reader = (detail) => {
  const [, device, scopes = ''] = /^(for a device: )?(.*)$/s.exec(detail) ?? [];
  return { facts: [['scopes', scopes]], ...(device !== undefined && { text: 'for a device' }) };
};

/** Only the address that is the app’s id can be that of its document: a name may look like one. */
const registered: Reader = (detail, { clientId }) => {
  const [, before, address = '', sha256 = ''] = /^(.*); from (\S+); sha256 ([0-9a-f]{64})$/s.exec(detail) ?? [];
  if (before === undefined || address !== clientId) return name(detail);
  return {
    facts: [
      ['name', before],
      ['document', address],
      ['sha256', sha256],
    ],
  };
};

const refreshed: Reader = (detail) => {
  const [, before, sha256 = ''] = /^(?:(.*); )?sha256 ([0-9a-f]{64})$/s.exec(detail) ?? [];
  const found = before === undefined ? [] : readChanges(before);
  return found && sha256 !== '' ? { changes: found, facts: [['sha256', sha256]] } : null;
};

const fields: Reader = (detail) =>
  /^[a-zA-Z]+(, [a-zA-Z]+)*$/.test(detail) ? { fields: detail.split(', ').map(jsonName) } : null;

const signedIn: Reader = (detail) => {
  const [, methods] = /^by \S+((?: \S+)*)$/.exec(detail) ?? [];
  return methods === undefined ? null : { facts: methods === '' ? [] : [['methods', methods.trim()]] };
};

const added = named(/(?<role>read|support|admin)/, ({ role = '' }) => ({ facts: [['role', role]] }));
const updated = named(new RegExp(`(?<text>${CHANGES})`), ({ text = '' }) => changes(text, { clientId: null }));
const keyAdded = named(/(?<id>opk_\S+) (?<key>.*): (?<rights>[^:]*)/, ({ id = '', key = '', rights = '' }) => ({
  facts: [
    ['key', id],
    ['key name', key],
    ['rights', rights],
  ],
}));
const keyEnded = named(/(?<id>opk_\S+)(?: (?<key>.*))?/, ({ id = '', key }) => ({
  facts: [['key', id], ...(key === undefined ? [] : ([['key name', key]] as const))],
}));

/** Details about an operator begin with the name; the last place that fits counts, because a name may look like the rest. */
function named(rest: RegExp, read: (groups: Partial<Record<string, string>>) => EventDetail | null): Reader {
  const whole = new RegExp(`^(?<operator>.*): ${rest.source}$`, 's');
  return (detail) => {
    const groups = whole.exec(detail)?.groups;
    const found = groups && read(groups);
    return found ? { ...found, facts: [['name', groups?.['operator'] ?? ''], ...(found.facts ?? [])] } : null;
  };
}

const sessionsEnded: Reader = (detail) => (detail.startsWith('one session') ? asStored(detail) : name(detail));
const operatorSignedIn: Reader = (detail) =>
  detail === 'at a one-time address' ? asStored(detail) : fact('passkey')(detail);

const passkeyAdded: Reader = (detail) => {
  const [, passkey] = /^(.*), at a one-time address$/s.exec(detail) ?? [];
  return passkey === undefined ? fact('passkey')(detail) : { facts: [['passkey', passkey]], text: 'enrolled' };
};

const refused: Reader = (detail) => {
  const [, act = '', reason = ''] = /^([a-z.-]+): (.*)$/.exec(detail) ?? [];
  return Object.hasOwn(ACTS, act)
    ? {
        facts: [
          ['act', act],
          ['reason', reason],
        ],
      }
    : null;
};

/** The reader of each act’s details. */
const READERS: Readonly<Record<AuditAction, Reader>> = {
  consent_allowed: consent,
  consent_denied: asStored,
  consent_remembered: consent,
  consent_skipped: consent,
  grant_revoked: asStored,
  code_replay: asStored,
  refresh_reuse: asStored,
  refresh_conflict: asStored,
  too_many_grants: asStored,
  all_grants_revoked: asStored,
  client_registered: registered,
  client_updated: changes,
  client_document_refreshed: refreshed,
  client_keys_refreshed: changes,
  client_secret_rotated: asStored,
  client_secret_retired: asStored,
  client_paused: asStored,
  client_resumed: asStored,
  client_grants_revoked: asStored,
  client_deleted: name,
  hand_over_made: asStored,
  hand_over_fetched: asStored,
  hand_over_ended: asStored,
  resource_server_registered: name,
  resource_server_updated: changes,
  resource_server_secret_rotated: asStored,
  resource_server_secret_retired: asStored,
  resource_server_deleted: name,
  scope_defined: fact('scope'),
  scope_deleted: fact('scope'),
  sign_in: signedIn,
  sign_out: asStored,
  wrong_sign_ins: asStored,
  user_added: asStored,
  user_imported: asStored,
  user_updated: fields,
  user_password_set: asStored,
  user_invited: asStored,
  password_set_by_invitation: asStored,
  password_changed: asStored,
  user_disabled: asStored,
  user_enabled: asStored,
  user_sessions_ended: asStored,
  user_grants_revoked: asStored,
  user_deleted: asStored,
  user_linked: asStored,
  identity_provider_registered: name,
  identity_provider_updated: changes,
  identity_provider_secret_rotated: asStored,
  identity_provider_secret_retired: asStored,
  identity_provider_paused: asStored,
  identity_provider_resumed: asStored,
  identity_provider_deleted: name,
  identity_provider_all_ended: asStored,
  sign_in_refused: asStored,
  sign_in_request_conflict: asStored,
  root_key_used: fact('root key'),
  root_key_retired: fact('root key'),
  audit_checkpoint: fact('statement'),
  audit_shortened: fact('statement'),
  database_backed_up: fact('backup'),
  database_restored: fact('backup'),
  operator_added: added,
  operator_updated: updated,
  operator_disabled: name,
  operator_enabled: name,
  operator_deleted: name,
  operator_reset: name,
  operator_sign_in_address_made: name,
  operator_passkey_added: passkeyAdded,
  operator_passkey_removed: fact('passkey'),
  operator_signed_in: operatorSignedIn,
  operator_confirmed: fact('passkey'),
  operator_signed_out: asStored,
  operator_sessions_ended: sessionsEnded,
  operator_key_added: keyAdded,
  operator_key_ended: keyEnded,
  operator_refused: refused,
};
