/**
 * Rows in the states that no short run of the program brings about: they take crowds, hours, a second machine, or documents of
 * others. They are written by the descriptions of their tables, so that the compiler asks for each new column.
 */
import { randomBytes } from 'node:crypto';
import type { PlainDatabase } from '../../src/storage/schema/plain-database.ts';
import type { Table } from '../../src/storage/statements/table.ts';
import { STORED_ACCOUNT } from '../../src/storage/tables/accounts/accounts.ts';
import { EXTERNAL_SIGN_IN } from '../../src/storage/tables/accounts/external-sign-ins.ts';
import { FORMER_ACCOUNT, FORMER_IDENTITY } from '../../src/storage/tables/accounts/identities.ts';
import { SESSION } from '../../src/storage/tables/accounts/sessions.ts';
import { STORED_GRANT } from '../../src/storage/tables/grants/grant-rows.ts';
import { STORED_ROOT_KEY } from '../../src/storage/tables/installation/installation.ts';
import { SIGNING_KEY } from '../../src/storage/tables/installation/signing-keys.ts';
import { OPERATOR } from '../../src/storage/tables/operators/operator-rows.ts';
import { OPERATOR_PASSKEY, OPERATOR_SESSION } from '../../src/storage/tables/operators/operator-sessions.ts';
import { APP_FAILURE } from '../../src/storage/tables/registrations/activity.ts';
import { STORED_CLIENT } from '../../src/storage/tables/registrations/clients.ts';
import { HAND_OVER } from '../../src/storage/tables/registrations/hand-over-rows.ts';
import { IDENTITY_PROVIDER } from '../../src/storage/tables/registrations/identity-providers.ts';
import { RESOURCE_SERVER } from '../../src/storage/tables/registrations/resource-servers.ts';
import { SCOPE } from '../../src/storage/tables/registrations/scopes.ts';
import { sampleOperator, sampleOperatorSession, samplePasskey } from '../support/operators.ts';
import {
  sampleAccount,
  sampleClient,
  sampleExternalSignIn,
  sampleGrant,
  sampleProvider,
  sampleResourceServer,
  sampleSession,
} from '../support/storage.ts';

/** Writes the rows; `now` in ms. */
export async function addOtherStates(database: PlainDatabase, now: number): Promise<void> {
  const put = async <Row extends object>(table: Table<Row>, ...rows: readonly Row[]) => {
    for (const row of rows) await database.change(table.insertion, table.values(row));
  };
  const effects = ['reads', 'changes', 'sensitive'] as const;
  await put(
    SCOPE,
    ...effects.map((effect) => ({
      name: `old.${effect}`,
      sentences: { en: 'An old permission' },
      effect,
      createdAt: now,
    })),
  );
  await put(RESOURCE_SERVER, sampleResourceServer({ id: 'rs_old' }));
  await put(STORED_CLIENT, ...clients(now));
  await put(IDENTITY_PROVIDER, pausedProvider());
  await put(STORED_ACCOUNT, ...accounts());
  await put(FORMER_ACCOUNT, { id: 'forum:gone', epoch: 3 });
  await put(FORMER_IDENTITY, {
    id: 'forum:gone',
    providerId: 'forum',
    accountId: 'forum:gone',
    createdAt: 1,
    endedAt: now,
  });
  await put(SESSION, sessionThroughProvider(now));
  await put(EXTERNAL_SIGN_IN, ...externalSignIns(now));
  await put(STORED_GRANT, ...grants(now));
  await put(APP_FAILURE, {
    key: `app_old ${now} req-1`,
    clientId: 'app_old',
    at: now,
    requestId: 'req-1',
    endpoint: 'token',
    error: 'invalid_grant',
    reason: 'The code was used already.',
    network: '192.0.2.0/24',
    grantId: '019b7cd0-a1b2-7c3d-8e4f-5a6b7c8d9e0f',
  });
  await put(HAND_OVER, ...handOvers(now));
  await put(OPERATOR, ...operators());
  await put(
    OPERATOR_PASSKEY,
    samplePasskey({ operatorId: 'opr_old', isBackedUp: true, lastUsedAt: now, suspectedAt: now }),
  );
  await put(
    OPERATOR_SESSION,
    sampleOperatorSession({ operatorId: 'opr_old', how: 'address', begunBy: 'opk_x', confirmedBy: 'opk_y' }),
  );
  await put(SIGNING_KEY, {
    id: 'former',
    state: 'former',
    publicKey: { kty: 'RSA', n: 'x', e: 'AQAB' },
    sealedKey: null,
    rootKeyId: null,
    createdAt: 1,
    signsSince: 2,
    dropAt: now,
  });
  await put(STORED_ROOT_KEY, { keyId: 7, canary: randomBytes(32), createdAt: 1, supersededAt: 2, retiredAt: 3 });
}

