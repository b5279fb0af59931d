/** A database of an earlier version becomes one of this version, and nothing in it is lost or changed. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync, type SQLInputValue } from 'node:sqlite';
import { type TestContext, test } from 'node:test';
import type { Grant } from '../../src/oauth/grant.ts';
import { createKeyring } from '../../src/oauth/keyring.ts';
import { found } from '../../src/storage/sqlite/installation.ts';
import { MIGRATIONS, migrate } from '../../src/storage/sqlite/migrate.ts';
import { keyring, rotatedKeyring } from '../oauth/samples.ts';
import {
  addAdaAndOne,
  beginning,
  event,
  HOUR,
  NOW,
  openAsService,
  sampleAccount,
  sampleClient,
  sampleGrant,
  sampleMark,
  sampleResourceServer,
  sampleSession,
  secondConnection,
  temporaryPath,
} from '../support/storage.ts';

const secret = { digest: Buffer.alloc(32, 7), keyId: keyring.currentKeyId, createdAt: NOW };
const one = sampleClient({
  secrets: [secret],
  scopes: [
    { name: 'read', sentence: 'Read "everything"', optional: false },
    { name: 'write', sentence: null, optional: false },
  ],
});
const phone = sampleClient({ id: 'app_phone', type: 'public', status: 'paused', scopes: [], secrets: [], epoch: 3 });
const ada = sampleAccount();
const session = sampleSession();
const grants: Grant[] = [
  sampleGrant(),
  sampleGrant({ generation: 7, accessTokenExpiresAt: NOW + HOUR, usedGeneration: 6, lastUsedAt: NOW + 9, scope: '' }),
  sampleGrant({ codeChallenge: 'challenge', redirectUri: 'com.example.app:/cb', clientId: 'app_phone' }),
  sampleGrant({ epochs: { installation: 1, client: 2, resourceOwner: 3 } }),
  ...(['user', 'operator', 'code_replay', 'refresh_reuse'] as const).map((revocationReason) =>
    sampleGrant({ revokedAt: NOW + 5, revocationReason }),
  ),
  sampleGrant({ revokedAt: NOW + 5 }),
];

/** Writes a row of a table of the first version. */
function insert(database: DatabaseSync, table: string, row: Record<string, SQLInputValue>): void {
  const places = Object.keys(row).map(() => '?');
  database
    .prepare(`INSERT INTO ${table} (${Object.keys(row).join(', ')}) VALUES (${places.join(', ')})`)
    .run(...Object.values(row));
}

/** A database as the first version made it, with something in each of its tables. */
function makeFirstVersion(t: TestContext): string {
  const path = temporaryPath(t);
  mkdirSync(dirname(path));
  const database = new DatabaseSync(path);
  migrate(database, NOW, MIGRATIONS.slice(0, 1));
  found(database, keyring, beginning.settings, NOW);
  for (const { secrets, scopes, redirectUris, requirePkce, ...client } of [one, phone])
    insert(database, 'client', {
      id: client.id,
      epoch: client.epoch,
      status: client.status,
      type: client.type,
      name: client.name,
      require_pkce: requirePkce ? 1 : 0,
      refresh_overlap: client.refreshOverlap,
      refresh_retry_window: client.refreshRetryWindow,
      created_at: client.createdAt,
      secrets: JSON.stringify(secrets.map((each) => ({ ...each, digest: each.digest.toString('base64') }))),
      redirect_uris: JSON.stringify(redirectUris),
      // The first version knew no optional scopes.
      scopes: JSON.stringify(scopes.map(({ name, sentence }) => ({ name, sentence }))),
    });
  insert(database, 'account', {
    id: ada.id,
    epoch: ada.epoch,
    status: ada.status,
    email: ada.email,
    email_key: 'ada@example.com',
    username: ada.username,
    name: ada.name,
    avatar_url: ada.avatarUrl,
    is_operator: 0,
    password_phc: ada.password.phc,
    password_key_id: ada.password.keyId,
    password_set_at: ada.passwordSetAt,
    created_at: ada.createdAt,
  });
  const { digest, accountId, createdAt, lastSeenAt } = session;
  insert(database, 'session', { digest, account_id: accountId, created_at: createdAt, last_seen_at: lastSeenAt });
  for (const grant of grants)
    insert(database, 'oauth_grant', {
      id: grant.id,
      client_id: grant.clientId,
      resource_owner_id: grant.resourceOwnerId,
      installation_epoch: grant.epochs.installation,
      client_epoch: grant.epochs.client,
      resource_owner_epoch: grant.epochs.resourceOwner,
      generation: grant.generation,
      key_id: grant.keyId,
      rotated_at: grant.rotatedAt,
      access_token_expires_at: grant.accessTokenExpiresAt,
      expires_at: grant.expiresAt,
      used_generation: grant.usedGeneration,
      last_used_at: grant.lastUsedAt,
      revoked_at: grant.revokedAt,
      revocation_reason: grant.revocationReason,
      granted_at: grant.grantedAt,
      absolute_expires_at: grant.absoluteExpiresAt,
      seed: grant.seed,
      scope: grant.scope,
      redirect_uri: grant.redirectUri,
      code_challenge: grant.codeChallenge,
    });
  for (const detail of ['first', 'second'])
    insert(database, 'audit_event', {
      at: NOW,
      action: 'client_registered',
      actor_kind: 'operator',
      actor_id: 'root',
      client_id: 'app_one',
      detail,
    });
  database.close();
  return path;
}

