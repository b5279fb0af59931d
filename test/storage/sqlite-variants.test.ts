/** SQLite against what every store must do, once more for each other way to open and to use it. */
import { after, type TestContext } from 'node:test';
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
storeConformance('SQLite file that the next release has expanded', (t) => open(t, copyOf(expanded, t)));
crowdConformance('SQLite file that the next release has expanded', (t) => open(t, copyOf(expanded, t)));
