/** Databases whose audit trail a test reads and changes behind the service's back, on either store. */
import { DatabaseSync } from 'node:sqlite';
import type { TestContext } from 'node:test';
import { setImmediate as furtherInput } from 'node:timers/promises';
import { createKeyring, type Keyring, type LiveKeyring } from '../../src/oauth/keys/keyring.ts';
import { AuditTrail } from '../../src/operator/trail/audit-trail.ts';
import type { Storage } from '../../src/storage/opening/opened-storage.ts';
import { openInstance } from '../postgresql/instance.ts';
import type { SharedPostgres } from './shared-postgres.ts';
import { NOW, openAsService, temporaryPath } from './storage.ts';

/** The root key of these databases, and the ring that has it alone. */
export const ROOT_KEY = Buffer.alloc(32, 'a key');
export const keyring = createKeyring([ROOT_KEY]);

/** A row by the names of its columns. */
export type Row = Readonly<Record<string, unknown>>;

/** A database that nobody has open while its rows are changed. */
export type Place = {
  open(keys?: LiveKeyring, role?: 'service' | 'command'): Promise<Storage>;
  sql<Found extends Row>(text: string): Promise<Found[]>;
  /** Bytes as the SQL of this store writes them. */
  bytes(hex: string): string;
  /** Has the service take its next places after all that are taken. */
  passTakenPlaces(): Promise<unknown>;
};

/** How each store makes such a database, by its name. */
export function trailPlaces(
  server: SharedPostgres,
  createDatabase: () => Promise<string>,
): Readonly<Record<string, (t: TestContext) => Promise<Place>>> {
  return {
    async SQLite(t) {
      const path = temporaryPath(t);
      return {
        open: (keys = keyring, role = 'service') => openAsService(path, { keyring: keys, role }),
        async sql(text) {
          using database = new DatabaseSync(path);
          const rows = database.prepare(text).all();
          await furtherInput(); // The service's reads that come together share a snapshot.
          return rows as never;
        },
        bytes: (hex) => `x'${hex}'`,
        passTakenPlaces: async () => {},
      };
    },
    async PostgreSQL() {
      const url = await createDatabase();
      const sql: Place['sql'] = (text) => server.query(url, text);
      return {
        open: (keys = keyring, role = 'service') => openInstance(url, { keyring: keys, role }),
        sql,
        bytes: (hex) => `'\\x${hex}'::bytea`,
        passTakenPlaces: () =>
          sql("SELECT setval('audit_event_sequence', (SELECT greatest(max(sequence), 1) FROM audit_event))"),
      };
    },
  };
}

/** The trail of an opened database. */
export function trailOf({ store, installation }: Storage, keys: Keyring = keyring, now = () => NOW): AuditTrail {
  return new AuditTrail({ store, keyring: keys, installation: installation.id, now });
}
