/** PostgreSQL against what every store must do. */
import { after } from 'node:test';
import { storeConformance } from '../storage/conformance.ts';
import { PATIENT, startPostgres } from '../support/postgres.ts';
import { instance, readyDatabases, waitingCopies } from './instance.ts';

const server = await startPostgres();
after(() => server.remove());

const createDatabase = await readyDatabases(server);

storeConformance(
  'PostgreSQL',
  async (t) => (await instance(t, await createDatabase(), PATIENT)).store,
  waitingCopies(server),
);
