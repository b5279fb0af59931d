/** The people and apps of the throw-away installation. */
import { randomInt } from 'node:crypto';
import type { Installation } from '../src/cli/context.ts';

/** Somebody to sign in as, and an app to allow. */
export type Seeded = {
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly appName: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
};

const SCOPES = [
  { name: 'photos:read', sentence: 'See your photos and albums', optional: false },
  { name: 'contacts:read', sentence: 'See the postal addresses of your contacts', optional: false },
];

const WORDS = (
  'acorn amber anchor apple autumn basil beacon birch bramble bridge canal candle cedar cherry clover comet copper coral ' +
  'cotton cricket dune ember falcon feather fern garden ginger harbour hazel heron island ivory jasmine juniper kite ' +
  'lantern lemon lilac linen maple marble meadow mint orchard otter paper pebble pepper pine plum quartz raven river ' +
  'saffron sail sparrow spruce thistle tulip velvet violet walnut willow'
).split(' ');

/** Adds the demo user and registers the app, as an operator does with `user add` and `client register`. */
export async function seed({ accounts, clients, operator }: Installation, redirectUri: string): Promise<Seeded> {
  const person = { name: 'Mira Lindqvist', email: 'demo@example.com', password: friendlyPassword() };
  const appName = 'Postcards';
  await accounts.add({ ...person, username: 'mira', isOperator: false }, operator);
  const { client, clientSecret } = await clients.register('confidential', {
    name: appName,
    redirectUris: [redirectUri],
    scopes: SCOPES,
  });
  return { ...person, appName, clientId: client.id, clientSecret: clientSecret ?? '', redirectUri };
}

function friendlyPassword(): string {
  const words = Array.from({ length: 4 }, () => WORDS[randomInt(WORDS.length)]);
  return `${words.join('-')}-${randomInt(10, 100)}`;
}
