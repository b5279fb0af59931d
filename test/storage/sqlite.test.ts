/** SQLite against what every store must do. */
import { openAsService, temporaryPath } from '../support/storage.ts';
import { storeConformance } from './conformance.ts';

const places = { 'SQLite file': temporaryPath, 'SQLite in memory': () => ':memory:' };

for (const [name, place] of Object.entries(places)) {
  storeConformance(name, async (t) => {
    const opened = await openAsService(place(t));
    t.after(() => opened.close());
    return opened.store;
  });
}

storeConformance('SQLite file, synced by each commit', async (t) => {
  const opened = await openAsService(temporaryPath(t), { durability: 'full' });
  t.after(() => opened.close());
  return opened.store;
});