function clients(now: number) {
  const old = {
    ...sampleClient(),
    nameKey: 'old',
    publisherKey: 'old',
    publisher: 'Old',
    homepage: 'https://old.example/',
    privacyPage: 'https://old.example/privacy',
    contact: 'help@old.example',
    isChecked: true,
    requirePkce: true,
    refreshOverlap: 60,
    refreshRetryWindow: 600,
    defaultResource: 'https://letters.test',
    assertionAudience: 'issuer' as const,
    seesExternalId: true,
    signIn: true,
  };
  const fetched = {
    documentSha256: 'a'.repeat(64),
    jwksUri: 'https://old.example/jwks',
    jwksFetchedAt: now,
    jwksAskedAt: now,
  };
  return [
    { ...old, id: 'app_old', status: 'paused' as const, consent: 'remember' as const, remembersSince: now },
    { ...old, id: 'https://old.example/app', consent: 'skip' as const, ...fetched },
  ];
}

function pausedProvider() {
  return sampleProvider({
    id: 'forum',
    status: 'paused',
    homePage: 'https://forum.example/',
    sessionLifetime: 3600,
    keys: [{ kty: 'EC', crv: 'P-256', x: 'x', y: 'y' }] as never,
  });
}

function accounts() {
  const noPassword = { password: null, passwordSetAt: null, foreignRank: null, isUnwrapped: false };
  const invitation = { digest: 'x'.repeat(43), expiresAt: 1 };
  return [
    {
      ...sampleAccount({ id: 'usr_invited', email: 'invited@example.com', username: 'invited' }),
      ...{ ...noPassword, emailKey: 'invited@example.com', avatarUrl: 'https://old.example/a.png' },
      ...{ mustChangePassword: true, invitation },
    },
    {
      ...sampleAccount({ id: 'usr_product', username: null }),
      ...{ email: 'some@example.com', emailKey: 'some@example.com', emailVerified: false, emailSetHere: false },
      ...noPassword,
    },
  ];
}

function sessionThroughProvider(now: number) {
  const requests = [{ continueTo: '/device', ticket: 'x', at: now }];
  const external = { externalId: 'some', authTime: now, amr: ['pwd'], isBound: true, requests };
  return sampleSession({ accountId: 'usr_product', providerId: 'forum', external });
}

function externalSignIns(now: number) {
  const profile = { name: 'Some' } as never;
  return [
    sampleExternalSignIn({ providerId: 'forum', identityId: 'forum:some', profile, maxAge: 60, takenAt: now }),
    sampleExternalSignIn({ providerId: 'forum', identityId: null, demandsLogin: true }),
  ];
}

/** A grant that lives, with every member, and one for each reason that ends one. */
function grants(now: number) {
  const reasons = [
    ...(['user', 'operator', 'client', 'code_replay', 'refresh_reuse', 'too_many_grants'] as const),
    ...(['refresh_conflict', 'restored', 'replaced'] as const),
  ];
  const full = {
    ...{ clientId: 'app_old', resourceOwnerId: 'usr_product', presentedFrom: '192.0.2.0/24' },
    ...{ leftOut: 'write', codeChallenge: 'x'.repeat(43), resource: 'https://letters.test', resourceIsDefault: true },
    ...{ providerId: 'forum', externalId: 'some', accessTokenExpiresAt: now, lastUsedAt: now },
    openid: { nonce: 'n', auth_time: 1, amr: ['pwd'], renews: true } as const,
  };
  const ended = reasons.map((revocationReason) => ({ revocationReason, revokedAt: now }));
  return [{}, ...ended].map((some) => ({ ...sampleGrant(), ...full, ...some }));
}

function handOvers(now: number) {
  const made = {
    madeAt: 1,
    madeBy: 'ann',
    expiresAt: 2,
    fetchedAt: null,
    fetchedFrom: null,
    endedAt: null,
    endedWhy: null,
  };
  const of = (kind: 'client' | 'resource_server' | 'identity_provider', id: string) => ({
    ...made,
    digest: randomBytes(32),
    subject: { kind, id },
  });
  const ends = ['replaced', 'secret changed', 'paused', 'deleted', 'restored'] as const;
  return [
    { ...of('resource_server', 'rs_old'), fetchedAt: now, fetchedFrom: '192.0.2.0/24' },
    of('identity_provider', 'forum'),
    ...ends.map((endedWhy) => ({ ...of('client', 'app_old'), endedAt: now, endedWhy })),
  ];
}

function operators() {
  return [
    sampleOperator({ id: 'opr_old', name: 'Old', role: 'support' }),
    sampleOperator({ id: 'opr_gone', name: 'Gone', role: 'read', status: 'disabled' }),
  ];
}
