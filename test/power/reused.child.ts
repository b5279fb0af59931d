/**
 * Writes to a recorded file once, and then to what has the descriptors of closed recorded files: a file that is not recorded and
 * a socket. The arguments are the recorded folder and a path for the socket.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync, openSync, writeSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

const [folder, path] = process.argv.slice(2) as [string, string];
const MANY = 16;

const file = join(folder, 'file');
writeSync(openSync(file, 'w'), 'recorded');
const closed = Array.from({ length: MANY }, () => openSync(file, 'r'));
for (const descriptor of closed) closeSync(descriptor);
const reused = openSync(`${file}-shm`, 'w');
assert.ok(closed.includes(reused));
writeSync(reused, 'not recorded');

const server = createServer((socket) => socket.end('not recorded')).listen(path);
await once(server, 'listening');
const socket = connect(path);
await once(socket.resume(), 'close');
server.close();
