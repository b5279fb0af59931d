/** A command beside the service: opens the database as commands do and acts once, as its arguments say. */
import { writeSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as after } from 'node:timers/promises';
import { event, openAsService } from '../support/storage.ts';

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
  };
  await acts[act]?.();
  await opened.close();
}
