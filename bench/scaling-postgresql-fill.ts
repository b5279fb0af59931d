/** Made-up clients, accounts and grants in PostgreSQL, inserted by SQL, which makes millions of rows in minutes. */
import type { Grant } from '../src/oauth/grants/grant.ts';
import { PERSON_FIELDS } from '../src/oauth/grants/person-fields.ts';
import type { Stored } from '../src/storage/statements/table.ts';
import { STORED_ACCOUNT } from '../src/storage/tables/accounts/accounts.ts';
import { GRANT } from '../src/storage/tables/grants/grant-rows.ts';
import { STORED_CLIENT } from '../src/storage/tables/registrations/clients.ts';
import { filledGrant, type MadeUp } from './scaling-store.ts';

/** Asks a database. */
export type Ask = <Row extends object>(sql: string, values?: unknown[]) => Promise<Row[]>;

/** The nth client. $2 is when it was made, $3 the fields of a person that it sees. */
const CLIENTS = STORED_CLIENT.computed({
  id: "'app_' || lpad(n::text, 16, '0')",
  epoch: '0',
  status: "'active'",
  type: "'confidential'",
  name: "'App ' || n",
  publisher: 'NULL',
  publisherKey: 'NULL',
  homepage: 'NULL',
  privacyPage: 'NULL',
  contact: 'NULL',
  isChecked: 'false',
  requirePkce: 'false',
  refreshOverlap: 'NULL',
  refreshRetryWindow: 'NULL',
  createdAt: '$2',
  remembersSince: 'NULL',
  secrets: "'[]'",
  redirectUris: `json_build_array('https://app-' || n || '.example.com/oauth/callback')::text`,
  scopes: "'[]'",
  defaultResource: 'NULL',
  personFields: '$3',
  keys: "'[]'",
  consent: "'ask'",
  deviceFlow: 'false',
  assertionAudience: "'any'",
  seesExternalId: 'false',
  signIn: 'false',
  nameKey: "'app ' || n",
  documentSha256: 'NULL',
  jwksUri: 'NULL',
  jwksFetchedAt: 'NULL',
  jwksAskedAt: 'NULL',
});

/** The nth account. $2 is when it was made, $3 its sealed password, $4 the key of that. */
const ACCOUNTS = STORED_ACCOUNT.computed({
  id: "'usr_' || lpad(n::text, 16, '0')",
  epoch: '0',
  status: "'active'",
  email: "'user-' || n || '@mail.example.com'",
  emailKey: "'user-' || n || '@mail.example.com'",
  emailVerified: 'true',
  emailSetHere: 'true',
  username: "'user' || n",
  name: "'Ada Example'",
  avatarUrl: 'NULL',
  password: "json_build_object('sealedPhc', $3::text, 'keyId', $4::bigint)::text",
  foreignRank: 'NULL',
  isUnwrapped: 'false',
  passwordSetAt: '$2::bigint',
  mustChangePassword: 'false',
  invitation: 'NULL',
  createdAt: '$2::bigint',
});

/**
 * The nth grant, as `filledGrant` makes it; a column that is not named here is the same in all. $2 is when the first was
 * allowed, $3 the number of accounts.
 */
function grants(made: MadeUp): string {
  const first = GRANT.values(filledGrant(0, { ...made, codeEvery: 0 }));
  const same = Object.fromEntries(GRANT.columns.map(({ path }, place) => [path[0], literal(first[place] as Stored)]));
  return GRANT.computed({
    ...(same as Record<keyof Grant, string>),
    id: "(lpad(to_hex($2::bigint + n), 12, '0') || '7' || substr(chance, 1, 3) || '8' || substr(chance, 4, 15))::uuid",
    clientId: "'app_' || lpad(client::text, 16, '0')",
    resourceOwnerId: "'usr_' || lpad(mod(n * 7919::bigint, $3)::text, 16, '0')",
    rotatedAt: '$2 + n',
    accessTokenExpiresAt: '$2 + n + 1800000',
    expiresAt: '$2 + n + 2592000000',
    lastUsedAt: '$2 + n',
    grantedAt: '$2 + n',
    absoluteExpiresAt: '$2 + n + 31536000000',
    seed: "decode(chance, 'hex')",
    redirectUri: "'https://app-' || client || '.example.com/oauth/callback'",
    signedInAt: '$2 + n',
  });
}

/** A value in SQL. Bytes are not among those that are the same in all rows. */
function literal(value: Stored): string {
  if (value === null || Buffer.isBuffer(value)) return 'NULL';
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value);
}

/** Fills a database that was just made. The compiler asks for each column of clients and accounts. */
export async function fill(ask: Ask, made: MadeUp): Promise<void> {
  const { accounts, clients, since, keyId, sealedPhc } = made;
  const numbers = 'generate_series(0, $1::int - 1) AS n';
  await ask(`INSERT INTO client (${STORED_CLIENT.names}) SELECT ${CLIENTS} FROM ${numbers}`, [
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
    `INSERT INTO oauth_grant (${GRANT.names}, attempt) SELECT ${grants(made)}, gen_random_uuid()
     FROM (SELECT n, md5(n::text) AS chance, mod(n, $4) AS client FROM ${numbers}) AS made ORDER BY n`,
    [made.grants, since, accounts, clients],
  );
  await ask('VACUUM (ANALYZE)');
}
