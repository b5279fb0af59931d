/** SQLite against what every store must do: a file as the service opens it. `sqlite-variants.test.ts` has the other ways. */
import { after } from 'node:test';
import { copyOf, openAsService, temporaryPath } from '../support/storage.ts';
import { storeConformance } from './conformance.ts';

// Each test begins with a copy: to make the schema again would take longer than to open it.
const founded = temporaryPath({ after });
await (await openAsService(founded)).close();

storeConformance('SQLite file', async (t) => {
  const opened = await openAsService(copyOf(founded, t));
  t.after(() => opened.close());
  return opened.store;
});
