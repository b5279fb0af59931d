/** PostgreSQL against what every store must do. */
import { after } from 'node:test';
import { storeConformance } from '../storage/conformance.ts';
import { startPostgres } from '../support/postgres.ts';
import { instance, readyDatabases, waitingCopies } from './instance.ts';
import { waitForConnections } from './patience.ts';

const server = await startPostgres();
after(() => server.remove());

const createDatabase = await readyDatabases(server);
waitForConnections();

storeConformance('PostgreSQL', async (t) => (await instance(t, await createDatabase())).store, waitingCopies(server));
