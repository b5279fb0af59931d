/** The settings of an app, each described once. */
import type { Client, ClientSettings, ClientType } from '../../oauth/clients/client.ts';
import { PERSON_FIELDS } from '../../oauth/grants/person-fields.ts';
import type { Scope } from '../../oauth/grants/scope.ts';
import type { Act } from '../access/rights.ts';
import {
  addressOrNone,
  type Field,
  flag,
  isListOf,
  isObject,
  type Members,
  oneOf,
  pageOrNone,
  publicKeys,
  type Schema,
  secondsOrNone,
  someOf,
  text,
  textOrNone,
  texts,
} from './field.ts';
import { HAND_OVER } from './hand-over-field.ts';
import { actsOf, readNew, type SettingRow, type Settings, settingRows } from './setting.ts';

/** A scope by its name, or as an object; without a sentence, the definition of the installation is shown. */
const scopes: Field<readonly Scope[]> = {
  kind: 'scopes',
  type: 'a list of names, or of objects with name, sentence (a string or null) and optional (true or false)',
  read: (value) => (isListOf(value, isScope) ? (value as (string | Partial<Scope>)[]).map(scopeOf) : undefined),
  schema: { type: 'array', items: scopeSchema(['name', 'sentence', 'optional']) },
  accepts: {
    type: 'array',
    items: { anyOf: [text.schema, scopeSchema(['name'])] },
    description: 'An own sentence that is new, changed or removed, by null or with its scope, needs `scopes.trust`.',
  },
};

const APP = 'The app';
const ACCESS = 'What the app may see and do';
const PUBLISHER = 'Its publisher';
const FURTHER = 'Further settings';

/** The headings of an app's settings, in the order of a form. */
export const CLIENT_GROUPS = [APP, ACCESS, PUBLISHER, FURTHER];

/** The settings of an app. */
export const CLIENT_SETTINGS: Settings<ClientSettings> = {
  name: {
    field: text,
    label: 'Name',
    group: APP,
    help: 'The app’s name, as users see it.',
    option: { flag: '--name <name>' },
  },
  publisher: {
    field: textOrNone,
    initial: null,
    none: 'not named',
    label: 'Publisher',
    group: PUBLISHER,
    help: 'The maker of the app, as users see it.',
    option: { flag: '--publisher <name>', no: 'remove the publisher' },
  },
  homepage: {
    field: pageOrNone,
    initial: null,
    label: 'Homepage',
    group: PUBLISHER,
    help: 'The app’s web page.',
    option: { flag: '--homepage <url>', no: 'remove the homepage' },
  },
  privacyPage: {
    field: pageOrNone,
    initial: null,
    label: 'Privacy page',
    group: PUBLISHER,
    help: 'The app’s privacy page.',
    option: { flag: '--privacy <url>', no: 'remove the privacy page' },
  },
  contact: {
    field: addressOrNone,
    initial: null,
    label: 'Contact',
    group: PUBLISHER,
    help: 'The contact for users: an email address, or an https address.',
    option: { flag: '--contact <address>', no: 'remove the contact' },
  },
  isChecked: {
    field: flag,
    initial: false,
    label: 'Publisher checked',
    group: PUBLISHER,
    help: 'You verified the publisher, and that it owns the redirect hosts; users see this, and a change of these, the name, a page or the contact removes it.',
    option: { flag: '--checked', no: 'you no longer vouch for it' },
    act: ['clients.vouch', 'unless default'],
  },
  redirectUris: {
    field: texts,
    initial: [],
    none: 'none',
    label: 'Redirect URIs',
    group: APP,
    help: 'Where users return to the app, exactly as the app sends it: https, or http on loopback such as 127.0.0.1.',
    option: {
      flag: '--redirect-uri <uri...>',
      register: 'where users return to the app; repeatable; not needed with --device',
    },
  },
  scopes: {
    field: scopes,
    initial: [],
    none: 'none',
    label: 'Scopes',
    group: ACCESS,
    help: 'The app may ask users for these. If you mark one as optional, users may leave it out.',
  },
  defaultResource: {
    field: addressOrNone,
    initial: null,
    label: 'Default resource',
    group: FURTHER,
    help: 'The API to which tokens are bound when the app names none; /v2/me still accepts them.',
    option: { flag: '--default-resource <url>', no: 'leave tokens unbound when the app names no resource' },
  },
  personFields: {
    field: someOf(PERSON_FIELDS),
    initial: PERSON_FIELDS,
    none: 'only an ID',
    label: 'Profile fields',
    group: ACCESS,
    help: 'The user data that the app gets besides an ID, whatever the scopes.',
    option: { flag: '--person-fields <list>' },
    words: { name: ['name'], username: ['user name'], email: ['email address'], avatar_url: ['picture'] },
  },
  requirePkce: {
    field: flag,
    initial: false,
    label: 'PKCE',
    group: FURTHER,
    help: 'Refuse requests without PKCE (always for a public app).',
    option: { flag: '--require-pkce', no: 'accept requests without PKCE' },
    words: { true: ['required'], false: ['optional'] },
  },
  refreshOverlap: {
    field: secondsOrNone,
    initial: null,
    none: 'the default',
    label: 'Refresh overlap',
    group: FURTHER,
    help: 'How long the previous refresh token still gets the current pair.',
    option: { flag: '--refresh-overlap <time>' },
  },
  refreshRetryWindow: {
    field: secondsOrNone,
    initial: null,
    none: 'the default',
    label: 'Refresh retry window',
    group: FURTHER,
    help: 'The same, while the current pair is unused.',
    option: { flag: '--refresh-retry-window <time>' },
  },
  keys: {
    field: publicKeys,
    initial: [],
    none: 'none',
    label: 'Public keys',
    group: FURTHER,
    help: 'Public keys (JWK or JWK Set): the app signs with its own key, and gets no secret.',
    option: {
      flag: '--jwks <file>',
      update: 'replace all public keys (JWK or JWK Set); a secret stays valid',
      no: 'remove all public keys',
    },
    act: ['clients.set-keys', 'always'],
  },
  consent: {
    field: oneOf(['ask', 'remember', 'skip']),
    initial: 'ask',
    label: 'Consent',
    group: FURTHER,
    help: 'When users are asked.',
    option: { flag: '--consent <when>' },
    act: ['clients.set-consent', 'unless default'],
    words: {
      ask: ['ask the user each time'],
      remember: ['remember what a user allowed', 'Asks again only for more.'],
      skip: ['never ask', 'For your own apps only.'],
    },
  },
  deviceFlow: {
    field: flag,
    initial: false,
    label: 'Device flow',
    group: FURTHER,
    help: 'Allow the device flow, for TVs and terminals; such an app needs no redirect URI.',
    option: { flag: '--device', no: 'refuse the device flow' },
    words: { true: ['allowed'], false: ['not allowed'] },
  },
  assertionAudience: {
    field: oneOf(['any', 'issuer']),
    initial: 'any',
    label: 'Assertion audience',
    group: FURTHER,
    help: 'The accepted audience of the app’s assertions.',
    option: { flag: '--assertion-audience <which>' },
    words: { any: ['the issuer, or the address of the endpoint'], issuer: ['the issuer alone'] },
  },
  seesExternalId: {
    field: flag,
    initial: false,
    label: 'External ID',
    group: ACCESS,
    help: 'Include the product’s own ID of the user in /v2/me.',
    option: { flag: '--external-id', no: "omit the product's own ID of the user from /v2/me" },
    words: { true: ['included in /v2/me'], false: ['not included'] },
  },
  signIn: {
    field: flag,
    initial: false,
    label: 'Sign-in',
    group: ACCESS,
    help: 'Users may sign in at the app with OpenID Connect; scope=openid then no longer means all its scopes.',
    option: { flag: '--sign-in', no: 'end sign-in at the app: no ID tokens, and no userinfo' },
    implies: { consent: 'remember' } satisfies Partial<ClientSettings>,
    act: ['clients.set-sign-in', 'unless default'],
    words: { true: ['with OpenID Connect'], false: ['not allowed'] },
  },
};

