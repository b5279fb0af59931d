/** Options of apps that stand for no setting alone: redirect URIs and scopes, which are added and removed too. */

import type { Client, ClientSettings } from '../../oauth/clients/client.ts';
import { OperatorError } from '../../oauth/error.ts';
import type { Scope } from '../../oauth/grants/scope.ts';
import { CLIENT_SETTINGS } from '../../operator/fields/client-fields.ts';
import type { CliCommand } from '../command/command.ts';
import { addSettings, settingsIn } from '../input/setting-options.ts';

type ScopeOptions = { scope?: Scope[] | false; optionalScope?: Scope[] | false };

/** The options of `client register` that stand for no setting alone. */
export type RegisterOptions = ScopeOptions & {
  name?: string;
  public?: boolean;
  from?: string;
  handOver?: boolean;
};

/** The options of `client update` that stand for no setting alone; false after an option that removes. */
export type UpdateOptions = ScopeOptions & {
  redirectUri?: string[];
  addRedirectUri?: string[];
  removeRedirectUri?: string[];
  addScope?: Scope[];
  addOptionalScope?: Scope[];
  removeScope?: string[];
};

/** Adds the options of a new app's settings. */
export function addNewSettings(command: CliCommand): CliCommand {
  return addSettings(command, CLIENT_SETTINGS, 'register', {
    name: (its) => its.option('--name <name>', "the app's name, as users see it; required without --from"),
    scopes: (its) =>
      its
        .option('--scope <scope...>', 'NAME, or "NAME=Sentence for the consent page"', readScope)
        .option('--optional-scope <scope...>', 'the same, for scopes that users may leave out', readOptionalScope),
  });
}

/** Adds the options that change an app's settings. */
export function addChangedSettings(command: CliCommand): CliCommand {
  return addSettings(command, CLIENT_SETTINGS, 'update', {
    redirectUris: (its) =>
      its
        .option('--redirect-uri <uri...>', 'replace all redirect URIs')
        .option('--add-redirect-uri <uri...>', 'add redirect URIs')
        .option('--remove-redirect-uri <uri...>', 'remove redirect URIs'),
    scopes: (its) =>
      its
        .option('--scope <scope...>', 'replace all scopes that are not optional: NAME, or "NAME=…"', readScope)
        .option('--add-scope <scope...>', 'add scopes, in the same form', readScope)
        .option('--remove-scope <name...>', 'remove scopes, optional or not')
        .option('--no-scope', 'remove all scopes except those given here, optional or not')
        .option(
          '--optional-scope <scope...>',
          'replace all optional scopes; a required scope given here becomes optional',
          readOptionalScope,
        )
        .option('--add-optional-scope <scope...>', 'add optional scopes', readOptionalScope)
        .option('--no-optional-scope', 'remove all optional scopes'),
  });
}

/** Returns the given settings of a new app. Reads the file of keys, if there is one. Throws `OperatorError`. */
export async function newSettings(options: RegisterOptions): Promise<Partial<ClientSettings>> {
  const scopes = [...(options.scope || []), ...(options.optionalScope || [])];
  return { ...(await settingsIn(CLIENT_SETTINGS, options)), scopes };
}

/** Returns the settings of an app that change. Reads the file of keys, if there is one. Throws `OperatorError`. */
export async function changedSettings(client: Client, options: UpdateOptions): Promise<Partial<ClientSettings>> {
  const { redirectUri, addRedirectUri, removeRedirectUri } = options;
  const changesUris = redirectUri ?? addRedirectUri ?? removeRedirectUri;
  const { scope, optionalScope, addScope, addOptionalScope, removeScope } = options;
  const changesScopes = scope ?? optionalScope ?? addScope ?? addOptionalScope ?? removeScope;
  return {
    ...(await settingsIn(CLIENT_SETTINGS, options)),
    ...(changesUris === undefined ? {} : { redirectUris: changedUris(client, options) }),
    ...(changesScopes === undefined ? {} : { scopes: changedScopes(client, options) }),
  };
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

/** The scopes of one option so far; false after the option that removes them. */
type ScopesBefore = readonly Scope[] | false;

/** One more scope: `NAME`, or `NAME=Sentence in words`. */
function readScope(text: string, before: ScopesBefore = []): Scope[] {
  return [...(before || []), scopeOf(text, false)];
}

/** One more scope that users may leave out, in the same form. */
function readOptionalScope(text: string, before: ScopesBefore = []): Scope[] {
  return [...(before || []), scopeOf(text, true)];
}

function scopeOf(text: string, optional: boolean): Scope {
  const at = text.indexOf('=');
  return at < 0
    ? { name: text, sentence: null, optional }
    : { name: text.slice(0, at), sentence: text.slice(at + 1), optional };
}
