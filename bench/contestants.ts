/** Who is measured: what each is, what it does more or less than Valetkey, and how it is started. */
import { join } from 'node:path';
import { ME_PATH, REFRESH_TOKEN_PATH, STANDARD_PATHS, TOKEN_PATH } from '../src/http/service/paths.ts';
import { makeRootKey } from '../src/settings/root-keys.ts';
import type { Filled } from './fill.ts';
import type { Paths } from './operations.ts';
import { freePort, mintInProcess, type Target } from './target.ts';

/** One of those who are measured. */
export type Contestant = {
  /** As `--only` takes it. */
  readonly name: string;
  /** As tables have it. */
  readonly title: string;
  readonly kind: 'valetkey' | 'peer' | 'floor';
  readonly store: 'sqlite' | 'postgresql' | null;
  /** What it does more or less than Valetkey. */
  readonly note: string;
  readonly paths: Paths;
  /** What its process runs, after `node`; a peer and a floor get a port, and a peer where its data is. */
  readonly program: readonly string[];
};

/** What a contestant may need. */
export type Place = {
  /** A folder for files of data. */
  readonly folder: string;
  /** Makes a database, and returns its address. */
  readonly createDatabase: () => Promise<string>;
};

/** The paths of ours. */
export const OWN_PATHS: Paths = {
  exchange: TOKEN_PATH,
  refresh: REFRESH_TOKEN_PATH,
  refreshTokenIn: 'header',
  idToken: false,
  check: ME_PATH,
  introspect: STANDARD_PATHS.introspect,
};
/** The paths of ours for an app that signs users in. */
const SIGN_IN_PATHS: Paths = {
  exchange: STANDARD_PATHS.token,
  refresh: STANDARD_PATHS.token,
  refreshTokenIn: 'form',
  idToken: true,
  check: STANDARD_PATHS.userInfo,
  introspect: STANDARD_PATHS.introspect,
};
const LIBRARY: Paths = {
  exchange: '/token',
  refresh: '/token',
  refreshTokenIn: 'form',
  idToken: false,
  check: '/me',
  introspect: null,
};
const OIDC_PROVIDER = {
  kind: 'peer',
  note: 'also signs an ID token each time (RS256, its default; ES256 is about a fifth faster) and stores consent; no audit, log or limits',
  paths: { ...LIBRARY, idToken: true, introspect: '/token/introspection' },
  program: ['bench/peers/oidc-provider.mjs'],
} as const;
const VALETKEY = {
  kind: 'valetkey',
  paths: OWN_PATHS,
  program: ['--disable-sigusr1', '--max-semi-space-size=4', 'src/main.ts', 'serve'],
} as const;

