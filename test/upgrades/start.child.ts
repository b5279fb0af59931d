/** Starts a version of the program from a folder at a time (ms); prints its log, and `answers` when both addresses do. */
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { startVersion } from './start.ts';

const [, , folder = '', at = ''] = process.argv;
const { VALETKEY_DATABASE_URL = '', VALETKEY_KEYS = '' } = process.env;
// Who is killed writes no compiled code, and the next start would compile everything again.
await import(pathToFileURL(join(folder, 'src/main.ts')).href);
flushCompileCache();
await startVersion(folder, Number(at), { VALETKEY_DATABASE_URL, VALETKEY_KEYS }, (line) => void writeSync(1, line));
writeSync(1, 'answers\n');
