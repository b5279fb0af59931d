/** The checks of `database check`. */
import { type Fault, InstallationError } from '../../process/installation-error.ts';
import { compareObjects } from '../schema/catalogue.ts';
import { type Finding, findingOf } from '../schema/check-finding.ts';
import { requireUpToDate } from '../schema/migrate.ts';
import type { PlainDatabase } from '../schema/plain-database.ts';
import { type StoredTable, TABLES } from '../tables/all-tables.ts';
import { INSTALLATION } from '../tables/installation/installation.ts';
import { recordOf, requireFittingKeys } from './installation.ts';
import { differenceFaults, differences, type InstallationRecord } from './installation-settings.ts';
import type { OpeningOptions } from './opening.ts';

/** The checks that differ between the stores; each returns what is wrong. */
export type OwnChecks = Readonly<Record<'settings' | 'integrity' | 'references', () => Promise<readonly Fault[]>>>;

/** Runs all checks, which takes long on a large database, or only the quick ones. */
export async function check(
  database: PlainDatabase,
  { keyring, settings }: Pick<OpeningOptions, 'keyring' | 'settings'>,
  own: OwnChecks,
  how?: 'quick',
): Promise<Finding[]> {
  const unlike = async () => differenceFaults(differences((await recordOf(database)) as InstallationRecord, settings));
  const nothing = () => [];
  return [
    await finding('settings', own.settings),
    ...(how === 'quick' ? [] : await inDepth(own)),
    await finding('columns', () => wrongColumns(database)),
    ...(await objects(database)),
    await finding('keys', () => requireFittingKeys(database, keyring).then(nothing)),
    await finding('variables', unlike),
    await finding('migrations', () => requireUpToDate(database).then(nothing)),
  ];
}

/** Findings that are no fault of a copy: the server's settings, and variables that differ from the record. */
const NOT_OF_COPY: readonly string[] = ['settings', 'variables'];

/** Refuses a damaged copy: throws `InstallationError` with `sentence` and the problems. */
export function requireSound(findings: readonly Finding[], sentence: string): void {
  const wrong = findings.filter(({ name, ok }) => !ok && !NOT_OF_COPY.includes(name));
  if (wrong.length === 0) return;
  const problem = `${sentence}: ${wrong.map(({ name, detail }) => `${name}: ${detail}`).join('; ')}`;
  throw new InstallationError({ problem, remedy: null });
}

async function objects(database: PlainDatabase): Promise<Finding[]> {
  try {
    const mayHaveMore = (await database.applied()).length > database.migrations.length;
    return compareObjects(database.catalogue, await database.objects(), mayHaveMore);
  } catch (error) {
    return [findingOf('objects', faultsOf(error))];
  }
}

async function inDepth({ integrity, references }: OwnChecks): Promise<Finding[]> {
  return [await finding('integrity', integrity), await finding('references', references)];
}

async function finding(name: string, look: () => Promise<readonly Fault[]>): Promise<Finding> {
  return findingOf(name, await look().catch(faultsOf));
}

function faultsOf(error: unknown): readonly Fault[] {
  if (error instanceof InstallationError) return error.faults;
  return [{ problem: (error as Error).message, remedy: null }];
}

const REMEDY =
  'something else has changed these tables: put them back as the schema of this version has them, or restore a backup';

/** Returns one fault with all columns that differ from the described tables, or an empty array. */
export async function wrongColumns(database: PlainDatabase): Promise<Fault[]> {
  const wrong: string[] = [];
  for (const table of [INSTALLATION, ...TABLES]) wrong.push(...(await wrongColumnsOf(database, table)));
  return wrong.length === 0 ? [] : [{ problem: wrong.slice(0, 10).join(', '), remedy: REMEDY }];
}

async function wrongColumnsOf(database: PlainDatabase, { name: table, columns }: StoredTable): Promise<string[]> {
  const found = new Map((await database.columns(table)).map((column) => [column.name, column]));
  const wrong = columns.flatMap(({ name, kind, isNullable }) => {
    const place = `${table}.${name}`;
    const types = database.types[kind];
    const column = found.get(name);
    if (!column) return [`${place} is not there`];
    const ofType = !types.includes(column.type) && `${place} is ${column.type} and must be ${types[0]}`;
    const ofNull = column.isNullable !== isNullable && `${place} must ${isNullable ? 'not be' : 'be'} NOT NULL`;
    return [ofType, ofNull].filter((text) => text !== false);
  });
  // A newer release may have added columns that this release can ignore.
  const mayHaveMore = (await database.applied()).length > database.migrations.length;
  const known = columns.map(({ name }) => name);
  const unknown = mayHaveMore ? [] : [...found.keys()].filter((name) => !known.includes(name));
  return [...wrong, ...unknown.map((name) => `${table}.${name} is not known`)];
}
