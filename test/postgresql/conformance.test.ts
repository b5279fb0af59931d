/** PostgreSQL against what every store must do. */
import { after } from 'node:test';
import { storeConformance } from '../storage/conformance.ts';
import { PATIENT } from '../support/postgres.ts';
import { sharedPostgres } from '../support/shared-postgres.ts';
import { emptied } from './instance.ts';

const server = await sharedPostgres();
after(() => server.remove());

const open = emptied(await server.createDatabase());

storeConformance('PostgreSQL', async (t) => (await open(t, PATIENT)).store);
