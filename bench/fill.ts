/**
 * Mints codes ahead: accounts, a client and so many grants in the database that the environment names, through the
 * protocol's own operations and at their own durability. Prints them as JSON. `node bench/fill.ts COUNT [sign-in]`; with
 * `sign-in` the codes are those of an app that signs users in, whose exchange answers an ID token as well.
 */

import { newAccountId } from '../src/accounts/people/account.ts';
import { SET_HERE } from '../src/accounts/people/new-account.ts';
import { newSessionToken, passwordSession } from '../src/accounts/people/session.ts';
import { Activity } from '../src/oauth/activity/activity.ts';
import { ClientAuthenticator } from '../src/oauth/clients/client-authenticator.ts';
import { ClientKeys } from '../src/oauth/clients/client-keys.ts';
import { createKeyring, type Keyring } from '../src/oauth/keys/keyring.ts';
import { SigningKeys } from '../src/oauth/openid/signing-keys.ts';
import { Parameters } from '../src/oauth/parameters.ts';
import type { OwnerSession } from '../src/oauth/protocol/allow.ts';
import { AuthorizationServer } from '../src/oauth/protocol/authorization-server.ts';
import { OpenIdConnect } from '../src/oauth/protocol/openid-connect.ts';
import { newProtocolTally } from '../src/oauth/protocol/protocol-tally.ts';
import { auditEvent } from '../src/oauth/trail/audit.ts';
import { ClientRegistry } from '../src/operator/apps/client-registry.ts';
import { ResourceServerRegistry } from '../src/operator/products-and-apis/resource-server-registry.ts';
import { type Configuration, lifetimesOf, readConfiguration, sharedSettings } from '../src/settings/configuration.ts';
import { parseRootKeys } from '../src/settings/root-keys.ts';
import type { Storage } from '../src/storage/opening/opened-storage.ts';
import { openPostgresql } from '../src/storage/postgresql/open.ts';
import { openSqlite } from '../src/storage/sqlite/open.ts';

/** A client with unused codes of its own, and an API that may introspect their tokens. */
export type Filled = {
  readonly clientId: string;
  readonly clientSecret: string;
  readonly redirectUri: string;
  readonly codes: readonly string[];
  readonly resourceServer: { readonly id: string; readonly secret: string };
};

const REDIRECT_URI = 'https://client.example/callback';
/** Grants that are issued at once, and share commits; few enough that none waits for a connection for long. */
const AT_ONCE = 64;
/** Each account has so many: far from the limit, as people are. */
const GRANTS_OF_ONE = 8;
const ORIGIN = { source: '127.0.0.1', requestId: 'bench' };
const OPERATOR = { kind: 'operator', id: 'bench', source: null, requestId: null } as const;

