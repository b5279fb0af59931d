/**
 * A file of users, read line by line from a stream: JSON lines, or CSV with a header (RFC 4180). This file knows the formats;
 * `user-import.ts` decides on the users.
 */

/** The keys of a line, and the columns of CSV. */
export const IMPORT_KEYS = ['email', 'name', 'username', 'password_hash', 'provider', 'subject'] as const;

/** A user's data in one line; null for an absent value. */
export type ImportedPerson = Readonly<Record<(typeof IMPORT_KEYS)[number], string | null>>;

/** A person, or why the line is none. The number is that of the file, from 1; a record of several lines has that of its first. */
export type ImportLine = { readonly line: number } & (
  | { readonly person: ImportedPerson }
  | { readonly problem: string }
);

/** The first line is no header of a file of people. The message names the remedy; no other line was read. */
export class WrongHeader extends Error {
  override readonly name = 'WrongHeader';
}

/** Maximum bytes of a line, or of the lines of one record. */
const MAX_BYTES = 64 * 1024;
const NEWLINE = 0x0a;
const QUOTE = 0x22;
const BRACE = 0x7b;
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** The values of a JSON line by key, or the reason why it has none. */
export type JsonLine<Key extends string> = { readonly line: number } & (
  | { readonly said: Readonly<Record<Key, string | null>> }
  | { readonly problem: string }
);

/** Reads the pieces of a file that has a JSON object a line, with texts under some of these keys. */
export async function* readJsonLines<Key extends string>(
  pieces: AsyncIterable<Buffer>,
  keys: readonly Key[],
): AsyncGenerator<JsonLine<Key>> {
  for await (const record of recordsOf(pieces, false)) {
    if ('problem' in record) yield record;
    else {
      const said = textsOf(record.text, keys);
      yield { line: record.line, ...(typeof said === 'string' ? { problem: said } : { said }) };
    }
  }
}

/** Reads the pieces of a file. A file whose first line begins with `{` is JSON lines. Throws `WrongHeader`. */
export async function* readImport(pieces: AsyncIterable<Buffer>): AsyncGenerator<ImportLine> {
  let read: ((text: string) => ImportedPerson | string) | null = null;
  for await (const record of recordsOf(pieces, null)) {
    if ('problem' in record) yield record;
    else if (read) yield { line: record.line, ...outcome(read(record.text)) };
    else if (record.text.startsWith('{')) {
      read = (text) => textsOf(text, IMPORT_KEYS);
      yield { line: record.line, ...outcome(read(record.text)) };
    } else read = personsOfCsv(record.text);
  }
}

function outcome(read: ImportedPerson | string) {
  return typeof read === 'string' ? { problem: read } : { person: read };
}

type TextRecord =
  | { readonly line: number; readonly text: string }
  | { readonly line: number; readonly problem: string };

/** The records of a file, without its empty lines. In CSV a record goes on while a quote is open. Where `csv` is null, the first line shows whether it is CSV. */
async function* recordsOf(pieces: AsyncIterable<Buffer>, csv: boolean | null): AsyncGenerator<TextRecord> {
  let isCsv = csv;
  let line = 0;
  let begun = 0;
  let bytes = Buffer.alloc(0) as Buffer;
  let quotes = 0;
  for await (const read of linesOf(pieces)) {
    line += 1;
    const content = line === 1 && read.indexOf(BYTE_ORDER_MARK) === 0 ? read.subarray(3) : read;
    const isOpen = quotes % 2 === 1;
    if (!isOpen && /^\s*$/.test(content.toString('latin1'))) continue;
    isCsv ??= content[0] !== BRACE;
    [begun, bytes] = isOpen ? [begun, Buffer.concat([bytes, content])] : [line, content];
    quotes = isCsv ? countQuotes(bytes) : 0;
    if (quotes % 2 === 0) yield textOf(bytes, begun, line);
    else if (bytes.length > MAX_BYTES) break;
  }
  if (quotes % 2 === 1)
    yield { line: begun, problem: 'a quote is opened here and not closed: nothing from here on was read' };
}

/** The lines of a file with their line ends. Of a line that is too long, only enough to show that. */
async function* linesOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let begun: Buffer = Buffer.alloc(0);
  const add = (part: Buffer) => {
    const room = MAX_BYTES + 1 - begun.length;
    begun = begun.length === 0 ? part.subarray(0, room) : Buffer.concat([begun, part.subarray(0, Math.max(0, room))]);
  };
  for await (const piece of pieces) {
    let at = 0;
    for (let end = piece.indexOf(NEWLINE); end >= 0; end = piece.indexOf(NEWLINE, at)) {
      add(piece.subarray(at, end + 1));
      yield begun;
      begun = Buffer.alloc(0);
      at = end + 1;
    }
    add(piece.subarray(at));
  }
  if (begun.length > 0) yield begun;
}

