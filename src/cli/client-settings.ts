/** Reads an app's settings from the options of `client register` and `client update`. */
import type { AssertionAudience, Client, ConsentPolicy, PublicKey } from '../oauth/clients/client.ts';
import { OperatorError } from '../oauth/error.ts';
import { PERSON_FIELDS, type PersonField } from '../oauth/grants/person-fields.ts';
import type { Scope } from '../oauth/grants/scope.ts';
import type { ClientSettings } from '../operator/client-settings.ts';
import { readJwksFile } from './jwks-file.ts';
import { secondsOf, type TimeSetting } from './option.ts';

type SettingsOptions = {
  personFields?: readonly PersonField[];
  publisher?: string | false;
  homepage?: string | false;
  privacy?: string | false;
  contact?: string | false;
  checked?: boolean;
  redirectUri?: string[];
  scope?: Scope[] | false;
  optionalScope?: Scope[] | false;
  defaultResource?: string | false;
  requirePkce?: boolean;
  jwks?: string | false;
  consent?: ConsentPolicy;
  device?: boolean;
  assertionAudience?: AssertionAudience;
  externalId?: boolean;
  refreshOverlap?: TimeSetting;
  refreshRetryWindow?: TimeSetting;
};

/** The options of `client register`. */
export type RegisterOptions = SettingsOptions & {
  name?: string;
  public?: boolean;
  from?: string;
  handOver?: boolean;
};

/** The options of `client update`; false after an option that removes. */
export type UpdateOptions = SettingsOptions & {
  name?: string;
  addRedirectUri?: string[];
  removeRedirectUri?: string[];
  addScope?: Scope[];
  addOptionalScope?: Scope[];
  removeScope?: string[];
};

/** The settings of a new app, but for its name. Reads the file of keys, if there is one. Throws `OperatorError`. */
export async function newSettings(options: RegisterOptions): Promise<Omit<ClientSettings, 'name'>> {
  return {
    publisher: options.publisher || null,
    homepage: options.homepage || null,
    privacyPage: options.privacy || null,
    contact: options.contact || null,
    isChecked: options.checked ?? false,
    redirectUris: options.redirectUri ?? [],
    scopes: [...(options.scope || []), ...(options.optionalScope || [])],
    defaultResource: textOrNone(options.defaultResource) ?? null,
    personFields: options.personFields ?? PERSON_FIELDS,
    requirePkce: options.requirePkce ?? false,
    refreshOverlap: secondsOf(options.refreshOverlap),
    refreshRetryWindow: secondsOf(options.refreshRetryWindow),
    keys: await keysFrom(options.jwks),
    consent: options.consent ?? 'ask',
    deviceFlow: options.device ?? false,
    assertionAudience: options.assertionAudience ?? 'any',
    seesExternalId: options.externalId ?? false,
  };
}

/** The settings of an app that change. Reads the file of keys, if there is one. Throws `OperatorError`. */
export async function changedSettings(client: Client, options: UpdateOptions): Promise<Partial<ClientSettings>> {
  const { name, requirePkce, consent, device, assertionAudience, jwks, refreshOverlap, refreshRetryWindow } = options;
  const changesUris = options.redirectUri ?? options.addRedirectUri ?? options.removeRedirectUri;
  const { scope, optionalScope, addScope, addOptionalScope, removeScope } = options;
  const changesScopes = scope ?? optionalScope ?? addScope ?? addOptionalScope ?? removeScope;
  return withoutUndefined<ClientSettings>({
    name,
    publisher: textOrNone(options.publisher),
    homepage: textOrNone(options.homepage),
    privacyPage: textOrNone(options.privacy),
    contact: textOrNone(options.contact),
    isChecked: options.checked,
    redirectUris: changesUris === undefined ? undefined : changedUris(client, options),
    defaultResource: textOrNone(options.defaultResource),
    personFields: options.personFields,
    scopes: changesScopes === undefined ? undefined : changedScopes(client, options),
    requirePkce,
    refreshOverlap: refreshOverlap === undefined ? undefined : secondsOf(refreshOverlap),
    refreshRetryWindow: refreshRetryWindow === undefined ? undefined : secondsOf(refreshRetryWindow),
    keys: jwks === undefined ? undefined : await keysFrom(jwks),
    consent,
    deviceFlow: device,
    assertionAudience,
    seesExternalId: options.externalId,
  });
}

/** Takes every setting, so that the compiler demands new ones; undefined means unchanged. */
function withoutUndefined<Settings extends object>(
  settings: {
    readonly [Name in keyof Settings]: Settings[Name] | undefined;
  },
): Partial<Settings> {
  const changed = Object.entries(settings).filter(([, value]) => value !== undefined);
  return Object.fromEntries(changed) as Partial<Settings>;
}

/** Null after an option that removes, undefined without any. */
function textOrNone(text: string | false | undefined): string | null | undefined {
  return text === false ? null : text;
}

async function keysFrom(file: string | false | undefined): Promise<readonly PublicKey[]> {
  return file ? readJwksFile(file) : [];
}

function changedUris(client: Client, options: UpdateOptions): string[] {
  const { redirectUri = client.redirectUris, addRedirectUri = [], removeRedirectUri = [] } = options;
  const unknown = removeRedirectUri.find((uri) => !redirectUri.includes(uri));
  if (unknown !== undefined) throw new OperatorError(`redirect URI ${JSON.stringify(unknown)} is not registered`);
  return [...redirectUri.filter((uri) => !removeRedirectUri.includes(uri)), ...addRedirectUri];
}

/** The scopes after a replacement, without those that are removed, and with those that are added. */
function changedScopes(client: Client, options: UpdateOptions): Scope[] {
  const { removeScope = [], addScope = [], addOptionalScope = [] } = options;
  const replaced = replacedScopes(client, options);
  const unknown = removeScope.find((name) => replaced.every((scope) => scope.name !== name));
  if (unknown !== undefined) throw new OperatorError(`scope ${JSON.stringify(unknown)} is not registered`);
  const added = [...addScope, ...addOptionalScope];
  const gone = new Set([...removeScope, ...added.map(({ name }) => name)]);
  return [...replaced.filter(({ name }) => !gone.has(name)), ...added.map((scope) => keptSentence(client, scope))];
}

/**
 * Each of the two options replaces its own kind of scopes only. A scope that is given is removed from the other kind,
 * so that it can be moved. `--no-scope` keeps only what is given with it.
 */
function replacedScopes({ scopes }: Client, { scope, optionalScope }: UpdateOptions): Scope[] {
  const given = [...(scope || []), ...(optionalScope || [])].map(({ name }) => name);
  const kept = scopes.filter(({ name }) => scope !== false && !given.includes(name));
  return [
    ...(scope === undefined ? kept.filter(({ optional }) => !optional) : scope || []),
    ...(optionalScope === undefined ? kept.filter(({ optional }) => optional) : optionalScope || []),
  ];
}

/** A scope that is there already and is added without a sentence, as to move it to the other kind, keeps its own. */
function keptSentence({ scopes }: Client, scope: Scope): Scope {
  const before = scopes.find(({ name }) => name === scope.name);
  return { ...scope, sentence: scope.sentence ?? before?.sentence ?? null };
}
