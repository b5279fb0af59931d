/** SQLite against what every store must do, once more for each other way to open and to use it. */
import assert from 'node:assert/strict';
import { after, type TestContext } from 'node:test';
import type { Grant } from '../../src/oauth/grants/grant.ts';
import type { FoundGrant } from '../../src/oauth/protocol/grant-store.ts';
import { copyOf, openAsService, temporaryPath } from '../support/storage.ts';
import type { AnyStore } from './conformance/any-store.ts';
import { crowdConformance, storeConformance } from './conformance.ts';
import { expandFile } from './expansion.ts';

// Each test begins with a copy: to make the schema again would take longer than to open it.
const founded = temporaryPath({ after });
await (await openAsService(founded)).close();

const expanded = temporaryPath({ after });
const before = await openAsService(expanded);
await expandFile(expanded);
await before.close();

async function open(
  t: TestContext,
  path: string,
  options: Parameters<typeof openAsService>[1] = {},
): Promise<AnyStore> {
  const opened = await openAsService(path, options);
  t.after(() => opened.close());
  return opened.store;
}

storeConformance('SQLite in memory', (t) => open(t, ':memory:'));
storeConformance('SQLite file, synced by each commit', (t) => open(t, copyOf(founded, t), { durability: 'full' }));
storeConformance('SQLite file, with every grant read and kept before each act', async (t) =>
  readingFirst(await open(t, copyOf(founded, t))),
);
storeConformance('SQLite file, whose version is another as soon as a grant is found otherwise', async (t) =>
  comparingVersions(await open(t, copyOf(founded, t))),
);
storeConformance('SQLite file that the next release has expanded', (t) => open(t, copyOf(expanded, t)));
crowdConformance('SQLite file that the next release has expanded', (t) => open(t, copyOf(expanded, t)));

/** Of more grants than this only the last are looked at: a test that issues thousands would look at millions. */
const LOOKED_AT = 100;

/** The same store, which finds every grant that it was given before anything else is asked of it. */
function readingFirst(store: AnyStore): AnyStore {
  const known: Buffer[] = [];
  const readAll = () => Promise.all(known.slice(-LOOKED_AT).map((id) => store.findGrant(id)));
  return new Proxy(store, {
    get(_, name: keyof AnyStore) {
      const verb = store[name] as (...parameters: unknown[]) => unknown;
      if (name === 'noteUse' || name === 'version' || typeof verb !== 'function') return verb;
      return async (...parameters: unknown[]) => {
        await readAll();
        const answer = await verb(...parameters);
        if (name === 'issueGrant') known.push((parameters[0] as Grant).id);
        return answer;
      };
    },
  });
}

/** The same store, which finds every grant that it was given before and after each act, and compares if the version stayed. */
function comparingVersions(store: AnyStore): AnyStore {
  const known: Buffer[] = [];
  const look = async (ids: readonly Buffer[]) => {
    const version = store.version();
    const found = await Promise.all(ids.map(async (id) => asOfVersion(await store.findGrant(id))));
    return { version, found };
  };
  return new Proxy(store, {
    get(_, name: keyof AnyStore) {
      const verb = store[name] as (...parameters: unknown[]) => unknown;
      if (name === 'noteUse' || name === 'version' || typeof verb !== 'function') return verb;
      return async (...parameters: unknown[]) => {
        const ids = known.slice(-LOOKED_AT);
        await look(ids); // From now on all are kept.
        const before = await look(ids);
        const answer = await verb(...parameters);
        const after = await look(ids);
        if (after.version === before.version) assert.deepEqual(after.found, before.found, `after ${name}`);
        if (name === 'issueGrant') known.push((parameters[0] as Grant).id);
        return answer;
      };
    },
  });
}

/** What is found of a grant without what its transitions and its uses change. */
function asOfVersion(found: FoundGrant | null) {
  if (!found) return null;
  const { generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt, usedGeneration, lastUsedAt, ...grant } =
    found.grant;
  return { ...found, grant };
}