function countQuotes(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(QUOTE); at >= 0; at = bytes.indexOf(QUOTE, at + 1)) count += 1;
  return count;
}

function textOf(bytes: Buffer, line: number, last: number): TextRecord {
  const through = last === line ? '' : ` (the record goes on through line ${last})`;
  if (bytes.length > MAX_BYTES) return { line, problem: `it is longer than 64 KiB${through}` };
  try {
    return { line, text: new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '') };
  } catch {
    return { line, problem: `it is not text in UTF-8${through}` };
  }
}

/** The texts that an object has under these keys, or why it is none of them. */
function textsOf<Key extends string>(text: string, keys: readonly Key[]): Record<Key, string | null> | string {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch {
    return 'it is not JSON'; // The parser's own message quotes the line.
  }
  if (typeof read !== 'object' || read === null || Array.isArray(read)) return 'it is not a JSON object';
  for (const [key, value] of Object.entries(read)) {
    if (!(keys as readonly string[]).includes(key))
      return `${JSON.stringify(key)} is none of the keys ${keys.join(', ')}`;
    if (value !== null && typeof value !== 'string') return `${key}: it is not a text`;
  }
  const texts = keys.map((key) => [key, (read as Partial<Record<Key, string | null>>)[key] ?? null]);
  return Object.fromEntries(texts) as Record<Key, string | null>;
}

/** Reads the header, and returns what reads the records below it. An empty field says nothing. */
function personsOfCsv(header: string): (text: string) => ImportedPerson | string {
  const fields = fieldsOf(header);
  const columns = typeof fields === 'string' ? fields : fields.map(columnName);
  const problem = typeof columns === 'string' ? columns : columnsProblem(columns);
  if (problem !== null || typeof columns === 'string') {
    const remedy = meantSeparator(header) ?? problem;
    throw new WrongHeader(`the file begins with no line of JSON and no CSV header that fits: ${remedy}`);
  }
  return (text) => {
    const fields = fieldsOf(text);
    if (typeof fields === 'string') return fields;
    if (fields.length !== columns.length)
      return `it has ${fields.length} fields, the header ${columns.length}: one with a comma, such as a hash of argon2, is quoted`;
    return person((key) => fields[columns.indexOf(key)] || null);
  };
}

/** The name of a column; spreadsheets write it with blanks and capitals. */
function columnName(field: string): string {
  return field.trim().toLowerCase();
}

/** Returns the remedy for a refused header that has a column between other characters than commas; null for any other header. */
function meantSeparator(header: string): string | null {
  if (header.includes(',')) return null;
  for (const [separator, name] of SEPARATORS)
    if (header.includes(separator) && header.split(separator).some((field) => isKey(columnName(bare(field)))))
      return `its columns are separated by ${name}: save the file with commas, such as "email,name"`;
  return null;
}

const SEPARATORS = [
  [';', 'semicolons'],
  ['\t', 'tabs'],
  ['|', 'vertical bars'],
] as const;

function bare(field: string): string {
  return field.trim().replace(/^"(.*)"$/, '$1');
}

function columnsProblem(columns: readonly string[]): string | null {
  const unknown = columns.find((column) => !isKey(column));
  if (unknown !== undefined) return `${JSON.stringify(unknown)} is none of the columns ${IMPORT_KEYS.join(', ')}`;
  return new Set(columns).size < columns.length ? 'a column is there twice' : null;
}

/** RFC 4180 §2: the fields of a record, or why it is none. Other than there, blanks around an unquoted field are no part of it. */
function fieldsOf(text: string): string[] | string {
  const fields: string[] = [];
  const field = /(?:"((?:[^"]|"")*)"|([^",]*))(,|$)/y;
  for (let isLast = false; !isLast; ) {
    const found = field.exec(text);
    if (!found)
      return 'a quote stands where none may (RFC 4180): a field with quotes is quoted, and its own are doubled';
    fields.push(found[1]?.replaceAll('""', '"') ?? found[2]?.trim() ?? '');
    isLast = found[3] === '';
  }
  return fields;
}

function isKey(text: string): text is keyof ImportedPerson {
  return (IMPORT_KEYS as readonly string[]).includes(text);
}

function person(value: (key: keyof ImportedPerson) => string | null): ImportedPerson {
  return Object.fromEntries(IMPORT_KEYS.map((key) => [key, value(key)])) as ImportedPerson;
}
