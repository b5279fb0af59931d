/** The settings of an app in JSON, for registering and changing it over HTTP. */
import type { ClientType } from '../../oauth/clients/client.ts';
import { PERSON_FIELDS } from '../../oauth/grants/person-fields.ts';
import type { Scope } from '../../oauth/grants/scope.ts';
import type { Act } from '../access/rights.ts';
import { type ClientSettings, DEFAULT_SETTINGS, type NewClientSettings } from '../client-settings.ts';
import {
  type Field,
  type Fields,
  flag,
  isListOf,
  isObject,
  type Members,
  oneOf,
  publicKeys,
  readFields,
  requireMembers,
  secondsOrNone,
  someOf,
  text,
  textOrNone,
  texts,
} from './field.ts';

/** A scope by its name, or as an object; without a sentence, the definition of the installation is shown. */
const scopes: Field<readonly Scope[]> = {
  type: 'a list of names, or of objects with name, sentence (a string or null) and optional (true or false)',
  read: (value) => (isListOf(value, isScope) ? (value as (string | Partial<Scope>)[]).map(scopeOf) : undefined),
  none: [],
};

const CLIENT_FIELDS: Fields<ClientSettings> = {
  name: text,
  publisher: textOrNone,
  homepage: textOrNone,
  privacyPage: textOrNone,
  contact: textOrNone,
  isChecked: flag(DEFAULT_SETTINGS.isChecked),
  redirectUris: texts,
  scopes,
  defaultResource: textOrNone,
  personFields: someOf(PERSON_FIELDS, DEFAULT_SETTINGS.personFields),
  requirePkce: flag(DEFAULT_SETTINGS.requirePkce),
  refreshOverlap: secondsOrNone,
  refreshRetryWindow: secondsOrNone,
  keys: publicKeys,
  consent: oneOf(['ask', 'remember', 'skip'], DEFAULT_SETTINGS.consent),
  deviceFlow: flag(DEFAULT_SETTINGS.deviceFlow),
  assertionAudience: oneOf(['any', 'issuer'], DEFAULT_SETTINGS.assertionAudience),
  seesExternalId: flag(DEFAULT_SETTINGS.seesExternalId),
};

/** A new app as a body describes it. `handOver`: no secret now, but an address at which the developer makes it. */
export type NewClient = {
  readonly type: ClientType;
  readonly settings: NewClientSettings;
  readonly handOver: boolean;
};

const NEW_CLIENT_FIELDS = {
  ...CLIENT_FIELDS,
  type: oneOf<ClientType, ClientType>(['confidential', 'public'], 'confidential'),
  handOver: flag(false),
};

/** Reads a new app. Throws `OperatorError`. */
export function readNewClient(members: Members): NewClient {
  requireMembers(members, ['name']);
  const { type = 'confidential', handOver = false, ...settings } = readFields(NEW_CLIENT_FIELDS, members);
  return { type, handOver, settings: settings as NewClientSettings };
}

/** Reads the settings that a merge patch changes (RFC 7396). Throws `OperatorError`. */
export function readClientChanges(members: Members): Partial<ClientSettings> {
  return readFields(CLIENT_FIELDS, members);
}

/** Returns the further acts that a registration is: of settings that make trust, and of its secret or its address. */
export function actsOfNewClient({ type, settings, handOver }: NewClient): Act[] {
  const makesSecret = type === 'confidential' && (settings.keys ?? []).length === 0 && !handOver;
  return [
    ...actsOfSettings({ ...settings, keys: settings.keys?.length ? settings.keys : undefined }, []),
    ...(makesSecret ? (['clients.make-secret'] as const) : []),
    ...(handOver ? (['clients.hand-over'] as const) : []),
  ];
}

/**
 * Returns the further act that a change of scopes is, if it changes what users are told: an app's own sentence hides the
 * catalogue's. `had` are the scopes that the app has, in the row that the write replaces.
 */
export function actsOfScopes(scopes: readonly Scope[] | undefined, had: readonly Scope[]): Act[] {
  const own = new Map(had.map(({ name, sentence }) => [name, sentence]));
  const isTold = (scopes ?? []).some(({ name, sentence }) => sentence !== (own.get(name) ?? null));
  return isTold ? ['scopes.set-sentences'] : [];
}

/**
 * Returns the further acts that a change of these settings is. Without the scopes that the app `had`, those of `actsOfScopes` are
 * left to the caller.
 */
export function actsOfSettings(
  changes: {
    readonly [Name in 'isChecked' | 'consent' | 'keys' | 'scopes']?: ClientSettings[Name] | undefined;
  },
  had: readonly Scope[] | null = null,
): Act[] {
  return [
    ...(changes.isChecked ? (['clients.vouch'] as const) : []),
    ...(changes.consent !== undefined && changes.consent !== 'ask' ? (['clients.set-consent'] as const) : []),
    ...(changes.keys === undefined ? [] : (['clients.set-keys'] as const)),
    ...(had === null ? [] : actsOfScopes(changes.scopes, had)),
  ];
}

function isScope(value: unknown): boolean {
  if (typeof value === 'string') return true;
  if (!isObject(value) || typeof value['name'] !== 'string') return false;
  const { name: _, sentence = null, optional = false, ...others } = value;
  const isSentence = sentence === null || typeof sentence === 'string';
  return isSentence && typeof optional === 'boolean' && Object.keys(others).length === 0;
}

function scopeOf(said: string | Partial<Scope>): Scope {
  const { name = '', sentence = null, optional = false } = typeof said === 'string' ? { name: said } : said;
  return { name, sentence, optional };
}
