/** The operator's decisions about a client, and their rules. */
import type { Client, ClientSettings, ClientType } from '../../oauth/clients/client.ts';
import { MAX_REDIRECT_URIS, redirectUriProblem } from '../../oauth/clients/redirect-uri.ts';
import { OperatorError } from '../../oauth/error.ts';
import { isSignInScope, type Scope, sentenceProblem } from '../../oauth/grants/scope.ts';
import { CLIENT_SETTINGS } from '../fields/client-fields.ts';
import { described } from '../fields/setting.ts';
import { refuseCommaListOfUris } from '../registration/refuse-comma-lists.ts';
import { checkName, checkScopeNames } from '../registration/registration-checks.ts';
import { checkProfile } from './app-profile.ts';

/** The settings of a new client; the others have their defaults. */
export type NewClientSettings = Pick<ClientSettings, 'name'> & Partial<ClientSettings>;

/** Settings of a client, and the SHA-256 of its metadata document, or null. */
type Settings = ClientSettings & Pick<Client, 'documentSha256'>;

/** Throws an `OperatorError` unless these can be the settings of a client of this type. The access token's lifetime is in seconds. */
export function checkSettings(type: ClientType, settings: Settings, accessTokenLifetime: number): void {
  checkName(settings.name);
  checkProfile(settings);
  checkRedirectUris(type, settings);
  checkScopes(settings.scopes);
  checkSignIn(settings);
  if (type === 'public' && settings.keys.length > 0)
    throw new OperatorError('a public app cannot keep a private key', 'keys');
  for (const { name, member, field, label } of described(CLIENT_SETTINGS))
    if (field.kind === 'seconds')
      checkSeconds(label.toLowerCase(), settings[name] as number | null, member, accessTokenLifetime);
}

function checkSignIn({ signIn, scopes, documentSha256 }: Settings): void {
  if (!signIn) return;
  // Its ID is the same in every installation, so no operator can answer for it.
  if (documentSha256 !== null)
    throw new OperatorError('users cannot sign in at an app that describes itself in a metadata document', 'sign_in');
  const taken = scopes.find(({ name }) => isSignInScope(name)); // OpenID Connect Core §5.4
  if (taken)
    throw new OperatorError(
      `users cannot sign in at an app with the registered scope ${taken.name}, which OpenID Connect defines: remove the scope`,
      'sign_in',
    );
}

function checkSeconds(what: string, seconds: number | null, field: string, accessTokenLifetime: number): void {
  if (seconds === null) return;
  if (!Number.isInteger(seconds) || seconds < 0)
    throw new OperatorError(`the ${what} must be a whole number of seconds, 0 or more`, field);
  if (seconds > accessTokenLifetime)
    throw new OperatorError(
      `the ${what} must not be longer than the access token's lifetime (${accessTokenLifetime} s)`,
      field,
    );
}

/** Only a client that is for devices alone needs no redirect URI. */
function checkRedirectUris(type: ClientType, { redirectUris: uris, deviceFlow }: ClientSettings): void {
  if (uris.length === 0 && !deviceFlow)
    throw new OperatorError(
      'an app needs at least one redirect URI, or the device flow if it has no browser',
      'redirect_uris',
    );
  if (uris.length > MAX_REDIRECT_URIS)
    throw new OperatorError(`an app has at most ${MAX_REDIRECT_URIS} redirect URIs`, 'redirect_uris');
  if (new Set(uris).size < uris.length) throw new OperatorError('a redirect URI was given twice', 'redirect_uris');
  refuseCommaListOfUris(uris, type);
  for (const uri of uris) {
    const problem = redirectUriProblem(uri, type);
    if (problem) throw new OperatorError(`redirect URI ${JSON.stringify(uri)}: ${problem}`, 'redirect_uris');
  }
}

/** The names of a client's scopes. */
export function scopeNamesOf({ scopes }: Pick<ClientSettings, 'scopes'>): string[] {
  return scopes.map(({ name }) => name);
}

function checkScopes(scopes: readonly Scope[]): void {
  checkScopeNames(scopeNamesOf({ scopes }));
  for (const { name, sentence } of scopes) {
    const problem = sentence === null ? null : sentenceProblem(sentence);
    if (problem) throw new OperatorError(`scope ${JSON.stringify(name)}: ${problem}`, 'scopes');
  }
}
