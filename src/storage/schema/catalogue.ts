/**
 * The parts of a schema other than tables and columns, compared with the catalogue that a test generates from the
 * schema.
 */
import type { Fault } from '../../process/installation-error.ts';
import { type Finding, findingOf } from './check-finding.ts';

/** An index, a primary or unique key, a reference to another table, a trigger, or a function that a trigger calls. */
export type SchemaObject = {
  readonly kind: 'index' | 'key' | 'reference' | 'trigger' | 'function';
  readonly table: string;
  readonly name: string;
  /** The statement that creates it, or its distinguishing properties if no statement does. */
  readonly definition: string;
};

/** Returns the object with each run of whitespace in its definition reduced to one space. */
export function inOneLine({ kind, table, name, definition }: SchemaObject): SchemaObject {
  return { kind, table, name, definition: definition.replaceAll(/\s+/g, ' ') };
}

/** Formats an object as a line of a catalogue. */
export function catalogueLine({ kind, table, name, definition }: SchemaObject): string {
  return `${kind} ${table} ${name}: ${definition}`;
}

/** Parses a line of a catalogue. */
export function fromCatalogue(line: string): SchemaObject {
  const [, kind, table, name, definition] = /^(\w+) (\w+) (\w+): (.*)$/.exec(line) as unknown as string[];
  return { kind, table, name, definition } as SchemaObject;
}

const BY_BACKUP = 'restore a backup with "database restore"';

/**
 * Compares the found objects with the catalogue. Extra indexes are a warning. `mayHaveMore`: a newer version may have
 * added objects.
 */
export function compareObjects(
  catalogue: readonly SchemaObject[],
  found: readonly SchemaObject[],
  mayHaveMore: boolean,
): Finding[] {
  const missing = catalogue.filter((one) => !found.some((other) => isSame(one, other)));
  const tables = catalogue.map(({ table }) => table);
  const isUnknown = (one: SchemaObject) =>
    one.kind !== 'function' &&
    tables.includes(one.table) &&
    !catalogue.some((known) => known.kind === one.kind && known.name === one.name);
  const unknown = mayHaveMore ? [] : found.filter(isUnknown);
  const extra = unknown.filter(({ kind }) => kind === 'index');
  const wrong = [...missing.map(missingFault), ...unknown.filter(({ kind }) => kind !== 'index').map(unknownFault)];
  const objects = findingOf('objects', wrong);
  if (extra.length === 0) return [objects];
  return [objects, { ...findingOf('extra indexes', [extraFault(extra)]), ok: true, isWarning: true }];
}

function isSame(one: SchemaObject, { kind, table, definition }: SchemaObject): boolean {
  return one.kind === kind && one.table === table && one.definition === definition;
}

function missingFault({ kind, table, name, definition }: SchemaObject): Fault {
  const isStatement = /^(CREATE|ALTER) /.test(definition);
  const remedy = isStatement
    ? `stop the service, drop any other ${kind} of that name, and run ${definition}`
    : BY_BACKUP;
  return { problem: `${kind} ${name} of ${table} is not there, or is another one`, remedy };
}

function unknownFault({ kind, table, name }: SchemaObject): Fault {
  return { problem: `${kind} ${name} of ${table} is not known`, remedy: `drop it, or ${BY_BACKUP}` };
}

function extraFault(extra: readonly SchemaObject[]): Fault {
  const names = extra.slice(0, 10).map(({ table, name }) => `${name} of ${table}`);
  return {
    problem: names.join(', '),
    remedy: 'drop what you do not need, since each slows writes down and a unique one may refuse them',
  };
}
