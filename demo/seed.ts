/** The people and apps of the throw-away installation. */
import { randomInt } from 'node:crypto';
import type { Installation } from '../src/cli/command/context.ts';

/** Somebody to sign in as, and an app to allow. */
export type Seeded = SeededPerson & SeededApp;

/** Somebody to sign in as. */
export type SeededPerson = { readonly name: string; readonly email: string; readonly password: string };

/** An app to allow. */
export type SeededApp = {
  readonly appName: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
};

/** A product that signs its own people in. */
export type SeededProduct = { readonly providerId: string; readonly providerSecret: string };

/** The app's scopes, with the sentences of the consent page. */
export const SCOPES = [
  { name: 'photos:read', sentence: 'See your photos and albums', optional: false, effect: 'reads' },
  { name: 'contacts:read', sentence: 'See the postal addresses of your contacts', optional: false, effect: 'reads' },
  { name: 'cards:send', sentence: 'Send postcards that you pay for', optional: false, effect: 'sensitive' },
  { name: 'cards:read', sentence: 'See the postcards that you sent before', optional: true, effect: 'reads' },
] as const;

const WORDS = (
  'acorn amber anchor apple autumn basil beacon birch bramble bridge canal candle cedar cherry clover comet copper coral ' +
  'cotton cricket dune ember falcon feather fern garden ginger harbour hazel heron island ivory jasmine juniper kite ' +
  'lantern lemon lilac linen maple marble meadow mint orchard otter paper pebble pepper pine plum quartz raven river ' +
  'saffron sail sparrow spruce thistle tulip velvet violet walnut willow'
).split(' ');

/** Adds the demo user and registers the app, as an operator does with `user add` and `client register`. */
export async function seed(installation: Installation, redirectUri: string): Promise<Seeded> {
  const person = makePerson();
  const { accounts, operator } = installation;
  await accounts.add({ ...person, username: 'mira' }, operator);
  return { ...person, ...(await registerApp(installation, redirectUri)) };
}

/** Registers the product and the app. No person is added: the product has its own. */
export async function seedProduct(
  installation: Installation,
  { name, signInUrl, redirectUri }: { name: string; signInUrl: string; redirectUri: string },
): Promise<SeededProduct & SeededApp> {
  return {
    ...(await registerProduct(installation, { id: 'product', name, signInUrl })),
    ...(await registerApp(installation, redirectUri)),
  };
}

/** Registers a product, as an operator does with `identity-provider register`. */
export async function registerProduct(
  { identityProviders, operator }: Installation,
  about: { readonly id: string; readonly name: string; readonly signInUrl: string },
): Promise<SeededProduct> {
  const { row: provider, secret } = await identityProviders.register(
    {
      ...about,
      homePage: new URL('/', about.signInUrl).href,
      keys: [],
      ownIds: false,
      rights: ['sign-in', 'users'],
      sessionLifetime: null,
    },
    operator,
  );
  return { providerId: provider.id, providerSecret: secret ?? '' };
}

/** Somebody with a password that is easy to type. */
export function makePerson(): SeededPerson {
  return { name: 'Mira Lindqvist', email: 'demo@example.com', password: friendlyPassword() };
}

/** Registers the app that runs beside the service. */
export async function registerApp(
  { clients, scopes, operator }: Installation,
  redirectUri: string,
): Promise<SeededApp> {
  for (const { name, sentence, effect } of SCOPES) await scopes.define(name, { en: sentence }, operator, effect);
  const appName = 'Postcards';
  const { row: client, secret: clientSecret } = await clients.register(
    'confidential',
    {
      name: appName,
      publisher: 'Postcards & Co.',
      homepage: 'https://postcards.example/',
      privacyPage: 'https://postcards.example/privacy',
      contact: 'hello@postcards.example',
      isChecked: true,
      redirectUris: [redirectUri],
      scopes: SCOPES.map(({ name, sentence, optional }) => ({ name, sentence, optional })),
    },
    operator,
  );
  return { appName, clientId: client.id, clientSecret: clientSecret ?? '', redirectUri };
}

function friendlyPassword(): string {
  const words = Array.from({ length: 4 }, () => WORDS[randomInt(WORDS.length)]);
  return `${words.join('-')}-${randomInt(10, 100)}`;
}