async function fill(count: number, signIn: boolean): Promise<Filled> {
  const configuration = readConfiguration(process.env);
  const keyring = createKeyring(parseRootKeys(configuration.keys ?? '', 'VALETKEY_KEYS'));
  const now = Date.now;
  const { store, close } = await open(configuration, keyring);
  const lifetimes = lifetimesOf(configuration);
  const prefix = configuration.tokenPrefix;
  const signingKeys = new SigningKeys({ store, keyring, now, actor: OPERATOR });
  const registry = new ClientRegistry({ store, prefix, accessTokenLifetime: lifetimes.accessToken, now });
  const { row: client, secret: clientSecret } = await registry.register(
    'confidential',
    {
      name: 'Bench',
      redirectUris: [REDIRECT_URI],
      signIn,
      scopes: signIn ? [{ name: 'read', sentence: 'Read your files.', optional: false }] : [],
    },
    OPERATOR,
  );
  const tally = newProtocolTally();
  const parts = {
    store,
    keyring,
    lifetimes,
    prefix,
    tally,
    activity: new Activity({ store, now, later: () => () => {}, report: () => {} }),
    now,
    restoredAt: null,
  };
  const throttle = { wait: () => 0, left: () => 1, limit: { count: Number.POSITIVE_INFINITY }, count: () => {} };
  const keys = new ClientKeys({
    ...{ store, now, actor: { kind: 'service', id: 'bench', source: null, requestId: null }, report: () => {} },
    fetchJson: () => Promise.reject(new Error('the client has its keys here')),
  });
  const clients = new ClientAuthenticator({ ...parts, keys, throttle, audiences: [] });
  const { appUrl: issuer, apiUrl: ownResource } = configuration;
  const openIdConnect = new OpenIdConnect({ ...parts, signingKeys, sign: async () => null, issuer });
  const whole = { ...parts, clients, openIdConnect, issuer, ownResource };
  const server = new AuthorizationServer({ ...whole, signsInElsewhere: false });
  const parameters = { client_id: client.id, redirect_uri: REDIRECT_URI, state: 'bench' };
  const standard = { ...parameters, response_type: 'code', scope: 'openid read', nonce: 'bench' };
  const request = signIn
    ? await server.validateRequest('standard', new Parameters(Object.entries(standard)))
    : await server.validateRequest('published', new Parameters(Object.entries(parameters)));
  if (request.kind !== 'valid') throw new Error('the authorization request is not valid');
  const codes: string[] = [];
  while (codes.length < count) {
    const resourceOwners = await Promise.all(Array.from({ length: AT_ONCE / GRANTS_OF_ONE }, () => addOwner(store)));
    const some = Array.from({ length: Math.min(AT_ONCE, count - codes.length) }, (_, place) =>
      server.allow(
        request,
        resourceOwners[place % resourceOwners.length] as OwnerSession,
        { given: 'allowed', chosen: [], shownFields: [] },
        ORIGIN,
      ),
    );
    const settled = await Promise.allSettled(some);
    const issued = settled.filter((one) => one.status === 'fulfilled');
    // On a busy machine a database may be too slow for some; if it is for all, something else is wrong.
    if (issued.length === 0) await some[0];
    for (const { value } of issued) codes.push(new URL(value ?? '').searchParams.get('code') ?? '');
  }
  const servers = new ResourceServerRegistry({ ...parts, ownResource });
  const { row: resourceServer, secret } = await servers.register(
    { name: 'Bench API', resource: null, scopes: null },
    OPERATOR,
  );
  await close();
  return {
    clientId: client.id,
    clientSecret: clientSecret ?? '',
    redirectUri: REDIRECT_URI,
    codes,
    resourceServer: { id: resourceServer.id, secret },
  };
}

function open(configuration: Configuration, keyring: Keyring): Promise<Storage> {
  const { database, tokenPrefix } = configuration;
  const settings = { tokenPrefix, shared: sharedSettings(configuration) };
  if (database.kind === 'postgresql')
    return openPostgresql({ settings, refuseNew: null, url: database.url, keyring, role: 'command', migrate: true });
  if (database.kind === 'memory') throw new Error('name a database that outlives this process');
  return openSqlite({
    settings,
    refuseNew: null,
    path: database.path,
    keyring,
    now: Date.now,
    role: 'command',
    durability: 'full',
    migrate: true,
    report: fail,
    onFailure: fail,
  });
}

function fail(what: Error | string): never {
  throw what;
}

/** An account whose password nobody knows, with a session: nobody signs in here, so that none is hashed. */
async function addOwner(store: Storage['store']): Promise<OwnerSession> {
  const id = newAccountId();
  const email = `${id}@example.com`;
  const createdAt = Date.now();
  const password = { sealedPhc: '$argon2id$none', keyId: 0 };
  const about = { id, email, username: null, name: 'Ada Example', avatarUrl: null, password };
  const event = auditEvent('user_added', OPERATOR, createdAt, { resourceOwnerId: id });
  const times = { createdAt, passwordSetAt: createdAt, mustChangePassword: false, invitation: null };
  await store.addAccount({ ...about, ...times, ...SET_HERE, status: 'active', epoch: 0 }, email, event);
  const session = passwordSession(newSessionToken(), id, createdAt);
  await store.addSession(session, password, null, auditEvent('sign_in', OPERATOR, createdAt, { resourceOwnerId: id }));
  const signIn = { signedInAt: createdAt, authTime: createdAt, amr: [] };
  return { session: session.digest, resourceOwnerId: id, providerId: null, externalId: null, ...signIn };
}

if (import.meta.main)
  process.stdout.write(JSON.stringify(await fill(Number(process.argv[2]), process.argv[3] === 'sign-in')));
