/** How identity providers are shown, to programs and to people. A secret is shown only once, when it is made. */
import type { IdentityProvider } from '../../accounts/people/identity-provider.ts';
import type { Endpoints } from '../../operator/apps/endpoints.ts';
import { providerRows } from '../../operator/fields/identity-provider-fields.ts';
import {
  endedThroughProviderJson,
  findIdentityProviderJson,
  type IdentityProviderJson,
  registeredProviderJson,
} from '../../operator/json/identity-provider.ts';
import type { EndedThroughProvider } from '../../operator/products-and-apis/provider-ending.ts';
import type { ProviderFinding } from '../../operator/products-and-apis/provider-test.ts';
import type { SecretUses } from '../../operator/secrets/secret-last-uses.ts';
import type { CommandResult } from '../command/command-run.ts';
import { settingFields } from '../input/setting-options.ts';
import { card, type ShortList } from '../output/table.ts';
import { exactTime, readableTime } from '../output/time.ts';
import { lastUseLine, SHOWN_ONCE, secretLines } from '../registrations/secret-view.ts';

/** Returns the values that a product's developer needs. */
export function registeredProvider(
  provider: IdentityProvider,
  secret: string | null,
  endpoints: Endpoints,
): CommandResult {
  const json = registeredProviderJson(provider, secret, endpoints);
  return {
    json,
    text: [
      `${provider.name} is registered. Its developer needs these ${secret === null ? 'two' : 'three'} things:`,
      '',
      ...card([
        ['  Provider ID', provider.id],
        ['  Provider Secret', secret ?? ''],
        ['  Sign-in Endpoint', json.sign_in_endpoint],
      ]),
      ...(secret === null ? [] : ['', SHOWN_ONCE]),
    ],
    note: nextAfterRegistering(provider),
  };
}

/** Returns the note after a registration. */
export function nextAfterRegistering({ id }: IdentityProvider): string {
  return `Next: serve with VALETKEY_SIGN_IN_METHODS=${id} (or password,${id}), and see "Adopting" in the documentation.`;
}

/** One provider. */
export async function shownProvider(provider: IdentityProvider, uses: SecretUses): Promise<CommandResult> {
  const shown = await findIdentityProviderJson(provider, uses);
  const [name = ['', ''], ...settings] = settingFields(providerRows(provider));
  return {
    json: shown,
    text: card([
      ['Provider ID', shown.provider_id],
      name,
      ['Status', shown.status],
      ...settings,
      ['Live secrets', secretLines(shown.live_secrets)],
      ['Registered', readableTime(shown.created_at)],
    ]),
  };
}

/** The list of identity providers. */
export const IDENTITY_PROVIDERS: ShortList<IdentityProviderJson> = {
  none: 'No identity providers: people sign in here with a password. Register one: valetkey identity-provider register --help',
  columns: [
    { heading: 'Provider ID', value: (provider) => provider.provider_id },
    { heading: 'Name', value: (provider) => provider.name, shrinksTo: 8 },
    { heading: 'Status', value: (provider) => provider.status },
    { heading: 'Secret last used', value: (provider) => lastUseLine(provider.live_secrets) },
    { heading: 'Sign-in address', value: (provider) => provider.sign_in_url, mayBeLeft: true },
    { heading: 'Registered', value: (provider) => readableTime(provider.created_at), mayBeLeft: true },
  ],
};

/** Returns what was ended through a provider since a time (ms). */
export function allEnded(provider: IdentityProvider, since: number, ended: EndedThroughProvider): CommandResult {
  const { id, name, secrets } = provider;
  const older = `An older secret still works. If it leaked, run "valetkey identity-provider retire-secret ${id}", then this command again.`;
  return {
    json: endedThroughProviderJson(provider, since, ended),
    text: [
      `Ended, of all that came through ${name} since ${exactTime(since)}:`,
      '',
      ...card([
        ['  Pending sign-ins', String(ended.signIns)],
        ['  Sessions', String(ended.sessions)],
        ['  Grants', String(ended.grants)],
      ]),
    ],
    ...(secrets.length > 1 ? { note: older } : {}),
  };
}

/** Shows the findings of a provider's test: a card, and the remedies below it. */
export function testedProvider(findings: readonly ProviderFinding[]): CommandResult {
  const wrong = findings.filter(({ ok }) => !ok).length;
  const lines = findings.flatMap(({ name, ok, detail, remedy }) => [
    `${ok ? 'ok   ' : 'WRONG'}  ${name}: ${detail}`,
    ...(remedy === null ? [] : [`       ${remedy}`]),
  ]);
  return {
    json: findings,
    text: lines,
    ...(wrong === 0 ? {} : { note: `valetkey: ${wrong} of ${findings.length} checks failed`, exitCode: 1 }),
  };
}
