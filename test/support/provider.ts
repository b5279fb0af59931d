/** A product that signs its own people in, for tests: registered, and its server's posts. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import type { Actor } from '../../src/oauth/trail/audit.ts';
import {
  IdentityProviderRegistry,
  type NewIdentityProvider,
} from '../../src/operator/products-and-apis/identity-provider-registry.ts';
import { makeLogger } from '../../src/process/log.ts';
import { readConfiguration } from '../../src/settings/configuration.ts';
import { loadRootKeys, makeRootKey } from '../../src/settings/root-keys.ts';
import { openDatabase } from '../../src/wiring/open-database.ts';
import type { Browser, Visit } from './browser.ts';
import { type JsonAnswer, postBody } from './flow.ts';
import { PATIENT_FOR_ROWS } from './postgres.ts';
import { Clock, type Lifetime, startTestService, type TestService } from './service.ts';
import type { SharedPostgres } from './shared-postgres.ts';
import { storesOfRun } from './stores.ts';

/** Where the product signs people in; nothing listens there. */
const SIGN_IN_URL = 'https://photos.example/oauth/sign-in?from=valetkey';

/** The provider's credentials. */
export type TestProvider = { readonly id: string; readonly secret: string };

/** Instances of one installation with one provider, where people sign in nowhere else unless `methods` says so. */
export type WithProvider = {
  readonly instances: readonly TestService[];
  readonly provider: TestProvider;
  /** More ways to sign in, as they were asked for. */
  readonly others: readonly TestProvider[];
  /** The address of their database. */
  readonly database: string;
  /** Stops all instances, and starts one that goes on, with some variables changed. */
  restart(changed?: Record<string, string>): Promise<TestService>;
};

/** Starts instances, which share one clock; `others` are further providers. */
export type StartWithProvider = (
  t: Lifetime,
  settings?: Partial<NewIdentityProvider>,
  variables?: Record<string, string>,
  others?: readonly Partial<NewIdentityProvider>[],
) => Promise<WithProvider>;

/** How to start an installation on each store of this run: one instance on SQLite, two on PostgreSQL. */
export function storesWithProvider(server: SharedPostgres): Record<string, StartWithProvider> {
  const stores: Record<string, StartWithProvider> = {
    SQLite: async (t, settings, variables, others) => {
      const folder = mkdtempSync(join(tmpdir(), 'valetkey-test-'));
      const database = { VALETKEY_DATABASE_URL: `sqlite:${join(folder, 'valetkey.db')}`, VALETKEY_KEYS: makeRootKey() };
      const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
      return start(t, 1, { ...database, ...variables }, settings, others, remove);
    },
    PostgreSQL: async (t, settings, variables, others) => {
      const database = { VALETKEY_DATABASE_URL: await server.createDatabase(), VALETKEY_KEYS: makeRootKey() };
      return start(t, 2, { ...database, ...variables }, settings, others);
    },
  };
  return Object.fromEntries(storesOfRun(stores));
}

async function start(
  t: Lifetime,
  count: number,
  variables: Record<string, string>,
  settings: Partial<NewIdentityProvider> = {},
  more: readonly Partial<NewIdentityProvider>[] = [],
  remove: () => void = () => {},
): Promise<WithProvider> {
  const clock = new Clock();
  const provider = await registerAhead(variables, settings, clock);
  const others: TestProvider[] = [];
  for (const each of more) others.push(await registerAhead(variables, each, clock));
  const methods = [provider, ...others].map(({ id }) => id).join(',');
  const all = { VALETKEY_SIGN_IN_METHODS: methods, ...variables };
  const instances: TestService[] = [];
  const unbound = { after: () => {} };
  // Those of a restart too end before their database goes.
  t.after(async () => {
    await Promise.all(instances.map((instance) => instance.stop()));
    remove();
  });
  for (let n = 0; n < count; n += 1) instances.push(await startTestService(unbound, all, clock, PATIENT_FOR_ROWS));
  const restart = async (changed: Record<string, string> = {}) => {
    await Promise.all(instances.splice(0).map((instance) => instance.stop()));
    const next = await startTestService(unbound, { ...all, ...changed }, clock, PATIENT_FOR_ROWS);
    instances.push(next);
    return next;
  };
  return { instances, provider, others, database: String(variables['VALETKEY_DATABASE_URL']), restart };
}