/** A new app as a body describes it. `handOver`: no secret now, but an address at which the developer makes it. */
export type NewClient = ClientSettings & { readonly type: ClientType; readonly handOver: boolean };

/** The settings of a new app. */
export const NEW_CLIENT_SETTINGS: Settings<NewClient> = {
  ...CLIENT_SETTINGS,
  type: {
    field: oneOf(['confidential', 'public']),
    initial: 'confidential',
    label: 'Type',
    group: APP,
    help: 'Whether the app can keep a secret.',
    words: {
      confidential: [
        'a server that can keep a secret',
        'A web app whose server keeps the secret, or proves itself by keys of its own.',
      ],
      public: ['an app without a secret', 'On a device or in a browser, where nobody can keep a secret. It uses PKCE.'],
    },
  },
  handOver: HAND_OVER,
};

/** Returns the further acts that a registration is: of settings that make trust, and of its secret or its address. */
export function actsOfNewClient(members: Members): Act[] {
  const client = readNew(NEW_CLIENT_SETTINGS, members);
  const makesSecret = client.type === 'confidential' && client.keys.length === 0 && !client.handOver;
  return [
    ...actsOf(CLIENT_SETTINGS, client, 'registering'),
    ...actsOfScopes(client.scopes, []),
    ...(makesSecret ? (['clients.make-secret'] as const) : []),
    ...(client.handOver ? (['clients.hand-over'] as const) : []),
  ];
}

/**
 * Returns the further act that a change of scopes is, if it changes what users are told: an app's own sentence hides the
 * catalogue's. A scope that goes takes its own sentence along, and could come back without it. `had` are the scopes that the app
 * has, in the row that the write replaces.
 */
export function actsOfScopes(scopes: readonly Scope[] | undefined, had: readonly Scope[]): Act[] {
  if (scopes === undefined) return [];
  const isTold = changesSentence(scopes, had) || changesSentence(had, scopes);
  return isTold ? ['scopes.set-sentences'] : [];
}

/** True if one of some scopes has an own sentence that it has not among others. */
function changesSentence(some: readonly Scope[], others: readonly Scope[]): boolean {
  const has = ({ name, sentence }: Scope) => others.some((each) => each.name === name && each.sentence === sentence);
  return some.some((scope) => scope.sentence !== null && !has(scope));
}

/**
 * Returns an app's settings for people, as they apply: a public app always needs PKCE, and only keys sign assertions. `defaults`
 * are the installation's durations (s), where they are known.
 */
export function clientRows(client: Client, defaults: Partial<ClientSettings> = {}): SettingRow[] {
  const requirePkce = client.requirePkce || client.type === 'public';
  const rows = settingRows<ClientSettings>(CLIENT_SETTINGS, { ...client, requirePkce }, defaults);
  const hasAudience = client.keys.length > 0 || client.assertionAudience === 'issuer';
  return rows.filter(({ name }) => name !== 'assertion_audience' || hasAudience);
}

function scopeSchema(required: readonly string[]): Schema {
  const properties = { name: text.schema, sentence: textOrNone.schema, optional: flag.schema };
  return { type: 'object', properties, required, additionalProperties: false };
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