test('what the first version stored is there after migration 0002, as it was', async (t) => {
  const opened = await openAsService(makeFirstVersion(t));
  t.after(() => opened.close());
  const { store } = opened;
  assert.deepEqual(opened.applied, ['standard-face']);
  for (const grant of grants) assert.deepEqual((await store.findGrant(grant.id))?.grant, { ...grant, resource: null });
  assert.equal((await store.listGrants({ limit: 100 })).length, grants.length);
  for (const client of [one, phone]) assert.deepEqual(await store.findClient(client.id), client);
  assert.deepEqual(await store.findAccountByEmail('ada@example.com'), ada);
  assert.deepEqual(await store.findSession(session.digest), { session, account: ada });
  const events = await store.listAuditEventsAfter(0, 10);
  assert.deepEqual(
    events.map(({ sequence, detail, clientId }) => [sequence, detail, clientId]),
    [
      [1, 'first', 'app_one'],
      [2, 'second', 'app_one'],
    ],
  );
  assert.deepEqual(await store.listResourceServers(), []);
  assert.deepEqual(await store.listScopes(), []);
});

test('a migrated database does all that a new one does', async (t) => {
  const opened = await openAsService(makeFirstVersion(t));
  t.after(() => opened.close());
  const { store } = opened;
  const [grant] = grants as [Grant];
  const { epochs } = grant;
  assert.equal(await store.revokeGrant(grant.id, 'client', event('grant_revoked')), true);
  await store.issueGrant(sampleGrant({ resource: 'https://letters.test', epochs }), event('consent_allowed'));
  await store.registerResourceServer(sampleResourceServer(), event('resource_server_registered'));
  assert.equal(await store.useClientAssertion(sampleMark(0), 1), 'first');
  const changed = {
    ...one,
    keys: [{ kty: 'OKP' }],
    consent: 'skip',
    deviceFlow: true,
    assertionAudience: 'issuer',
  } as const;
  assert.equal(await store.updateClient(changed, event('client_updated')), true);
  assert.deepEqual(await store.findClient(one.id), changed);
  assert.equal(await store.lastAuditSequence(), 6);
  assert.deepEqual(
    opened.check().filter(({ ok }) => !ok),
    [],
  );
});

test('a migrated database has the tables, the checks and the indexes of a new one, to the letter', async (t) => {
  const schemaOf = (path: string) =>
    secondConnection(t, path).prepare('SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY name').all();
  const [migrated, fresh] = [makeFirstVersion(t), temporaryPath(t)];
  for (const path of [migrated, fresh]) {
    const opened = await openAsService(path);
    if (path === fresh) await addAdaAndOne(opened);
    await opened.close();
  }
  assert.deepEqual(schemaOf(migrated), schemaOf(fresh));
  const database = secondConnection(t, migrated);
  const plans = ['client_id', 'resource_owner_id', 'id'].map((column) =>
    JSON.stringify(database.prepare(`EXPLAIN QUERY PLAN SELECT 1 FROM oauth_grant WHERE ${column} = ?`).all('x')),
  );
  for (const plan of plans) assert.match(plan, /SEARCH oauth_grant USING/);
  const wrong = [
    "UPDATE oauth_grant SET revocation_reason = 'nobody'",
    "UPDATE client SET consent = 'never'",
    "UPDATE client SET assertion_audience = ''",
  ];
  for (const sql of [...wrong, 'UPDATE client SET device_flow = 2', "UPDATE oauth_grant SET seed = x'00'"])
    assert.throws(() => database.exec(sql), /CHECK constraint/);
});

test('a database of the first version is refused to keys that are not its own before anything is changed', async (t) => {
  const path = makeFirstVersion(t);
  const onlyNew = createKeyring([Buffer.alloc(32, 'a new key')]);
  await assert.rejects(openAsService(path, { keyring: onlyNew }), /made with other keys/);
  const beside = { role: 'command', migrate: false } as const;
  await assert.rejects(openAsService(path, beside), /needs 1 migration.*database migrate/);
  const database = secondConnection(t, path);
  const tables = database.prepare("SELECT count(*) AS number FROM sqlite_schema WHERE name = 'resource_server'").get();
  assert.equal(tables?.['number'], 0);
});

test('a key that nothing needs may leave the ring together with the first version', async (t) => {
  const path = temporaryPath(t);
  mkdirSync(dirname(path));
  const database = new DatabaseSync(path);
  migrate(database, NOW, MIGRATIONS.slice(0, 1));
  found(database, rotatedKeyring, beginning.settings, NOW);
  database.close();
  const opened = await openAsService(path, { keyring: createKeyring([Buffer.alloc(32, 'a new key')]) });
  assert.deepEqual(opened.applied, ['standard-face']);
  await opened.close();
});

test('of two processes that migrate a database of the first version at once, one does, and both can work', async (t) => {
  const path = makeFirstVersion(t);
  const all = await Promise.all(Array.from({ length: 3 }, () => openAsService(path, { role: 'command' })));
  for (const { store, check } of all) {
    assert.equal((await store.listGrants({ limit: 100 })).length, grants.length);
    assert.deepEqual(
      check().filter(({ ok }) => !ok),
      [],
    );
  }
  for (const opened of all) await opened.close();
});
