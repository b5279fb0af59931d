/** The words of the audit trail's actions. */
import type { AuditAction } from '../../../oauth/trail/audit.ts';

/** The nouns of the things that a phrase names. */
export type Noun = 'an app' | 'an API' | 'a product' | 'an operator' | 'a person';

/**
 * The phrase of each action, behind the actor’s name. A noun in braces stands for the event’s thing of that kind; with words before
 * it, it is left out where that thing is the actor.
 */
const GRANTS = {
  consent_allowed: 'allowed {an app}',
  consent_denied: 'denied {an app}',
  consent_remembered: 'allowed {an app} again, by an earlier consent',
  consent_skipped: 'allowed {an app}, which needs no consent',
  grant_revoked: 'ended a grant{ of a person} for {an app}',
  code_replay: 'used an authorization code again, and its grant{ of a person} ended',
  refresh_reuse: 'used an old refresh token again, and its grant{ of a person} ended',
  refresh_conflict: 'used a refresh token in two ways, and its grant{ of a person} ended',
  too_many_grants: 'had too many grants{ of a person}, and the oldest one ended',
  all_grants_revoked: 'ended all grants of the installation',
} as const;

const APPS = {
  client_registered: 'registered {an app}',
  client_updated: 'changed the settings of {an app}',
  client_document_refreshed: 'read the metadata document of {an app} again',
  client_keys_refreshed: 'read the public keys of {an app} again',
  client_secret_rotated: 'made a new secret of {an app}',
  client_secret_retired: 'retired a secret of {an app}',
  client_paused: 'paused {an app}',
  client_resumed: 'resumed {an app}',
  client_grants_revoked: 'ended all grants for {an app}',
  client_deleted: 'deleted {an app}',
} as const;

const LINKS = {
  hand_over_made: 'made a pick-up link for {an app}',
  hand_over_fetched: 'used the pick-up link of {an app}',
  hand_over_ended: 'ended the pick-up link of {an app}',
} as const;

const APIS = {
  resource_server_registered: 'registered {an API}',
  resource_server_updated: 'changed the settings of {an API}',
  resource_server_secret_rotated: 'made a new secret of {an API}',
  resource_server_secret_retired: 'retired a secret of {an API}',
  resource_server_deleted: 'deleted {an API}',
} as const;

const SCOPES = {
  scope_defined: 'defined a scope',
  scope_deleted: 'deleted the definition of a scope',
} as const;

const PEOPLE = {
  sign_in: 'signed in',
  sign_out: 'signed out',
  wrong_sign_ins: 'entered wrong passwords of {a person}',
  user_added: 'added {a person}',
  user_imported: 'imported {a person}',
  user_updated: 'changed the profile of {a person}',
  user_password_set: 'set a password of {a person}',
  user_invited: 'made an invitation link for {a person}',
  password_set_by_invitation: 'set a password with an invitation link',
  password_changed: 'changed the password',
  user_disabled: 'disabled {a person}',
  user_enabled: 'enabled {a person}',
  user_sessions_ended: 'signed {a person} out everywhere',
  user_grants_revoked: 'ended all grants of {a person}',
  user_deleted: 'deleted {a person}',
  user_linked: 'linked {a person} to {a product}',
} as const;

const PRODUCTS = {
  identity_provider_registered: 'registered {a product}',
  identity_provider_updated: 'changed the settings of {a product}',
  identity_provider_secret_rotated: 'made a new secret of {a product}',
  identity_provider_secret_retired: 'retired a secret of {a product}',
  identity_provider_paused: 'paused {a product}',
  identity_provider_resumed: 'resumed {a product}',
  identity_provider_deleted: 'deleted {a product}',
  identity_provider_all_ended: 'ended everything that came through {a product}',
  sign_in_refused: 'was refused a sign-in{ of a person} at {a product}',
  sign_in_request_conflict: 'sent a sign-in request that belongs to somebody else',
} as const;

const INSTALLATION = {
  root_key_used: 'took a new root key into use',
  root_key_retired: 'retired a root key',
  signing_keys_made: 'made the first keys for ID tokens',
  signing_keys_turned: 'let the next key sign ID tokens',
  signing_keys_replaced: 'replaced the keys for ID tokens',
  audit_checkpoint: 'signed the audit trail',
  audit_shortened: 'deleted old events',
  database_backed_up: 'backed the database up',
  database_restored: 'restored the database from a backup',
} as const;

const OPERATORS = {
  operator_added: 'added {an operator}',
  operator_updated: 'changed {an operator}',
  operator_disabled: 'disabled {an operator}',
  operator_enabled: 'enabled {an operator}',
  operator_deleted: 'deleted {an operator}',
  operator_reset: 'reset the access of {an operator}',
  operator_sign_in_address_made: 'made a sign-in link for {an operator}',
  operator_passkey_added: 'added a passkey{ of an operator}',
  operator_passkey_removed: 'removed a passkey{ of an operator}',
  operator_signed_in: 'signed in to the console',
  operator_confirmed: 'confirmed with a passkey',
  operator_signed_out: 'signed out of the console',
  operator_sessions_ended: 'ended console sessions{ of an operator}',
  operator_key_added: 'added a key{ of an operator}',
  operator_key_ended: 'ended a key{ of an operator}',
  operator_refused: 'was refused an action',
} as const;

const PHRASES: Readonly<Record<AuditAction, string>> = {
  ...GRANTS,
  ...APPS,
  ...LINKS,
  ...APIS,
  ...SCOPES,
  ...PEOPLE,
  ...PRODUCTS,
  ...INSTALLATION,
  ...OPERATORS,
};

/** The phrase of `user_added` where its detail has `invited`. */
const INVITED = 'invited {a person}';
/** The words of a choice, where an action has two phrases. */
const CHOICES: Partial<Record<AuditAction, string>> = { user_added: 'Added or invited a person' };

const THING = /\{([^}]*?)(an app|an API|a product|an operator|a person)\}/g;

/**
 * Returns the phrase of an action with the words of its things; `words` gets the words before a noun too. The name of an action that this release does not know stays as it is.
 */
export function phraseOf<Words>(
  action: string,
  words: (before: string, noun: Noun) => Words,
  isInvited = false,
): readonly (string | Words)[] {
  const phrase = Object.hasOwn(PHRASES, action) ? PHRASES[action as AuditAction] : action;
  // A split by a pattern with two groups returns text, before, noun, text, before, noun, …, text.
  const parts = (action === 'user_added' && isInvited ? INVITED : phrase).split(THING);
  return parts.flatMap((part, at): readonly (string | Words)[] =>
    at % 3 === 0 ? [part] : at % 3 === 1 ? [words(part, parts[at + 1] as Noun)] : [],
  );
}

/** Returns the words of an action without an event. */
export function actionWords(action: string): string {
  const choice = CHOICES[action as AuditAction];
  if (choice !== undefined) return choice;
  const words = phraseOf(action, (before, noun) => before + noun).join('');
  return Object.hasOwn(PHRASES, action) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
}

/** The actions in groups, for a choice. */
export const ACTION_GROUPS: readonly (readonly [group: string, actions: readonly string[]])[] = (
  [
    ['Consent and grants', GRANTS],
    ['Apps', APPS],
    ['Pick-up links', LINKS],
    ['APIs', APIS],
    ['Scopes', SCOPES],
    ['People', PEOPLE],
    ['Products', PRODUCTS],
    ['Operators', OPERATORS],
    ['The installation', INSTALLATION],
  ] as const
).map(([group, phrases]) => [group, Object.keys(phrases)]);
