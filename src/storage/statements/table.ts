/**
 * Descriptions of tables, shared by both stores. A description yields the conversion of rows in both directions and the
 * columns of `database copy`, and a test compares it with both schemas.
 */
import { jsonName } from '../../oauth/json-name.ts';

/**
 * Storage type of a value. `time` is ms since the epoch, `uuid` 16 bytes (in PostgreSQL its own type), `json` canonical
 * text, so that equal values are equal texts.
 */
export type Kind = 'text' | 'integer' | 'time' | 'boolean' | 'bytes' | 'uuid' | 'json';

/** A parameter of a statement. */
export type Stored = string | number | boolean | Buffer | null;

/** A JSON form for values that `JSON.stringify` does not round-trip. */
export class JsonForm<Value> {
  readonly write: (value: Value) => unknown;
  readonly read: (parsed: never) => Value;

  constructor(write: (value: Value) => unknown, read: (parsed: never) => Value) {
    this.write = write;
    this.read = read;
  }
}

/** The kind of a column that may be null. */
class Nullable<K extends Kind> {
  readonly kind: K;

  constructor(kind: K) {
    this.kind = kind;
  }
}

/** Returns the kind of a column that may be null. */
export function nullable<K extends Kind>(kind: K): Nullable<K> {
  return new Nullable(kind);
}

/** A column; `path` is the path of its value in an object. */
export type Column = {
  readonly name: string;
  readonly kind: Kind;
  readonly isNullable: boolean;
  readonly path: readonly string[];
  readonly form: JsonForm<unknown> | null;
};

/**
 * A kind for each field, in the order of the schemas, `nullable` if it may be null; the first is the key. A nested object
 * may be described by its fields: their columns have its name as a prefix. An optional field is not stored.
 */
export type Description<Row> = { readonly [Field in Always<Row>]: DescriptionOf<Row[Field]> };

type Always<Row> = { [Field in keyof Row]-?: object extends Pick<Row, Field> ? never : Field }[keyof Row];

type DescriptionOf<Value> = null extends Value ? Nullable<KindOf<NonNullable<Value>> & Kind> : KindOf<Value>;

type KindOf<Value> = [Value] extends [string]
  ? 'text'
  : [Value] extends [number]
    ? 'integer' | 'time'
    : [Value] extends [boolean]
      ? 'boolean'
      : [Value] extends [Buffer]
        ? 'bytes' | 'uuid'
        : [Value] extends [readonly unknown[]]
          ? 'json' | JsonForm<Value>
          : 'json' | Description<Value>;

/** A table, or a subset of its columns, with rows of one object type. */
export class Table<Row extends object> {
  readonly name: string;
  readonly columns: readonly Column[];

  /** Returns a table of the schemas. */
  static of<Row extends object>(name: string, description: Description<Row>): Table<Row> {
    return new Table<Row>(name, columnsOf(description));
  }

  private constructor(name: string, columns: readonly Column[]) {
    this.name = name;
    this.columns = columns;
  }

  /** Returns the table with only these fields. */
  pick<Field extends keyof Row & string>(...fields: readonly Field[]): Table<Pick<Row, Field>> {
    const columns = this.columns.filter(({ path }) => (fields as readonly string[]).includes(path[0] as string));
    return new Table(this.name, columns);
  }

  /** Returns the table without these fields. */
  without<Field extends keyof Row & string>(...fields: readonly Field[]): Table<Omit<Row, Field>> {
    const columns = this.columns.filter(({ path }) => !(fields as readonly string[]).includes(path[0] as string));
    return new Table(this.name, columns);
  }

  /** Returns the columns of this table followed by those of another, for rows that combine both. */
  and<Other extends object>(other: Table<Other>): Table<Row & Other> {
    return new Table(this.name, [...this.columns, ...other.columns]);
  }

  /** The column names, separated by commas. */
  get names(): string {
    return this.columns.map(({ name }) => name).join(', ');
  }

  /** The column names qualified by the table, for joins. */
  get selected(): string {
    return this.columns.map(({ name }) => `${this.name}.${name}`).join(', ');
  }

  /** Returns an expression for each column, for computed rows; the compiler requires all of them. */
  computed(expressions: { readonly [Field in keyof Row]: string }): string {
    return this.columns.map(({ path }) => expressions[path[0] as keyof Row]).join(', ');
  }

