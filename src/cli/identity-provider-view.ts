/** How identity providers are shown, to programs and to people. A secret is shown only once, when it is made. */
import type { IdentityProvider } from '../accounts/identity-provider.ts';
import type { EndedThroughProvider } from '../operator/provider-ending.ts';
import type { ProviderFinding } from '../operator/provider-test.ts';
import { SHOWN_ONCE } from './client-view.ts';
import type { CommandResult } from './command-run.ts';
import type { Endpoints } from './context.ts';
import { card, table } from './table.ts';
import { exactTime, isoTime, readableTime } from './time.ts';

/** What the developer of a product needs. */
export function registeredProvider(
  provider: IdentityProvider,
  secret: string | null,
  { signInEndpoint }: Endpoints,
): CommandResult {
  return {
    json: { ...identityProviderJson(provider), provider_secret: secret, sign_in_endpoint: signInEndpoint },
    text: [
      `${provider.name} is registered. Its developer needs these ${secret === null ? 'two' : 'three'} things:`,
      '',
      ...card([
        ['  Provider ID', provider.id],
        ['  Provider Secret', secret ?? ''],
        ['  Sign-in Endpoint', signInEndpoint],
      ]),
      ...(secret === null ? [] : ['', SHOWN_ONCE]),
    ],
    note: `Next: serve with VALETKEY_SIGN_IN_METHODS=${provider.id} (or password,${provider.id}), and see docs/adopting.md.`,
  };
}

/** All that is registered of a provider. */
export function identityProviderJson(provider: IdentityProvider) {
  return {
    provider_id: provider.id,
    name: provider.name,
    status: provider.status,
    sign_in_url: provider.signInUrl,
    own_ids: provider.ownIds,
    rights: provider.rights,
    operators: provider.forOperators,
    session: provider.sessionLifetime,
    live_secrets: provider.secrets.map((secret) => ({ created_at: isoTime(secret.createdAt) })),
    keys: provider.keys.length,
    created_at: isoTime(provider.createdAt),
  };
}

/** One provider. */
export function shownProvider(provider: IdentityProvider): CommandResult {
  const secrets = provider.secrets.map(({ createdAt }) => `made ${readableTime(createdAt)}`);
  const { sessionLifetime } = provider;
  return {
    json: identityProviderJson(provider),
    text: card([
      ['Provider ID', provider.id],
      ['Name', provider.name],
      ['Status', provider.status],
      ['Sign-in address', provider.signInUrl],
      ['Accounts are known by', provider.ownIds ? 'its own ids' : 'ids of this installation'],
      ['Rights', provider.rights],
      ['For operators', provider.forOperators ? 'yes' : 'no'],
      ['A sign-in lasts', sessionLifetime === null ? '10 min, for its own request' : `${sessionLifetime} s`],
      ['Live secrets', secrets],
      ['Public keys', provider.keys.length === 0 ? '' : String(provider.keys.length)],
      ['Registered', readableTime(provider.createdAt)],
    ]),
  };
}

/** Many providers. */
export function listedProviders(providers: readonly IdentityProvider[], width: number): CommandResult {
  const rows = providers.map(({ id, name, status, signInUrl, createdAt }) => [
    id,
    name,
    status,
    signInUrl,
    readableTime(createdAt),
  ]);
  const none =
    'No identity providers: people sign in here with a password. Register one: valetkey identity-provider register --help';
  return {
    json: providers.map(identityProviderJson),
    text:
      rows.length === 0
        ? [none]
        : table(['Provider ID', 'Name', 'Status', 'Sign-in address', 'Registered'], rows, width),
  };
}

/** What was ended through a provider since a time (ms). */
export function allEnded(provider: IdentityProvider, since: number, ended: EndedThroughProvider): CommandResult {
  const { id, name, secrets } = provider;
  const older = `An older secret still works: if that leaked, "valetkey identity-provider retire-secret ${id}", and do this again.`;
  return {
    json: {
      provider_id: id,
      since: isoTime(since),
      sign_ins_ended: ended.signIns,
      sessions_ended: ended.sessions,
      grants_ended: ended.grants,
    },
    text: [
      `What was given through ${name} since ${exactTime(since)} is ended:`,
      '',
      ...card([
        ['  Sign-ins on their way', String(ended.signIns)],
        ['  Sessions', String(ended.sessions)],
        ['  Grants', String(ended.grants)],
      ]),
    ],
    ...(secrets.length > 1 ? { note: older } : {}),
  };
}

/** What a test of a provider found: a card, and below it what to do. */
export function testedProvider(findings: readonly ProviderFinding[]): CommandResult {
  const wrong = findings.filter(({ ok }) => !ok).length;
  const lines = findings.flatMap(({ name, ok, detail, remedy }) => [
    `${ok ? 'ok   ' : 'WRONG'}  ${name}: ${detail}`,
    ...(remedy === null ? [] : [`       ${remedy}`]),
  ]);
  return {
    json: findings,
    text: lines,
    ...(wrong === 0
      ? {}
      : { note: `valetkey: ${wrong} of ${findings.length} checks found something wrong`, exitCode: 1 }),
  };
}
