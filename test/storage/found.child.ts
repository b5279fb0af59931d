/** A process that opens a database as commands do, and founds its installation where there is none; prints what a check finds wrong. */
import { writeSync } from 'node:fs';
import { createKeyring } from '../../src/oauth/keys/keyring.ts';
import { openAsService } from '../support/storage.ts';

const [, , path = '', ...keys] = process.argv;
const keyring = createKeyring(keys.map((text) => Buffer.alloc(32, text)));
const opened = await openAsService(path, { role: 'command', keyring });
const wrong = (await opened.check()).filter(({ ok }) => !ok);
await opened.close();
writeSync(1, JSON.stringify(wrong));