  /** The INSERT of one row, with its `values` as the parameters. */
  get insertion(): string {
    return `INSERT INTO ${this.name} (${this.names}) VALUES (${this.columns.map((_, index) => `$${index + 1}`).join(', ')})`;
  }

  /** Returns the assignments of all columns, with parameters numbered from `from`. */
  assignments(from: number): string {
    return this.columns.map(({ name }, index) => `${name} = $${from + index}`).join(', ');
  }

  /** Returns the condition that all columns have the values of the parameters numbered from `from`. */
  unchanged(from: number): string {
    return this.columns.map(({ name }, index) => `${name} IS NOT DISTINCT FROM $${from + index}`).join(' AND ');
  }

  /** Returns the stored values of an object, in column order. */
  values(row: Row): Stored[] {
    return this.columns.map((column) => stored(column, row));
  }

  /** Returns the stored value of a single-column field. */
  stored<Field extends keyof Row & string>(field: Field, value: Row[Field]): Stored {
    const column = this.columns.find(({ path }) => path[0] === field) as Column;
    return stored(column, { [field]: value });
  }

  /** Returns the object for values in column order, as either store reads them; the first value is at index `from`. */
  read(values: readonly unknown[], from = 0): Row {
    const row: Record<string, unknown> = {};
    // Each request reads some sixty columns: a plain loop, and no call for the fields that hold no others.
    for (let index = 0; index < this.columns.length; index += 1) {
      const column = this.columns[index] as Column;
      const value = read(column, values[from + index]);
      if (column.path.length === 1) row[column.path[0] as string] = value;
      else put(row, column.path, value);
    }
    return row as Row;
  }
}

/** Returns the columns of joined tables, and the reader that splits a joined row into one object for each table. */
export function sideBySide<Rows extends readonly object[]>(...tables: { [At in keyof Rows]: Table<Rows[At]> }) {
  const starts = tables.map((_, index) => tables.slice(0, index).reduce((sum, { columns }) => sum + columns.length, 0));
  return {
    selected: tables.map((table) => table.selected).join(', '),
    read: (values: readonly unknown[]) =>
      tables.map((table, index) => table.read(values, starts[index])) as readonly object[] as Rows,
  };
}

/** Sets the value at a path, from its element at `depth`. */
function put(object: Record<string, unknown>, path: readonly string[], value: unknown, depth = 0): void {
  const field = path[depth] as string;
  if (depth === path.length - 1) object[field] = value;
  else {
    object[field] ??= {};
    put(object[field] as Record<string, unknown>, path, value, depth + 1);
  }
}

function columnsOf(description: object, path: readonly string[] = []): Column[] {
  return Object.entries(description).flatMap(
    ([field, described]: [string, Kind | Nullable<Kind> | JsonForm<unknown> | object]) => {
      const full = [...path, field];
      const column = { name: full.map(jsonName).join('_'), isNullable: false, path: full, form: null };
      if (typeof described === 'string') return [{ ...column, kind: described }];
      if (described instanceof Nullable) return [{ ...column, kind: described.kind, isNullable: true }];
      if (described instanceof JsonForm) return [{ ...column, kind: 'json' as const, form: described }];
      return columnsOf(described, full);
    },
  );
}

function stored({ kind, path, form }: Column, row: object): Stored {
  const value = path.reduce<unknown>((object, field) => (object as Record<string, unknown>)[field], row);
  if (value === null || kind !== 'json') return value as Stored;
  return JSON.stringify(form ? form.write(value) : value);
}

/** SQLite returns a boolean as a number, and bytes as a plain Uint8Array; PostgreSQL returns a UUID as text. */
function read({ kind, form }: Column, value: unknown): unknown {
  if (value === null) return null;
  if (kind === 'boolean') return value === true || value === 1;
  if (kind === 'bytes') return asBuffer(value as Uint8Array);
  if (kind === 'uuid') return typeof value === 'string' ? uuidBytes(value) : asBuffer(value as Uint8Array);
  if (kind !== 'json') return value;
  const parsed = JSON.parse(value as string);
  return form ? form.read(parsed as never) : parsed;
}

function uuidBytes(text: string): Buffer {
  return Buffer.from(text.replaceAll('-', ''), 'hex');
}

/** Returns bytes as a Buffer over the same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
