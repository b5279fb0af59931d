/** The store that oidc-provider asks an installation to write (its "adapter"): a row for each thing that it keeps. */
import pg from 'pg';
import { inTransaction, openSqlite } from './serve.mjs';

const COLUMNS = 'model, id, payload, expires_at, consumed_at, grant_id, uid, user_code';
const UPSERT = `INSERT INTO oidc (${COLUMNS}) VALUES (?, ?, ?, ?, NULL, ?, ?, ?) ON CONFLICT (model, id) DO UPDATE SET
  payload = excluded.payload, expires_at = excluded.expires_at, grant_id = excluded.grant_id, uid = excluded.uid,
  user_code = excluded.user_code`;
const FIND = 'SELECT payload, consumed_at FROM oidc WHERE model = ? AND';
const CONSUME = 'UPDATE oidc SET consumed_at = ? WHERE model = ? AND id = ?';
const DESTROY = 'DELETE FROM oidc WHERE model = ? AND id = ?';
const REVOKE = 'DELETE FROM oidc WHERE grant_id = ?';

const schema = ({ json, whole }) => `CREATE TABLE oidc (model TEXT NOT NULL, id TEXT NOT NULL, payload ${json} NOT NULL,
  expires_at ${whole}, consumed_at ${whole}, grant_id TEXT, uid TEXT, user_code TEXT, PRIMARY KEY (model, id));
  CREATE INDEX oidc_grant ON oidc (grant_id) WHERE grant_id IS NOT NULL;
  CREATE INDEX oidc_uid ON oidc (uid) WHERE uid IS NOT NULL;
  CREATE INDEX oidc_user_code ON oidc (user_code) WHERE user_code IS NOT NULL`;

/** The adapter on SQLite, with prepared statements. */
export function sqliteStore() {
  const database = openSqlite(schema({ json: 'TEXT', whole: 'INTEGER' }));
  const prepared = new Map();
  const statement = (sql) => {
    const known = prepared.get(sql) ?? database.prepare(sql);
    prepared.set(sql, known);
    return known;
  };
  const ask = {
    change: async (sql, values) => void statement(sql).run(...values),
    row: async (sql, values) => statement(sql).get(...values),
  };
  return { Adapter: adapterOn(ask), atOnce: inTransaction(database) };
}

/** The adapter on PostgreSQL, with prepared statements through a pool. */
export async function postgresqlStore(connectionString) {
  const pool = new pg.Pool({ connectionString, max: 20 });
  await pool.query(schema({ json: 'JSONB', whole: 'BIGINT' }));
  const names = new Map();
  const query = (sql, values) => {
    const [name, text] = names.get(sql) ?? [`s${names.size}`, numbered(sql)];
    names.set(sql, [name, text]);
    return pool.query({ name, text, values });
  };
  const ask = { change: query, row: async (sql, values) => (await query(sql, values)).rows[0] };
  return { Adapter: adapterOn(ask) };
}

function adapterOn(ask) {
  return class {
    #model;

    constructor(model) {
      this.#model = model;
    }

    upsert(id, payload, expiresIn) {
      const expiresAt = expiresIn ? seconds() + expiresIn : null;
      const { grantId = null, uid = null, userCode = null } = payload;
      return ask.change(UPSERT, [this.#model, id, JSON.stringify(payload), expiresAt, grantId, uid, userCode]);
    }

    find(id) {
      return this.#find('id', id);
    }

    findByUid(uid) {
      return this.#find('uid', uid);
    }

    findByUserCode(userCode) {
      return this.#find('user_code', userCode);
    }

    consume(id) {
      return ask.change(CONSUME, [seconds(), this.#model, id]);
    }

    destroy(id) {
      return ask.change(DESTROY, [this.#model, id]);
    }

    revokeByGrantId(grantId) {
      return ask.change(REVOKE, [grantId]);
    }

    async #find(column, value) {
      const row = await ask.row(`${FIND} ${column} = ?`, [this.#model, value]);
      if (!row) return undefined;
      const payload = typeof row.payload === 'string' ? JSON.parse(row.payload) : row.payload;
      return row.consumed_at === null ? payload : { ...payload, consumed: Number(row.consumed_at) };
    }
  };
}

function numbered(sql) {
  let number = 0;
  return sql.replace(/\?/g, () => {
    number += 1;
    return `$${number}`;
  });
}

function seconds() {
  return Math.floor(Date.now() / 1000);
}
