/** A migration as a later release may bring one that no `ALTER TABLE` can do: it makes the table of grants anew. */
import { MIGRATIONS } from '../../src/storage/sqlite/plain-database.ts';

const [first] = MIGRATIONS;
const grants = /CREATE TABLE oauth_grant .*?;/s.exec(first?.sql ?? '')?.[0] ?? '';
const indexes = first?.sql.match(/CREATE INDEX \w+ ON oauth_grant .*?;/g) ?? [];

/** Grants may be revoked for one more reason. */
export const LATER = {
  number: MIGRATIONS.length + 1,
  name: 'later',
  checksum: 'later',
  sql: `
    ${grants.replace('oauth_grant', 'oauth_grant_later').replace("'restored'", "'restored', 'later'")}
    INSERT INTO oauth_grant_later SELECT * FROM oauth_grant;
    DROP TABLE oauth_grant;
    ALTER TABLE oauth_grant_later RENAME TO oauth_grant;
    ${indexes.join('\n')}`,
};
