/** The databases of each version, kept as files: made through the program by keep.ts, and upgraded by the test of this folder. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import pg from 'pg';
import type { AppliedMigration } from '../../src/storage/schema/migrations.ts';
import type { Faces } from './faces.ts';
import type { Filled } from './fill.ts';

const KEPT = fileURLToPath(new URL('kept/', import.meta.url));

/** The stores, by the names of their files. */
export const STORES = ['sqlite', 'postgresql'] as const;
export type StoreName = (typeof STORES)[number];

/** What belongs to a kept database: the migrations that made it, its root key, and what is held of it. */
export type KeptFacts = Filled & { readonly migrations: readonly AppliedMigration[] };

const place = (version: string, file: string) => join(KEPT, version, file);
const factsFile = (version: string, store: StoreName) => place(version, `${store}.json`);
const databaseFile = (version: string, store: StoreName) => place(version, `${store}.gz`);

/** The versions whose databases are kept. */
export function keptVersions(): string[] {
  return readdirSync(KEPT);
}

/** Removes what is kept of a version. */
export function removeKept(version: string): void {
  rmSync(place(version, ''), { recursive: true });
}

/** Keeps a database: the file of SQLite, or for PostgreSQL the text that makes it. */
export function keep(version: string, store: StoreName, database: Buffer, facts: KeptFacts): void {
  mkdirSync(dirname(factsFile(version, store)), { recursive: true });
  writeFileSync(databaseFile(version, store), gzipSync(database, { level: 9 }));
  writeFileSync(factsFile(version, store), `${JSON.stringify(facts, null, 2)}\n`);
}

/** What was kept. */
export function keptDatabase(version: string, store: StoreName): { database: Buffer; facts: KeptFacts } {
  const facts = JSON.parse(readFileSync(factsFile(version, store), 'utf8')) as KeptFacts;
  return { database: gunzipSync(readFileSync(databaseFile(version, store))), facts };
}

/** Keeps what programs rely on. */
export function keepFaces(version: string, faces: Faces): void {
  writeFileSync(place(version, 'faces.gz'), gzipSync(JSON.stringify(faces), { level: 9 }));
}

/** The promised faces of a version, or null where they were not kept. */
export function keptFaces(version: string): Faces | null {
  const file = place(version, 'faces.gz');
  return existsSync(file) ? (JSON.parse(gunzipSync(readFileSync(file)).toString()) as Faces) : null;
}

/** A PostgreSQL database as text that makes it: what its migrations say, then all rows. Nobody may use it meanwhile. */
export async function textOf(url: string, schema: readonly string[]): Promise<string> {
  return withClient(url, async (client) => {
    const rowsOf = async <Row extends object>(sql: string) => (await client.query<Row>(sql)).rows;
    const tables = await rowsOf<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 1",
    );
    const made: string[] = [];
    for (const { name } of tables) {
      const all = await rowsOf<{ row: string }>(`SELECT row_to_json(t)::text AS row FROM ${name} AS t`);
      made.push(
        ...all.map(
          ({ row }) => `INSERT INTO ${name} SELECT * FROM json_populate_record(NULL::${name}, ${quoted(row)});`,
        ),
      );
    }
    const sequences = await rowsOf<{ name: string; last: string | null }>(
      'SELECT sequencename AS name, last_value AS last FROM pg_sequences ORDER BY 1',
    );
    const reached = sequences.filter(({ last }) => last !== null);
    made.push(...reached.map(({ name, last }) => `SELECT setval('${name}', ${last});`));
    // So that no trigger changes a row on its way in.
    return [...schema.map((sql) => `${sql};`), "SET session_replication_role = 'replica';", ...made, ''].join('\n');
  });
}

/** Makes a database of such a text. */
export function restoreText(url: string, text: string): Promise<unknown> {
  return withClient(url, (client) => client.query(text));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

async function withClient<T>(url: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await run(client);
  } finally {
    await client.end();
  }
}
