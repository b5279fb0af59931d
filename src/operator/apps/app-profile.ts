/** The profile of an app: what people read about it beside its name, and which changes of it end the operator's vouching. */
import { emailProblem } from '../../accounts/people/account.ts';
import type { Client, ClientSettings } from '../../oauth/clients/client.ts';
import { dotlessScheme, redirectHost } from '../../oauth/clients/redirect-uri.ts';
import { OperatorError } from '../../oauth/error.ts';
import { type ScopeDefinition, sentenceFor } from '../../oauth/grants/scope.ts';
import { CLIENT_SETTINGS } from '../fields/client-fields.ts';
import { described } from '../fields/setting.ts';
import { checkName } from '../registration/registration-checks.ts';

const MAX_ADDRESS = 2000;

/** Throws an `OperatorError` unless this can be the profile of an app. */
export function checkProfile(settings: ClientSettings): void {
  const { publisher, contact, isChecked } = settings;
  if (publisher !== null) checkName(publisher, 'a publisher', 'publisher');
  for (const { name, member, field, label } of described(CLIENT_SETTINGS))
    if (field.kind === 'page') refuse(pageProblem(label.toLowerCase(), settings[name] as string | null), member);
  refuse(contactProblem('contact', contact), 'contact');
  if (isChecked && publisher === null)
    throw new OperatorError('a check vouches for a publisher, and none is named: name the publisher too', 'is_checked');
}

function refuse(problem: string | null, field: string): void {
  if (problem !== null) throw new OperatorError(problem, field);
}

/** Why an address cannot be a page of an app; null if it can, or if there is none. */
export function pageProblem(what: string, address: string | null, or = ''): string | null {
  if (address === null) return null;
  // A URL parser would add missing slashes, and pages show the text.
  const url = /^https:\/\/[\x21-\x7e]+$/i.test(address) && address.length <= MAX_ADDRESS ? URL.parse(address) : null;
  const isGood = url !== null && !url.username && !url.password;
  return isGood ? null : `the ${what} ${JSON.stringify(address)} is not an https address${or}`;
}

/** Why a text cannot be whom users ask; null if it can, or if there is none. */
export function contactProblem(what: string, contact: string | null): string | null {
  // Pages link to it by `mailto:`, in which these characters would add to the address.
  if (contact !== null && emailProblem(contact) === null && !/[:/?#&%]/.test(contact)) return null;
  return pageProblem(what, contact, ' or an email address');
}

/** Settings that the operator vouches for, besides the hosts of the redirect URIs. */
const VOUCHED = ['name', 'publisher', 'homepage', 'privacyPage', 'contact'] as const;

/** True if a change ends the operator's vouching, which is for what users read of an app's maker, and for the redirect hosts. */
export function endsVouching(before: Client, after: Pick<Client, (typeof VOUCHED)[number] | 'redirectUris'>): boolean {
  const isOther = VOUCHED.some((member) => before[member] !== after[member]) || hostsOf(before) !== hostsOf(after);
  return before.isChecked && isOther;
}

/** The hosts of a client's redirect URIs as one text, each once; equal for equal hosts. */
export function hostsOf({ redirectUris }: Pick<Client, 'redirectUris'>): string {
  return [...new Set(redirectUris.map(redirectHost))].sort().join(' ');
}

/**
 * Warnings about an app's registration that could mislead users or its developer: another app's name, scopes without a
 * sentence, the meaning of `openid`, and schemes that other programs can claim. `alike` are clients with similar names; the app may be among them.
 */
export function misleadingParts(
  client: Client,
  alike: readonly Client[],
  scopes: readonly ScopeDefinition[],
): string[] {
  const other = alike.find(({ id }) => id !== client.id);
  const unsaid = client.scopes.filter((scope) => sentenceFor(scope, scopes, 'en') === null).map(({ name }) => name);
  const schemes = new Set(client.redirectUris.map(dotlessScheme).filter((scheme) => scheme !== null));
  return [
    ...(other ? [`Another app has this name, ${other.id}: people cannot tell the two apart.`] : []),
    ...unsaid.map(
      (name) => `People see the bare name ${name}: "valetkey scope define ${name} --sentence TEXT" says what it means.`,
    ),
    ...(client.signIn
      ? ['scope=openid no longer means all registered scopes: with sign-in, the app names each scope that it wants.']
      : []),
    ...[...schemes].map(
      (scheme) =>
        `Any program on a device can claim the scheme ${scheme}, which names no domain of the app's maker (RFC 8252 §7.1): users are asked each time. Prefer an https or loopback redirect URI if the app has one.`,
    ),
  ];
}
