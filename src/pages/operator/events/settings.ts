/** The words of settings in the audit trail, as the forms call them, by their names in JSON. */

/**
 * The words of a setting: its name, and of a list the noun of an entry. `values` has words of single values, `none` stands for a
 * missing one. A value of `seconds` is a duration.
 */
export type SettingWords = {
  readonly name: string;
  readonly kind: 'value' | 'seconds' | 'list';
  readonly one?: string;
  readonly values?: Readonly<Record<string, string>>;
  readonly none?: string;
};

const value = (name: string, more: Partial<SettingWords> = {}): SettingWords => ({ name, kind: 'value', ...more });
const flag = (name: string) => value(name, { values: { true: 'yes', false: 'no' } });
const seconds = (name: string): SettingWords => ({ name, kind: 'seconds', none: 'the default' });
const list = (name: string, one: string, values: Readonly<Record<string, string>> = {}): SettingWords => ({
  ...{ name, kind: 'list', one, values },
});

/** The words of each setting of apps, APIs, products and operators. */
export const SETTING_WORDS: Readonly<Record<string, SettingWords>> = {
  name: value('Name'),
  publisher: value('Publisher'),
  homepage: value('Homepage'),
  privacy_page: value('Privacy page'),
  contact: value('Contact'),
  is_checked: flag('Publisher checked'),
  redirect_uris: list('Redirect URIs', 'redirect URI'),
  scopes: list('Scopes', 'scope'),
  default_resource: value('Default resource'),
  person_fields: list('What the app sees of a user', 'profile field', {
    ...{ name: 'name', username: 'user name', email: 'email address', avatar_url: 'picture' },
  }),
  require_pkce: flag('Require PKCE'),
  refresh_overlap: seconds('Refresh overlap'),
  refresh_retry_window: seconds('Refresh retry window'),
  keys: list('Public keys', 'public key'),
  consent: value('Consent', {
    values: { ask: 'ask the user each time', remember: 'remember what a user allowed', skip: 'never ask' },
  }),
  device_flow: flag('Device flow'),
  assertion_audience: value('Audience of assertions', {
    values: { any: 'any name of this service', issuer: 'only the issuer' },
  }),
  sees_external_id: flag('The app sees the ID that users have at their product'),
  type: value('Kind', { values: { confidential: 'a server with a secret', public: 'an app without a secret' } }),
  jwks_uri: value('Address of the public keys'),
  resource: value('Resource'),
  accepts_unbound: flag('Accepts unbound tokens'),
  sign_in_url: value('Sign-in address'),
  rights: list('Rights', 'right'),
  session_lifetime: seconds('Duration of a sign-in'),
  role: value('Role'),
};
