/** The words of the audit trail's actions. */
import type { AuditAction } from '../../../oauth/trail/audit.ts';

const GRANTS = {
  consent_allowed: 'Allowed an app',
  consent_denied: 'Denied an app',
  consent_remembered: 'Allowed an app again, by an earlier consent',
  consent_skipped: 'Allowed an app that needs no consent',
  grant_revoked: 'Ended a grant',
  code_replay: 'Authorization code was used again: grant ended',
  refresh_reuse: 'Old refresh token was used again: grant ended',
  refresh_conflict: 'Refresh token was used in two ways: grant ended',
  too_many_grants: 'Ended the oldest grant: too many',
  all_grants_revoked: 'Ended all grants of the installation',
} as const;

const APPS = {
  client_registered: 'Registered an app',
  client_updated: 'Changed an app',
  client_document_refreshed: 'Read an app’s document again',
  client_keys_refreshed: 'Read an app’s public keys again',
  client_secret_rotated: 'Made a new secret of an app',
  client_secret_retired: 'Retired a secret of an app',
  client_paused: 'Paused an app',
  client_resumed: 'Resumed an app',
  client_grants_revoked: 'Ended all grants of an app',
  client_deleted: 'Deleted an app',
} as const;

const HAND_OVERS = {
  hand_over_made: 'Made a pick-up link',
  hand_over_fetched: 'Used a pick-up link',
  hand_over_ended: 'Ended a pick-up link',
} as const;

const APIS = {
  resource_server_registered: 'Registered an API',
  resource_server_updated: 'Changed an API',
  resource_server_secret_rotated: 'Made a new secret of an API',
  resource_server_secret_retired: 'Retired a secret of an API',
  resource_server_deleted: 'Deleted an API',
} as const;

const SCOPES = {
  scope_defined: 'Defined a scope',
  scope_deleted: 'Deleted a scope’s meaning',
} as const;

const PEOPLE = {
  sign_in: 'Signed in',
  sign_out: 'Signed out',
  wrong_sign_ins: 'Wrong passwords',
  user_added: 'Added a person',
  user_imported: 'Imported a person',
  user_updated: 'Changed a person',
  user_password_set: 'Set a person’s password',
  user_invited: 'Invited a person',
  password_set_by_invitation: 'Set the first password',
  password_changed: 'Changed the password',
  user_disabled: 'Disabled a person',
  user_enabled: 'Enabled a person',
  user_sessions_ended: 'Signed a person out',
  user_grants_revoked: 'Ended all grants of a person',
  user_deleted: 'Deleted a person',
  user_linked: 'Linked a person to a product',
} as const;

const PRODUCTS = {
  identity_provider_registered: 'Registered a product',
  identity_provider_updated: 'Changed a product',
  identity_provider_secret_rotated: 'Made a new secret of a product',
  identity_provider_secret_retired: 'Retired a secret of a product',
  identity_provider_paused: 'Paused a product',
  identity_provider_resumed: 'Resumed a product',
  identity_provider_deleted: 'Deleted a product',
  identity_provider_all_ended: 'Ended all that came through a product',
  sign_in_refused: 'Sign-in through a product was refused',
  sign_in_request_conflict: 'Sign-in request was answered twice',
} as const;

const INSTALLATION = {
  root_key_used: 'Used a new root key',
  root_key_retired: 'Retired a root key',
  audit_checkpoint: 'Signed the audit trail',
  audit_shortened: 'Deleted old events',
  database_backed_up: 'Backed the database up',
  database_restored: 'Restored the database',
} as const;

const OPERATORS = {
  operator_added: 'Added an operator',
  operator_updated: 'Changed an operator',
  operator_disabled: 'Disabled an operator',
  operator_enabled: 'Enabled an operator',
  operator_deleted: 'Deleted an operator',
  operator_reset: 'Reset an operator’s access',
  operator_sign_in_address_made: 'Made a sign-in link of an operator',
  operator_passkey_added: 'Added a passkey',
  operator_passkey_removed: 'Removed a passkey',
  operator_signed_in: 'Signed in to the console',
  operator_confirmed: 'Confirmed with a passkey',
  operator_signed_out: 'Signed out of the console',
  operator_sessions_ended: 'Ended sessions of an operator',
  operator_key_added: 'Added an operator’s key',
  operator_key_ended: 'Ended an operator’s key',
  operator_refused: 'Was refused an action',
} as const;

/** The actions in groups, for a choice. */
export const ACTION_GROUPS: readonly (readonly [group: string, words: Partial<Record<AuditAction, string>>])[] = [
  ['Consent and grants', GRANTS],
  ['Apps', APPS],
  ['Pick-up links', HAND_OVERS],
  ['APIs', APIS],
  ['Scopes', SCOPES],
  ['People', PEOPLE],
  ['Products', PRODUCTS],
  ['Operators', OPERATORS],
  ['The installation', INSTALLATION],
];

/** The words of each action. */
export const ACTION_WORDS: Readonly<Record<AuditAction, string>> = {
  ...GRANTS,
  ...APPS,
  ...HAND_OVERS,
  ...APIS,
  ...SCOPES,
  ...PEOPLE,
  ...PRODUCTS,
  ...INSTALLATION,
  ...OPERATORS,
};
