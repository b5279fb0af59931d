/** SQLite against what every store must do. */
import type { Grant } from '../../src/oauth/grant.ts';
import { openAsService, temporaryPath } from '../support/storage.ts';
import type { AnyStore } from './conformance/any-store.ts';
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

storeConformance('SQLite file, with every grant read and kept before each act', async (t) => {
  const opened = await openAsService(temporaryPath(t));
  t.after(() => opened.close());
  return readingFirst(opened.store);
});

/** The same store, which finds every grant that it was given before anything else is asked of it. */
function readingFirst(store: AnyStore): AnyStore {
  const known: Buffer[] = [];
  const readAll = () => Promise.all(known.map((id) => store.findGrant(id)));
  return new Proxy(store, {
    get(_, name: keyof AnyStore) {
      const verb = store[name] as (...parameters: unknown[]) => unknown;
      if (name === 'noteUse' || typeof verb !== 'function') return verb;
      return async (...parameters: unknown[]) => {
        await readAll();
        const answer = await verb(...parameters);
        if (name === 'issueGrant') known.push((parameters[0] as Grant).id);
        return answer;
      };
    },
  });
}
