/** `If-Match` against a change that comes between its check and the write. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { etagOf } from '../../../src/http/operator/api/etag.ts';
import type { Noun } from '../../../src/http/operator/api/nouns.ts';
import type { Call } from '../../../src/http/operator/api/route.ts';
import { Changes } from '../../../src/http/operator/changes/change.ts';
import type { Service } from '../../../src/http/service/service.ts';
import type { Client } from '../../../src/oauth/clients/client.ts';
import { ChangedSince } from '../../../src/oauth/trail/request-conditions.ts';
import { addAdaAndOne, event, openAsService, operator } from '../../support/storage.ts';

test('RFC 9110 §13.1.1: a change between the check of If-Match and the write is not overwritten', async () => {
  const opened = await openAsService(':memory:');
  await addAdaAndOne(opened);
  const { store } = opened;
  const changes = new Changes({ operators: { access: { actor: () => operator } } } as unknown as Service);
  const noun: Noun<Client> = {
    ...{ noun: 'client', words: 'app' },
    find: (id) => store.findClient(id),
    json: async (row) => row,
  };
  const before = await store.findClient('app_one');
  assert.ok(before);
  const request = { headers: { 'if-match': etagOf(before) } };
  const call = { id: 'app_one', request } as unknown as Call;
  const pausing = changes.on(noun, call, async (client, actor) => {
    await store.updateClient({ ...client, name: 'Faster' }, client, event('client_updated'));
    await store.setClientStatus(client.id, 'paused', { ...event('client_paused'), actor });
    return {};
  });
  await assert.rejects(pausing, ChangedSince);
  const after = await store.findClient('app_one');
  assert.deepEqual([after?.name, after?.status], ['Faster', 'active']);
});
