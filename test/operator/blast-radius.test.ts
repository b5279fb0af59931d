/** Bounded counts of grants, for the questions before something ends. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { GrantRegistry } from '../../src/oauth/connected-apps/grant-registry.ts';
import { grantsToEndSoon } from '../../src/operator/lists/blast-radius.ts';
import { Lists } from '../../src/operator/lists/lists.ts';
import { appGrantsWords } from '../../src/pages/operator/blast-radius.ts';
import { keyring } from '../oauth/samples.ts';
import {
  addAdaAndOne,
  event,
  NOW,
  openAsService,
  sampleGrant,
  secondConnection,
  temporaryPath,
} from '../support/storage.ts';

test('operators §4: a person’s grants are counted to 10,000, and no further', async (t) => {
  const path = temporaryPath(t);
  const opened = await openAsService(path);
  await addAdaAndOne(opened);
  const { store } = opened;
  const grant = sampleGrant();
  await store.issueGrant(grant, event('consent_allowed'));
  const database = secondConnection(t, path);
  const columns = database.prepare("SELECT name FROM pragma_table_info('oauth_grant')").all();
  const others = columns.map(({ name }) => name).filter((name) => name !== 'id');
  const copy = (count: number) =>
    database.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO oauth_grant (id, ${others}) SELECT randomblob(16), ${others} FROM (SELECT * FROM oauth_grant LIMIT 1), n`);
  // No time passes, so that the number alone is the bound.
  const lists = new Lists({
    store,
    keyring,
    now: () => NOW,
    stopwatch: () => 0,
  });
  const parts = { grants: new GrantRegistry(store, () => NOW), lists };
  const words = async () => {
    // The reads of one turn share a snapshot.
    await nextTurn();
    return appGrantsWords(await grantsToEndSoon(parts, { resourceOwnerId: grant.resourceOwnerId }));
  };
  assert.equal(await words(), '1 grant of 1 app');
  copy(9_999);
  assert.equal(await words(), '10,000 grants');
  copy(1);
  assert.equal(await words(), 'more than 10,000 grants');
  copy(2_000);
  assert.equal(await words(), 'more than 10,000 grants');
  await opened.close();
});
