/** The made-up connections: what a person's browser and an app's server do, through the service's own operations. */
import { createHash, randomBytes } from 'node:crypto';
import type { Client, ClientCredentials } from '../../src/oauth/clients/client.ts';
import { Refusal } from '../../src/oauth/error.ts';
import { fieldsThere } from '../../src/oauth/grants/person-fields.ts';
import { Parameters } from '../../src/oauth/parameters.ts';
import type { IssuedTokens } from '../../src/oauth/tokens/token-pair.ts';
import { WHOLE_GRANT } from '../../src/oauth/tokens/token-request.ts';
import type { WiredInstallation } from '../../src/wiring/installation.ts';
import type { CastApp } from './cast.ts';
import type { Chance } from './chance.ts';
import { type Person, requestFrom, signIn } from './people.ts';

/** A registered app with its present secret (null for a public one), and the address of its server. */
export type App = { readonly cast: CastApp; client: Client; secret: string | null; readonly server: string };

/** The access of an app to an account: its present tokens, and when it began and they were issued (ms). */
export type Connection = {
  readonly app: App;
  readonly person: Person;
  readonly since: number;
  tokens: IssuedTokens;
  issuedAt: number;
  isOver: boolean;
};

/** The parts that act: `now` is the clock of the installation. */
export type World = { readonly installation: WiredInstallation; readonly now: () => number };

/** The credentials with which an app's server presents itself. */
function credentialsOf({ client, secret }: Pick<App, 'client' | 'secret'>): ClientCredentials {
  return secret === null
    ? { method: 'none', clientId: client.id }
    : { method: 'secret', clientId: client.id, clientSecret: secret };
}

/** Somebody signs in and allows an app: returns the code that the browser brings to the app, and the app's verifier. */
export async function allow({ installation, now }: World, app: App, person: Person) {
  const { authorizationServer } = installation;
  const verifier = randomBytes(32).toString('base64url');
  const request = await authorizationServer.validateRequest('standard', authorizationRequest(app, verifier));
  if (request.kind !== 'valid') throw new Error(`${app.cast.name} asks wrongly`);
  const owner = await signIn(installation, person, now());
  const shownFields = fieldsThere(request.client.personFields, person.account);
  const consent = { given: 'allowed', chosen: request.scope, shownFields } as const;
  const location = await authorizationServer.allow(request, owner, consent, requestFrom(person.source));
  const code = location && new URL(location).searchParams.get('code');
  if (!code) throw new Error(`${app.cast.name} got no code`);
  return { code, verifier };
}

/** Somebody denies an app. */
export async function deny({ installation, now }: World, app: App, person: Person): Promise<void> {
  const { authorizationServer } = installation;
  const request = await authorizationServer.validateRequest(
    'standard',
    authorizationRequest(app, randomBytes(32).toString('base64url')),
  );
  if (request.kind !== 'valid') throw new Error(`${app.cast.name} asks wrongly`);
  const { resourceOwnerId } = await signIn(installation, person, now());
  await authorizationServer.deny(request, resourceOwnerId, requestFrom(person.source));
}

/** The app exchanges a code. */
export function exchange(
  { installation }: World,
  app: App,
  { code, verifier: codeVerifier }: { readonly code: string; readonly verifier: string },
  redirectUri: string | null = redirectUriOf(app),
): Promise<IssuedTokens | Refusal> {
  const asked = { asked: WHOLE_GRANT, redirectUri, codeVerifier };
  return installation.authorizationServer.exchangeAuthorizationCode(
    credentialsOf(app),
    code,
    asked,
    requestFrom(app.server),
  );
}

/** The whole way: somebody allows an app, which exchanges the code. */
export async function connect(world: World, app: App, person: Person): Promise<Connection> {
  const tokens =
    app.cast.kind === 'device'
      ? await connectDevice(world, app, person)
      : await exchange(world, app, await allow(world, app, person));
  return { app, person, since: world.now(), tokens: issued(tokens), issuedAt: world.now(), isOver: false };
}

async function connectDevice({ installation, now }: World, app: App, person: Person): Promise<IssuedTokens | Refusal> {
  const { deviceFlow } = installation;
  const device = requestFrom(person.source);
  const begun = await deviceFlow.begin(credentialsOf(app), { scope: undefined, resource: null }, device);
  const shown = begun instanceof Refusal ? null : await deviceFlow.find(begun.userCode);
  if (begun instanceof Refusal || !shown) throw new Error(`${app.cast.name} got no code`);
  const shownFields = fieldsThere(shown.client.personFields, person.account);
  const pressed = { given: 'allowed', chosen: shown.request.scope, shownFields } as const;
  await deviceFlow.allow(shown, await signIn(installation, person, now()), pressed, requestFrom(person.source));
  return deviceFlow.poll(credentialsOf(app), begun.deviceCode, WHOLE_GRANT, device);
}

/** The app refreshes, and goes on with the new tokens. */
export async function refresh(world: World, connection: Connection): Promise<void> {
  connection.tokens = issued(await presentRefreshToken(world, connection.app, connection.tokens.refreshToken));
  connection.issuedAt = world.now();
}

/** The app presents a refresh token. */
export function presentRefreshToken(
  { installation }: World,
  app: App,
  refreshToken: string,
  source = app.server,
): Promise<IssuedTokens | Refusal> {
  return installation.authorizationServer.refresh(credentialsOf(app), refreshToken, WHOLE_GRANT, requestFrom(source));
}

/** The app refreshes with the token of a connection that has ended, if there is any: it is refused. */
export async function refreshEnded(
  world: World & { readonly chance: Chance; readonly connections: readonly Connection[] },
  app: App,
): Promise<void> {
  const ended = world.connections.filter((each) => each.isOver && each.app.cast === app.cast);
  if (ended.length > 0) await presentRefreshToken(world, app, world.chance.pick(ended).tokens.refreshToken);
}

/** The app uses its access token. */
export async function use({ installation }: World, { tokens }: Connection): Promise<void> {
  await installation.authorizationServer.checkAccessToken(tokens.accessToken);
}

/** The person disconnects the app on the page of connected apps. */
export async function disconnect({ installation }: World, connection: Connection): Promise<void> {
  const { account, source } = connection.person;
  const actor = { kind: 'user', id: account.id, ...requestFrom(source) } as const;
  await installation.grants.disconnect(account.id, connection.app.client.id, actor);
  connection.isOver = true;
}

/** The registered address of an app's callback. */
function redirectUriOf({ client }: Pick<App, 'client'>): string | null {
  return client.redirectUris[0] ?? null;
}

function issued(answer: IssuedTokens | Refusal): IssuedTokens {
  if (answer instanceof Refusal) throw new Error(`refused: ${answer.description} (${answer.detail})`);
  return answer;
}

function authorizationRequest(app: App, verifier: string): Parameters {
  return new Parameters([
    ['response_type', 'code'],
    ['client_id', app.client.id],
    ['redirect_uri', redirectUriOf(app)],
    ['state', randomBytes(12).toString('base64url')],
    ['code_challenge', createHash('sha256').update(verifier).digest('base64url')],
    ['code_challenge_method', 'S256'],
  ]);
}
