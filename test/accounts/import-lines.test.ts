import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type ImportedPerson,
  type ImportLine,
  readImport,
  WrongHeader,
} from '../../src/accounts/import/import-lines.ts';

/** Reads a file that comes in pieces of a size. */
async function readAll(content: string | Buffer, size = 7): Promise<ImportLine[]> {
  const bytes = Buffer.from(content as string);
  async function* pieces() {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  }
  const lines: ImportLine[] = [];
  for await (const line of readImport(pieces())) lines.push(line);
  return lines;
}

const NOTHING: ImportedPerson = {
  email: null,
  name: null,
  username: null,
  password_hash: null,
  provider: null,
  subject: null,
};

const person = (line: number, said: Partial<ImportedPerson>) => ({ line, person: { ...NOTHING, ...said } });

test('JSON lines: each has the number that it has in the file, whatever the others are', async () => {
  const lines = await readAll(
    '\n{"email":"ada@example.com","name":"Ada"}\r\n  \nno JSON\n["email"]\n{"email":7}\n{"e_mail":"a"}\n{"name":"Ünïcode ✓","email":null}',
  );
  assert.deepEqual(lines[0], person(2, { email: 'ada@example.com', name: 'Ada' }));
  assert.deepEqual(lines.slice(1, 5), [
    { line: 4, problem: 'it is not JSON' },
    { line: 5, problem: 'it is not a JSON object' },
    { line: 6, problem: 'email: it is not a text' },
    {
      line: 7,
      problem: '"e_mail" is none of the keys email, name, username, password_hash, provider, subject',
    },
  ]);
  assert.deepEqual(lines[5], person(8, { name: 'Ünïcode ✓' }));
  assert.equal(lines.length, 6);
});

test('what a line says is never in its problem: it may be a hash', async () => {
  const [line] = await readAll('{"password_hash":"$2b$10$secret"');
  assert.deepEqual(line, { line: 1, problem: 'it is not JSON' });
});

test('RFC 4180 §2: quoted fields may hold commas, quotes and line ends; a record has the number of its first line', async () => {
  const lines = await readAll(
    '\ufeffname,email,"subject"\r\n"Lovelace, Ada",ada@example.com,\r\n\r\n"The ""first""\r\nprogrammer",b@example.com,42\r\nBob,c@example.com,"4\n3"\n',
  );
  assert.deepEqual(lines, [
    person(2, { name: 'Lovelace, Ada', email: 'ada@example.com' }),
    person(4, { name: 'The "first"\r\nprogrammer', email: 'b@example.com', subject: '42' }),
    person(6, { name: 'Bob', email: 'c@example.com', subject: '4\n3' }),
  ]);
});

test('RFC 4180 §2: what is no record is refused, and those after it are read', async () => {
  const lines = await readAll(
    'email,name\na@example.com\nb@example.com,Bob,more\nc@example.com,a "b" c\n"d"e,f\ne@example.com,\n',
  );
  assert.deepEqual(
    lines.map((line) => [line.line, 'problem' in line ? line.problem.replace(/:.*/, '') : line.person.email]),
    [
      [2, 'it has 1 fields, the header 2'],
      [3, 'it has 3 fields, the header 2'],
      [4, 'a quote stands where none may (RFC 4180)'],
      [5, 'a quote stands where none may (RFC 4180)'],
      [6, 'e@example.com'],
    ],
  );
});

test('a quote that is not closed ends the reading, at its line, after few bytes', async () => {
  const open = { line: 3, problem: 'a quote is opened here and not closed: nothing from here on was read' };
  const good = person(2, { email: 'a@example.com' });
  assert.deepEqual(await readAll('email\na@example.com\n"b@example.com\nc@example.com\n'), [good, open]);
  const endless = `email\na@example.com\n"b@example.com\n${'c@example.com\n'.repeat(5e4)}"`;
  assert.deepEqual(await readAll(endless, 65_536), [good, open]);
});

test('a header has blanks and capitals as spreadsheets write them', async () => {
  const plain = await readAll('email,name\na@example.com,Ada\n');
  assert.deepEqual(await readAll('Email, Name\na@example.com,Ada\n'), plain);
  assert.deepEqual(await readAll('\ufeff EMAIL ,\tname\t\r\na@example.com,Ada\r\n'), plain);
});

test('blanks around a field are as little of it as those in the header, unless it is quoted', async () => {
  const lines = await readAll('Email, Name, Subject\r\n a@example.com, Ada Lovelace\t, \r\nb@example.com,Bob," 7"\r\n');
  assert.deepEqual(lines, [
    person(2, { email: 'a@example.com', name: 'Ada Lovelace' }),
    person(3, { email: 'b@example.com', name: 'Bob', subject: ' 7' }),
  ]);
});

test('a header with a column that nobody knows, or one twice, is refused before anything is read', async () => {
  for (const [content, reason] of [
    ['email,password\na@example.com,x\n', /"password" is none of the columns email, name, username, password_hash/],
    ['email,email\n', /twice/],
    ['email,na"m"e\n', /quote/],
    ['Email,email\n', /twice/],
    ['email;name\na@example.com;Ada\n', /separated by semicolons: save the file with commas/],
    ['"Email";"Name"\n', /separated by semicolons/],
    ['email\tname\n', /separated by tabs/],
    ['email; phone\n', /separated by semicolons/],
    ['phone; fax\n', /"phone; fax" is none of the columns/],
    ['%PDF-1.7\n', /no line of JSON and no CSV header/],
  ] as const) {
    await assert.rejects(readAll(content), (error) => error instanceof WrongHeader && reason.test(error.message));
  }
});

test('a line that is too long or no UTF-8 is refused by itself', async () => {
  const lines = await readAll(
    Buffer.concat([
      Buffer.from('{"email":"a@example.com"}\n{"name":"'),
      Buffer.from([0xff, 0xfe]),
      Buffer.from(`"}\n{"name":"${'x'.repeat(70_000)}"}\n{"email":"b@example.com"}`),
    ]),
    65_536,
  );
  assert.deepEqual(lines, [
    person(1, { email: 'a@example.com' }),
    { line: 2, problem: 'it is not text in UTF-8' },
    { line: 3, problem: 'it is longer than 64 KiB' },
    person(4, { email: 'b@example.com' }),
  ]);
});

test('an empty file has nobody', async () => {
  assert.deepEqual(await readAll(''), []);
  assert.deepEqual(await readAll('\ufeff\n \n'), []);
});