/** Registers the provider as a command does: an instance that has it as a way to sign in does not start without it. */
export async function registerAhead(
  variables: Record<string, string>,
  settings: Partial<NewIdentityProvider>,
  { now }: Clock,
): Promise<TestProvider> {
  const url = 'http://127.0.0.1';
  const configuration = readConfiguration({ VALETKEY_APP_URL: url, VALETKEY_API_URL: url, ...variables });
  const keyring = createKeyring(loadRootKeys(configuration, true));
  const logger = makeLogger({ write: () => {} }, now);
  const world = { now, logger, wallClock: now, ...PATIENT_FOR_ROWS };
  const { storage } = await openDatabase(configuration, keyring, world, {
    role: 'command',
    migrate: true,
    mayFound: true,
  });
  const operator = { kind: 'operator', id: 'test', source: null, requestId: null } as const;
  const identityProviders = new IdentityProviderRegistry({
    ...{ store: storage.store, prefix: configuration.tokenPrefix, now },
  });
  const provider = await registerProvider({ installation: { identityProviders, operator } }, settings);
  await storage.close();
  return provider;
}

/** Where a provider can be registered: a service, or an installation without one. */
type Registering = {
  readonly installation: Pick<TestService['installation'], 'identityProviders'> & { readonly operator: Actor };
};

/** Registers one more provider. */
export async function registerProvider(
  { installation }: Registering,
  settings: Partial<NewIdentityProvider> = {},
): Promise<TestProvider> {
  const usual: NewIdentityProvider = {
    id: 'product',
    name: 'Photos',
    signInUrl: SIGN_IN_URL,
    keys: [],
    ownIds: false,
    rights: ['sign-in', 'users'],
    homePage: null,
    sessionLifetime: null,
  };
  const { row: provider, secret } = await installation.identityProviders.register(
    { ...usual, ...settings },
    installation.operator,
  );
  return { id: provider.id, secret: secret ?? '' };
}

/** The address at the provider that a visit leads to. */
export function atProvider(visit: Visit): URL {
  assert.equal(visit.status, 303, /<h1.*/.exec(visit.body)?.[0] ?? visit.body);
  const url = new URL(visit.headers.get('location') ?? '');
  assert.equal(url.origin, new URL(SIGN_IN_URL).origin, 'the browser goes to the provider');
  return url;
}

/** The sign-in request that a browser brought to the provider. */
export function requestOf(visit: Visit): string {
  return atProvider(visit).searchParams.get('sign_in_request') ?? '';
}

/** The provider's server says who signed in. */
export function state(
  { appUrl }: TestService,
  { id, secret }: TestProvider,
  signInRequest: string,
  members: Record<string, unknown> = {},
): Promise<JsonAnswer> {
  const credentials = { client_id: id, client_secret: secret };
  const said = { sign_in_request: signInRequest, subject: 'ada', name: 'Ada', email: 'ada@example.com', ...members };
  return postBody(`${appUrl}/api/auth/oauth/sign-in`, { ...credentials, ...said });
}

/** The address that the browser is sent to after a good statement, at an instance. */
export function redirectOf(answer: JsonAnswer, { appUrl }: TestService): string {
  assert.equal(answer.status, 200, JSON.stringify(answer.body));
  const url = new URL(String(answer.body['redirect_to']));
  return appUrl + url.pathname + url.search;
}

/** Walks from a page that needs somebody signed in to the page that it leads to: through the provider and back. */
export async function signInThrough(
  service: TestService,
  provider: TestProvider,
  browser: Browser,
  url: string,
  members: Record<string, unknown> = {},
): Promise<Visit> {
  const page = await browser.get(url);
  const [, href] = new RegExp(`href="(/sign-in/with\\?provider=${provider.id}&[^"]*)"`).exec(page.body) ?? [];
  const gone = href === undefined ? page : await browser.get(service.appUrl + href.replaceAll('&amp;', '&'));
  const stated = await state(service, provider, requestOf(gone), members);
  const back = await browser.get(redirectOf(stated, service));
  assert.equal(back.status, 303, /<h1.*/.exec(back.body)?.[0] ?? back.body);
  return browser.get(service.appUrl + (back.headers.get('location') ?? ''));
}

/** The provider's server asks about its people; an answer without a body has an empty one here. */
export async function askUsers(
  { appUrl }: TestService,
  { id, secret }: TestProvider,
  call: string,
  members?: Record<string, unknown>,
): Promise<JsonAnswer> {
  const [method = '', path = ''] = call.split(' ');
  const authorization = `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
  const response = await fetch(`${appUrl}/api/auth/oauth/users${path}`, {
    method,
    headers: { authorization, ...(members ? { 'Content-Type': 'application/json' } : {}) },
    ...(members ? { body: JSON.stringify(members) } : {}),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}
