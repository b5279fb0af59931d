/**
 * What a table holds, described once for both stores: from a description come its rows in either direction, the columns
 * that `database copy` takes along, and what a test holds the two schemas against.
 */

/**
 * How a value is stored. `time` is ms since the epoch, `uuid` 16 bytes (text in PostgreSQL's own form there), `json` a text,
 * written in one way, so that equal values are equal texts.
 */
export type Kind = 'text' | 'integer' | 'time' | 'boolean' | 'bytes' | 'uuid' | 'json';

/** A value as a statement gets it. */
export type Stored = string | number | boolean | Buffer | null;

/** JSON with a form of its own, for what `JSON.stringify` does not bring back as it was. */
export class JsonForm<Value> {
  readonly write: (value: Value) => unknown;
  readonly read: (parsed: never) => Value;

  constructor(write: (value: Value) => unknown, read: (parsed: never) => Value) {
    this.write = write;
    this.read = read;
  }
}

/** A column: `path` leads to its value in an object. */
export type Column = {
  readonly name: string;
  readonly kind: Kind;
  readonly isNullable: boolean;
  readonly path: readonly string[];
  readonly form: JsonForm<unknown> | null;
};

/**
 * A kind for each field, in the order of the schemas, with a question mark where it may be null; the first is the key. An
 * object may be given field by field: its columns have the name of the object before their own.
 */
export type Description<Row> = { readonly [Field in keyof Row]-?: DescriptionOf<Row[Field]> };

type DescriptionOf<Value> = null extends Value ? `${KindOf<NonNullable<Value>> & string}?` : KindOf<Value>;

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

/** A table, or some columns of one, whose rows are objects of a type. */
export class Table<Row extends object> {
  readonly name: string;
  readonly columns: readonly Column[];

  /** A table of the schemas. */
  static of<Row extends object>(name: string, description: Description<Row>): Table<Row> {
    return new Table<Row>(name, columnsOf(description));
  }

  private constructor(name: string, columns: readonly Column[]) {
    this.name = name;
    this.columns = columns;
  }

  /** The columns of some fields. */
  pick<Field extends keyof Row & string>(...fields: readonly Field[]): Table<Pick<Row, Field>> {
    const columns = this.columns.filter(({ path }) => (fields as readonly string[]).includes(path[0] as string));
    return new Table(this.name, columns);
  }

  /** The columns of all fields but some. */
  without<Field extends keyof Row & string>(...fields: readonly Field[]): Table<Omit<Row, Field>> {
    const columns = this.columns.filter(({ path }) => !(fields as readonly string[]).includes(path[0] as string));
    return new Table(this.name, columns);
  }

  /** Its columns, and those of another table after them: for rows that are made of both. */
  and<Other extends object>(other: Table<Other>): Table<Row & Other> {
    return new Table(this.name, [...this.columns, ...other.columns]);
  }

  /** The names of its columns, as a list. */
  get names(): string {
    return this.columns.map(({ name }) => name).join(', ');
  }

  /** The same with the name of the table, for a statement that reads several. */
  get selected(): string {
    return this.columns.map(({ name }) => `${this.name}.${name}`).join(', ');
  }

  /** Its columns as expressions, of which the compiler asks for each: for rows that are made of others. */
  computed(expressions: { readonly [Field in keyof Row]: string }): string {
    return this.columns.map(({ path }) => expressions[path[0] as keyof Row]).join(', ');
  }

  /** Inserts a row whose `values` are the parameters. */
  get insertion(): string {
    return `INSERT INTO ${this.name} (${this.names}) VALUES (${this.columns.map((_, index) => `$${index + 1}`).join(', ')})`;
  }

  /** Sets its columns, with their values as the parameters from a number on. */
  assignments(from: number): string {
    return this.columns.map(({ name }, index) => `${name} = $${from + index}`).join(', ');
  }

  /** Demands that its columns still have the values which are the parameters from a number on. */
  unchanged(from: number): string {
    return this.columns.map(({ name }, index) => `${name} IS NOT DISTINCT FROM $${from + index}`).join(' AND ');
  }

  /** What is stored of an object, in the order of the columns. */
  values(row: Row): Stored[] {
    return this.columns.map((column) => stored(column, row));
  }

  /** What is stored of one field that has one column. */
  stored<Field extends keyof Row & string>(field: Field, value: Row[Field]): Stored {
    const column = this.columns.find(({ path }) => path[0] === field) as Column;
    return stored(column, { [field]: value });
  }

  /** The object of values in the order of the columns, as either store reads them; the first stands at `from`. */
  read(values: readonly unknown[], from = 0): Row {
    const row = {};
    for (const [index, column] of this.columns.entries()) put(row, column.path, read(column, values[from + index]));
    return row as Row;
  }
}

/** Rows of several tables that a statement joins: their columns, one table after the other, and the objects of such a row. */
export function sideBySide<Rows extends readonly object[]>(...tables: { [At in keyof Rows]: Table<Rows[At]> }) {
  const starts = tables.map((_, index) => tables.slice(0, index).reduce((sum, { columns }) => sum + columns.length, 0));
  return {
    selected: tables.map((table) => table.selected).join(', '),
    read: (values: readonly unknown[]) =>
      tables.map((table, index) => table.read(values, starts[index])) as readonly object[] as Rows,
  };
}

/** Puts a value where a path leads, from its part at `depth` on. */
function put(object: Record<string, unknown>, path: readonly string[], value: unknown, depth = 0): void {
  const field = path[depth] as string;
  if (depth === path.length - 1) object[field] = value;
  else {
    object[field] ??= {};
    put(object[field] as Record<string, unknown>, path, value, depth + 1);
  }
}

function columnsOf(description: object, path: readonly string[] = []): Column[] {
  return Object.entries(description).flatMap(([field, described]) => {
    const [full, isForm] = [[...path, field], described instanceof JsonForm];
    if (typeof described === 'object' && !isForm) return columnsOf(described as object, full);
    const name = full.map(inSnakeCase).join('_');
    if (isForm) return [{ name, kind: 'json' as const, isNullable: false, path: full, form: described }];
    const [kind, isNullable] = [described.replace('?', '') as Kind, (described as string).endsWith('?')];
    return [{ name, kind, isNullable, path: full, form: null }];
  });
}

function inSnakeCase(field: string): string {
  return field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function stored({ kind, path, form }: Column, row: object): Stored {
  const value = path.reduce<unknown>((object, field) => (object as Record<string, unknown>)[field], row);
  if (value === null || kind !== 'json') return value as Stored;
  return JSON.stringify(form ? form.write(value) : value);
}

/** SQLite reads a boolean as a number, and bytes as no `Buffer`; PostgreSQL reads a UUID as text. */
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

/** Bytes as a Buffer, over the same memory. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
