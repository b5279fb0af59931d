/** How identity providers are shown, to programs and to people. A secret is shown only once, when it is made. */
import type { IdentityProvider } from '../accounts/people/identity-provider.ts';
import { type LiveSecret, liveSecrets, type SecretUses } from '../operator/last-uses.ts';
import type { EndedThroughProvider } from '../operator/provider-ending.ts';
import type { ProviderFinding } from '../operator/provider-test.ts';
import { SHOWN_ONCE } from './client-view.ts';
import type { CommandResult } from './command-run.ts';
import type { Endpoints } from './context.ts';
import { lastUseLine, secretLines, secretsJson } from './secret-view.ts';
import { type Column, card, fitted } from './table.ts';
import { exactTime, isoTime, readableTime } from './time.ts';

/** What the developer of a product needs. */
export function registeredProvider(
  provider: IdentityProvider,
  secret: string | null,
  { signInEndpoint }: Endpoints,
): CommandResult {
  const unused = provider.secrets.map(({ createdAt }) => ({ createdAt, lastUsedAt: null }));
  return {
    json: { ...settingsJson(provider, unused), provider_secret: secret, sign_in_endpoint: signInEndpoint },
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
export async function identityProviderJson(provider: IdentityProvider, uses: SecretUses) {
  return settingsJson(provider, await liveSecrets(provider.secrets, uses));
}

function settingsJson(provider: IdentityProvider, secrets: readonly LiveSecret[]) {
  return {
    provider_id: provider.id,
    name: provider.name,
    status: provider.status,
    sign_in_url: provider.signInUrl,
    own_ids: provider.ownIds,
    rights: provider.rights,
    operators: provider.forOperators,
    session: provider.sessionLifetime,
    live_secrets: secretsJson(secrets),
    keys: provider.keys.length,
    created_at: isoTime(provider.createdAt),
  };
}

/** One provider. */
export async function shownProvider(provider: IdentityProvider, uses: SecretUses): Promise<CommandResult> {
  const secrets = await liveSecrets(provider.secrets, uses);
  const { sessionLifetime } = provider;
  return {
    json: settingsJson(provider, secrets),
    text: card([
      ['Provider ID', provider.id],
      ['Name', provider.name],
      ['Status', provider.status],
      ['Sign-in address', provider.signInUrl],
      ['Accounts are known by', provider.ownIds ? 'its own ids' : 'ids of this installation'],
      ['Rights', provider.rights],
      ['For operators', provider.forOperators ? 'yes' : 'no'],
      ['A sign-in lasts', sessionLifetime === null ? '10 min, for its own request' : `${sessionLifetime} s`],
      ['Live secrets', secretLines(secrets)],
      ['Public keys', provider.keys.length === 0 ? '' : String(provider.keys.length)],
      ['Registered', readableTime(provider.createdAt)],
    ]),
  };
}

/** Many providers. */
export async function listedProviders(
  providers: readonly IdentityProvider[],
  uses: SecretUses,
  width: number,
): Promise<CommandResult> {
  const rows = await Promise.all(
    providers.map(async (provider) => ({ provider, secrets: await liveSecrets(provider.secrets, uses) })),
  );
  const none =
    'No identity providers: people sign in here with a password. Register one: valetkey identity-provider register --help';
  return {
    json: rows.map(({ provider, secrets }) => settingsJson(provider, secrets)),
    text: rows.length === 0 ? [none] : fitted(COLUMNS, rows, width).lines,
  };
}

const COLUMNS: readonly Column<{ provider: IdentityProvider; secrets: readonly LiveSecret[] }>[] = [
  { heading: 'Provider ID', value: ({ provider }) => provider.id },
  { heading: 'Name', value: ({ provider }) => provider.name, shrinksTo: 8 },
  { heading: 'Status', value: ({ provider }) => provider.status },
  { heading: 'Secret last used', value: ({ secrets }) => lastUseLine(secrets) },
  { heading: 'Sign-in address', value: ({ provider }) => provider.signInUrl, mayBeLeft: true },
  { heading: 'Registered', value: ({ provider }) => readableTime(provider.createdAt), mayBeLeft: true },
];

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
