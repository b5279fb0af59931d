/** Clients that do not read, or read slowly. All of these mostly wait, so they wait at the same time. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { Socket } from 'node:net';
import { after, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { obtainPair, signedInBrowser } from '../../support/flow.ts';
import { ProgramOnDisk } from '../../support/program.ts';
import { hold, requestHead } from '../../support/raw-http.ts';
import { addClient, addUser, startTestService } from '../../support/service.ts';

const KEPT = { Connection: 'keep-alive' };
const LOGO_BYTES = 16 * 1024 * 1024;

const LOOK_EVERY_MS = 250;

/**
 * Sends a request again and again and never reads; resolves when the connection ends, with how long nothing was taken (ms), and
 * how many looks at it there were meanwhile: a machine that does other things makes these fewer.
 */
async function neverRead(url: string, request: string): Promise<{ ms: number; looks: number }> {
  const socket: Socket = (await hold(url)).pause();
  const bytes = Buffer.from(request.repeat(500));
  let [taken, looks] = [performance.now(), 0];
  const looking = setInterval(() => (looks += 1), LOOK_EVERY_MS);
  const write = () => {
    while (socket.writable && socket.write(bytes));
  };
  socket.on('drain', () => {
    [taken, looks] = [performance.now(), 0];
    write();
  });
  write();
  await new Promise((resolve) => socket.once('close', resolve));
  clearInterval(looking);
  return { ms: performance.now() - taken, looks };
}

const { folder } = await ProgramOnDisk.make({ after });
const logo = `${folder}/logo.png`;
writeFileSync(logo, Buffer.alloc(LOGO_BYTES));
const service = await startTestService({ after }, { VALETKEY_PRODUCT_LOGO: logo });
const { appUrl, apiUrl } = service;
await addUser(service);
const { accessToken } = await obtainPair(service, await signedInBrowser(service), await addClient(service));
const check = { ...KEPT, Authorization: `Bearer ${accessToken}` };

describe('backpressure: an answer that has not moved for 15 seconds ends its connection', {
  concurrency: true,
}, () => {
  for (const [name, url, request] of [
    ['checks on the connection', apiUrl, requestHead(apiUrl, 'GET /v2/me', check)],
    ['checks that Node.js reads', apiUrl, requestHead(apiUrl, 'GET /v2/me', { ...check, TE: 'trailers' })],
    ['pages', appUrl, requestHead(appUrl, 'GET /developers', KEPT)],
    ['one large answer', appUrl, requestHead(appUrl, 'GET /assets/logo', KEPT)],
  ] as const)
    test(`backpressure: of ${name}`, { timeout: 300_000 }, async () => {
      const { ms, looks } = await neverRead(url, request);
      assert.ok(ms > 12_000 && looks * LOOK_EVERY_MS < 60_000, `${ms} ms, and ${looks} looks`);
    });

  test('backpressure: and not that of whoever reads slowly, but steadily', { timeout: 300_000 }, async () => {
    const socket = (await hold(appUrl)).pause();
    socket.write(requestHead(appUrl, 'GET /assets/logo', { Connection: 'close' }));
    let received = 0;
    for (let turn = 0; !socket.readableEnded && !socket.destroyed; turn++) {
      await sleep(100);
      // For twenty seconds and more.
      for (let part = 0; part < 1 || turn > 200; part++) {
        const chunk = socket.read() as Buffer | null;
        if (!chunk) break;
        received += chunk.length;
      }
    }
    assert.ok(received > LOGO_BYTES, `${received} bytes`);
  });
});