/** All of them, in the order of the tables. */
export const CONTESTANTS: readonly Contestant[] = [
  {
    ...VALETKEY,
    name: 'valetkey-sqlite',
    title: 'Valetkey, SQLite',
    store: 'sqlite',
    note: 'as shipped: checks, limits, log, audit',
  },
  {
    ...VALETKEY,
    name: 'valetkey-sign-in',
    title: 'Valetkey, SQLite, signing in',
    store: 'sqlite',
    note: 'for an app that signs users in: an exchange answers an ID token as well (RS256), and a check is the userinfo endpoint',
    paths: SIGN_IN_PATHS,
  },
  {
    ...VALETKEY,
    name: 'valetkey-postgresql',
    title: 'Valetkey, PostgreSQL',
    store: 'postgresql',
    note: 'as shipped: checks, limits for all instances, log, audit',
  },
  { ...OIDC_PROVIDER, name: 'oidc-provider-sqlite', title: 'oidc-provider, SQLite', store: 'sqlite' },
  { ...OIDC_PROVIDER, name: 'oidc-provider-postgresql', title: 'oidc-provider, PostgreSQL', store: 'postgresql' },
  {
    kind: 'peer',
    name: 'node-oauth2-server',
    title: '@node-oauth/oauth2-server, SQLite',
    store: 'sqlite',
    note: 'the bare protocol: a row for each token, node:http around it; no audit, log, limits, nor end of all at a replay',
    paths: LIBRARY,
    program: ['bench/peers/node-oauth2-server.mjs'],
  },
  {
    kind: 'peer',
    name: 'jmondi-oauth2-server',
    title: '@jmondi/oauth2-server, SQLite',
    store: 'sqlite',
    note: 'the same, with signed tokens that are looked up as well; a refresh does not guard against a race',
    paths: { ...LIBRARY, introspect: '/introspect' },
    program: ['bench/peers/jmondi-oauth2-server.mjs'],
  },
  {
    kind: 'peer',
    name: 'better-auth',
    title: 'better-auth, SQLite',
    store: 'sqlite',
    note: 'also signs an ID token each time; its limits are off, as they are for each address; introspects only for the app itself',
    paths: {
      ...LIBRARY,
      exchange: '/oauth2/token',
      refresh: '/oauth2/token',
      idToken: true,
      check: '/oauth2/userinfo',
    },
    program: ['bench/peers/better-auth.mjs'],
  },
  {
    kind: 'floor',
    name: 'fastify',
    title: 'bare Fastify',
    store: null,
    note: 'reads the request and answers as many bytes; does nothing',
    paths: OWN_PATHS,
    program: ['bench/bare-fastify.ts'],
  },
  {
    kind: 'floor',
    name: 'node-http',
    title: 'bare node:http',
    store: null,
    note: 'the same without Fastify',
    paths: OWN_PATHS,
    program: ['bench/bare-http.ts'],
  },
];

/** Makes a contestant ready to be started. */
export async function targetOf(contestant: Contestant, place: Place): Promise<Target> {
  if (contestant.kind === 'valetkey') return valetkey(contestant, place);
  const port = await freePort();
  const environment = { NODE_ENV: 'production' };
  const at = { ...contestant, appPort: port, apiPort: port, environment };
  if (contestant.kind === 'floor')
    return { ...at, program: [...contestant.program, String(port)], mint: async (count) => madeUp(count) };
  const data = await dataOf(contestant, place);
  return { ...at, program: [...contestant.program, String(port), data], mint: (count) => mintByRoute(port, count) };
}

/** The real service with everything at its defaults, but codes that live long enough to be minted ahead. */
async function valetkey(contestant: Contestant, place: Place): Promise<Target> {
  const [appPort, apiPort] = [await freePort(), await freePort()];
  const data = await dataOf(contestant, place);
  const environment = {
    VALETKEY_APP_URL: `http://127.0.0.1:${appPort}`,
    VALETKEY_API_URL: `http://127.0.0.1:${apiPort}`,
    VALETKEY_DATABASE_URL: contestant.store === 'postgresql' ? data : `sqlite:${data}`,
    VALETKEY_KEYS: makeRootKey(),
    VALETKEY_CODE_TTL: '600',
  };
  const at = { ...contestant, environment, appPort };
  return contestant.paths === SIGN_IN_PATHS
    ? { ...at, apiPort: appPort, mint: (count) => mintInProcess(environment, count, ['sign-in']) }
    : { ...at, apiPort, mint: (count) => mintInProcess(environment, count) };
}

function dataOf({ name, store }: Contestant, { folder, createDatabase }: Place): Promise<string> | string {
  return store === 'postgresql' ? createDatabase() : join(folder, `${name}.db`);
}

async function mintByRoute(port: number, count: number): Promise<Filled> {
  const response = await fetch(`http://127.0.0.1:${port}/bench/codes/${count}`, { method: 'POST' });
  if (!response.ok) throw new Error(`no codes: ${await response.text()}`);
  return (await response.json()) as Filled;
}

/** Has the length of the real thing; nobody looks at it. */
function madeUp(count: number): Filled {
  return {
    clientId: 'app_0123456789abcdef',
    clientSecret: `vk_cs_${'0'.repeat(44)}`,
    redirectUri: 'https://client.example/callback',
    codes: Array.from({ length: count }, (_, number) => `vk_ac_${String(number).padStart(74, '0')}`),
    resourceServer: { id: 'rs_0123456789abcdef', secret: `vk_rs_${'0'.repeat(44)}` },
  };
}
