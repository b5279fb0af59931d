/** Both stores with thousands of rows. */
import { after } from 'node:test';
import { emptied, waitingCopies } from '../postgresql/instance.ts';
import { PATIENT } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { openAsService, temporaryPath } from '../support/storage.ts';
import { crowdConformance } from './conformance.ts';

const server = await sharedPostgres();
after(() => server.remove());
const open = emptied(await server.createDatabase());

crowdConformance('SQLite', async (t) => {
  const opened = await openAsService(temporaryPath(t));
  t.after(() => opened.close());
  return opened.store;
});
crowdConformance('PostgreSQL', async (t) => (await open(t, PATIENT)).store, waitingCopies(server));
