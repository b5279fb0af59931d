/** Made-up clients, accounts and grants in PostgreSQL, inserted by SQL, which makes millions of rows in minutes. */
import { PERSON_FIELDS } from '../src/oauth/person-fields.ts';
import { STORED_ACCOUNT } from '../src/storage/tables/accounts.ts';
import { CLIENT } from '../src/storage/tables/clients.ts';
import { GRANT } from '../src/storage/tables/grant-rows.ts';
import type { MadeUp } from './scaling-store.ts';

/** Asks a database. */
export type Ask = <Row extends object>(sql: string, values?: unknown[]) => Promise<Row[]>;

/** The nth client. $2 is when it was made, $3 the fields of a person that it sees. */
const CLIENTS = CLIENT.computed({
  id: "'app_' || lpad(n::text, 16, '0')",
  epoch: '0',
  status: "'active'",
  type: "'confidential'",
  name: "'App ' || n",
  publisher: 'NULL',
  homepage: 'NULL',
  privacyPage: 'NULL',
  contact: 'NULL',
  isChecked: 'false',
  requirePkce: 'false',
  refreshOverlap: 'NULL',
  refreshRetryWindow: 'NULL',
  createdAt: '$2',
  resumedAt: 'NULL',
  secrets: "'[]'",
  redirectUris: `json_build_array('https://app-' || n || '.example.com/oauth/callback')::text`,
  scopes: "'[]'",
  personFields: '$3',
  keys: "'[]'",
  consent: "'ask'",
  deviceFlow: 'false',
  assertionAudience: "'any'",
  seesExternalId: 'false',
});

/** The nth account. $2 is when it was made, $3 its sealed password, $4 the key of that. */
const ACCOUNTS = STORED_ACCOUNT.computed({
  id: "'usr_' || lpad(n::text, 16, '0')",
  epoch: '0',
  status: "'active'",
  email: "'user-' || n || '@mail.example.com'",
  emailKey: "'user-' || n || '@mail.example.com'",
  emailVerified: 'false',
  username: "'user' || n",
  name: "'Ada Example'",
  avatarUrl: 'NULL',
  isOperator: 'false',
  password: "json_build_object('sealedPhc', $3::text, 'keyId', $4::bigint)::text",
  foreignRank: 'NULL',
  isUnwrapped: 'false',
  passwordSetAt: '$2::bigint',
  mustChangePassword: 'false',
  invitation: 'NULL',
  createdAt: '$2::bigint',
});

/** The nth grant, as `filledGrant` makes it. $2 is when the first was allowed, $3 the number of accounts. */
const GRANTS = GRANT.computed({
  id: "(lpad(to_hex($2::bigint + n), 12, '0') || '7' || substr(chance, 1, 3) || '8' || substr(chance, 4, 15))::uuid",
  clientId: "'app_' || lpad(client::text, 16, '0')",
  resourceOwnerId: "'usr_' || lpad(mod(n * 7919::bigint, $3)::text, 16, '0')",
  epochs: '0',
  generation: '1',
  keyId: '$4',
  rotatedAt: '$2 + n',
  accessTokenExpiresAt: '$2 + n + 1800000',
  expiresAt: '$2 + n + 2592000000',
  usedGeneration: '1',
  lastUsedAt: '$2 + n',
  revokedAt: 'NULL',
  revocationReason: 'NULL',
  grantedAt: '$2 + n',
  absoluteExpiresAt: '$2 + n + 31536000000',
  seed: "decode(chance, 'hex')",
  scope: '$5',
  leftOut: "''",
  personFields: "'name username email avatar_url'",
  redirectUri: "'https://app-' || client || '.example.com/oauth/callback'",
  codeChallenge: '$6',
  resource: 'NULL',
  providerId: 'NULL',
  externalId: 'NULL',
  signedInAt: '$2 + n',
});

/** Fills a database that was just made. The compiler asks for each column of the three tables. */
export async function fill(
  ask: Ask,
  { grants, accounts, clients, since, keyId, scope, challenge, sealedPhc }: MadeUp,
): Promise<void> {
  const numbers = 'generate_series(0, $1::int - 1) AS n';
  await ask(`INSERT INTO client (${CLIENT.names}) SELECT ${CLIENTS} FROM ${numbers}`, [
    clients,
    since,
    JSON.stringify(PERSON_FIELDS),
  ]);
  await ask(`INSERT INTO account (${STORED_ACCOUNT.names}) SELECT ${ACCOUNTS} FROM ${numbers}`, [
    accounts,
    since,
    sealedPhc,
    keyId,
  ]);
  await ask(
    `INSERT INTO oauth_grant (${GRANT.names}, attempt) SELECT ${GRANTS}, gen_random_uuid()
     FROM (SELECT n, md5(n::text) AS chance, mod(n, $7) AS client FROM ${numbers}) AS made ORDER BY n`,
    [grants, since, accounts, keyId, scope, challenge, clients],
  );
  await ask('VACUUM (ANALYZE)');
}
