/**
 * Opens the database with a version of the program from its folder at a time (ms), as the start of its service does before it
 * serves; prints its log, and `open` when it is.
 */
import { writeSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

type Program = typeof import('../../src/wiring/open-database.ts') &
  typeof import('../../src/storage/sqlite/file/database-file.ts') &
  typeof import('../../src/oauth/keys/keyring.ts') &
  typeof import('../../src/process/log.ts') &
  typeof import('../../src/settings/configuration.ts') &
  typeof import('../../src/settings/root-keys.ts');

const [, , folder = '', at = ''] = process.argv;
const load = (file: string) => import(pathToFileURL(join(folder, 'src', file)).href) as Promise<Program>;
const { openDatabase } = await load('wiring/open-database.ts');
const { isNew } = await load('storage/sqlite/file/database-file.ts');
const { createKeyring } = await load('oauth/keys/keyring.ts');
const { makeLogger } = await load('process/log.ts');
const { readConfiguration } = await load('settings/configuration.ts');
const { loadRootKeys } = await load('settings/root-keys.ts');

const { VALETKEY_DATABASE_URL = '', VALETKEY_KEYS = '' } = process.env;
const address = 'http://127.0.0.1:8080';
const configuration = readConfiguration({
  ...{ VALETKEY_APP_URL: address, VALETKEY_API_URL: 'http://127.0.0.1:8081' },
  ...{ VALETKEY_DATABASE_URL, VALETKEY_KEYS },
});
const logger = makeLogger({ write: (line: string) => void writeSync(1, line) }, Date.now);
const keyring = createKeyring(loadRootKeys(configuration, isNew(configuration.database)));
if (configuration.database.kind === 'postgresql') await load('storage/postgresql/open.ts');
// Who is killed writes no compiled code, and the next start would compile everything again.
flushCompileCache();
const now = () => Number(at);
await openDatabase(
  configuration,
  keyring,
  { now, logger, wallClock: now },
  { role: 'service', migrate: true, mayFound: true },
);
writeSync(1, 'open\n');
setInterval(() => {}, 60_000); // Until it is killed.
