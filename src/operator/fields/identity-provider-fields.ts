/** The settings of an identity provider, each described once. */
import { type IdentityProvider, PROVIDER_RIGHTS } from '../../accounts/people/identity-provider.ts';
import type { Act } from '../access/rights.ts';
import type { IdentityProviderSettings, NewIdentityProvider } from '../products-and-apis/identity-provider-registry.ts';
import { address, addressOrNone, flag, type Members, publicKeys, secondsOrNone, someOf, text } from './field.ts';
import { HAND_OVER } from './hand-over-field.ts';
import { type InJson, readNew, type SettingRow, type Settings, settingRows, settingsJson } from './setting.ts';

/** The act of changes that let another product sign in as anyone, or lead users to another site. */
const TRUST = ['identity-providers.trust', 'always'] as const;

/** The settings of a provider. */
export const PROVIDER_SETTINGS: Settings<IdentityProviderSettings> = {
  name: {
    field: text,
    label: 'Name',
    group: '',
    help: 'The product’s name, as users see it.',
    option: { flag: '--name <name>' },
  },
  signInUrl: {
    field: address,
    label: 'Sign-in address',
    group: '',
    help: 'Where a browser goes to sign in.',
    option: { flag: '--sign-in-url <address>' },
    act: TRUST,
  },
  homePage: {
    field: addressOrNone,
    initial: null,
    label: 'Home page',
    group: '',
    help: 'Where the account pages lead its users back to.',
    option: { flag: '--home-page <url>', no: 'remove the home page' },
    act: ['identity-providers.trust', 'unless default'],
  },
  keys: {
    field: publicKeys,
    initial: [],
    label: 'Public keys',
    group: '',
    help: 'Public keys (JWK or JWK Set): it signs with its own key, and gets no secret.',
    option: { flag: '--jwks <file>', update: 'replace all public keys (JWK or JWK Set)' },
    act: TRUST,
  },
  rights: {
    field: someOf(PROVIDER_RIGHTS),
    initial: ['sign-in'],
    label: 'Rights',
    group: '',
    help: 'Its rights.',
    option: { flag: '--rights <rights>' },
    act: TRUST,
  },
  sessionLifetime: {
    field: secondsOrNone,
    member: 'session',
    initial: null,
    none: '10 min, for one request',
    label: 'A sign-in lasts',
    group: '',
    help: 'How long a sign-in lasts, such as 12h; "default" is 10 minutes, for one request only.',
    option: { flag: '--session <time>' },
  },
};

/** A new provider as a body describes it. `handOver`: no secret now, but an address at which the developer makes it. */
export type NewProvider = NewIdentityProvider & { readonly handOver: boolean };

/** The settings of a new provider; the ID, and whose IDs its accounts have, stay as they are. */
export const NEW_PROVIDER_SETTINGS: Settings<NewProvider> = {
  id: {
    field: text,
    member: 'provider_id',
    label: 'Provider ID',
    group: '',
    help: 'A short ID of your choice: a-z, 0-9 and -; with the subject, it identifies a user.',
    option: { flag: '--id <id>' },
  },
  ...PROVIDER_SETTINGS,
  ownIds: {
    field: flag,
    initial: false,
    label: 'Account IDs',
    group: '',
    help: 'Use its subjects as the IDs of accounts; excludes other providers and passwords.',
    option: { flag: '--own-ids' },
    words: { true: ['the product’s own'], false: ['made by this installation'] },
  },
  handOver: HAND_OVER,
};

/** Returns the further acts that a registration is: of its secret or its address. */
export function actsOfNewProvider(members: Members): Act[] {
  const { keys, handOver } = readNew(NEW_PROVIDER_SETTINGS, members);
  if (handOver) return ['identity-providers.hand-over'];
  return keys.length === 0 ? ['identity-providers.make-secret'] : [];
}

/** Returns the settings for people, with whose IDs the accounts have. */
export function providerRows(provider: IdentityProvider): SettingRow[] {
  return settingRows<Omit<NewIdentityProvider, 'id'>>(
    { ...PROVIDER_SETTINGS, ownIds: NEW_PROVIDER_SETTINGS.ownIds },
    provider,
  );
}

/** The settings in JSON. */
type ProviderSettingsJson = Omit<InJson<IdentityProviderSettings>, 'session_lifetime'> & {
  readonly session: number | null;
};

/** Returns a provider's settings in JSON. */
export function providerSettingsJson(provider: IdentityProvider): ProviderSettingsJson {
  return settingsJson(PROVIDER_SETTINGS, provider) as unknown as ProviderSettingsJson;
}
