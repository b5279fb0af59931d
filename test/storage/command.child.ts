/** A process beside the service: opens the database as commands do and acts, as its arguments say. */
import { once } from 'node:events';
import { writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as after } from 'node:timers/promises';
import type { ClientStore } from '../../src/oauth/clients/client-store.ts';
import { event, openAsService, sampleMark } from '../support/storage.ts';

const [, , path = '', act = '', argument = ''] = process.argv;

if (act === 'lock') {
  const database = new DatabaseSync(path);
  database.exec('BEGIN IMMEDIATE');
  writeSync(1, 'locked\n');
  await after(Number(argument));
  database.exec('COMMIT');
  database.close();
} else {
  const opened = await openAsService(path, { role: 'command', migrate: false, durability: 'full' });
  const acts: Record<string, () => Promise<unknown>> = {
    revoke: () => opened.store.revokeGrant(Buffer.from(argument, 'hex'), 'operator', event('grant_revoked')),
    pause: () => opened.store.setClientStatus('app_one', 'paused', event('client_paused')),
    'revoke-all': () => opened.store.revokeAllGrants(event('all_grants_revoked')),
    'use-assertions': () => useAssertions(opened.store, Number(argument)),
  };
  await acts[act]?.();
  await opened.close();
}

/** Tries to use so many assertions, when something comes on the standard input, and prints what became of each. */
async function useAssertions(store: ClientStore, count: number): Promise<void> {
  writeSync(1, 'ready\n');
  await once(process.stdin, 'data');
  const marks = Array.from({ length: count }, (_, n) => sampleMark(n));
  const became = await Promise.all(marks.map((mark) => store.useClientAssertion(mark, count + 1)));
  writeSync(1, `${JSON.stringify(became)}\n`);
  process.stdin.destroy();
}
