/** The real program, with its log in a pipe that nobody reads: it serves, and says afterwards what it could not write. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { metricsAddress, scrape } from '../support/metrics.ts';
import { ProgramOnDisk } from '../support/program.ts';

const REQUESTS = 6000;
const AT_ONCE = 40;

/** Asks for something that is logged, on and on; resolves when all were answered. */
async function askAll(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE });
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent }, (response) => response.resume().once('end', resolve)).once('error', reject);
    });
  let left = REQUESTS;
  const asking = async () => {
    for (; left > 0; left -= 1) await ask();
  };
  await Promise.all(Array.from({ length: AT_ONCE }, asking));
  agent.destroy();
}

test('operating: a log that nobody reads holds nothing up, neither requests nor the stop, and what it lost is counted', async (t) => {
  const program = await ProgramOnDisk.make(t);
  const path = join(program.folder, 'log');
  assert.equal(spawnSync('mkfifo', [path]).status, 0);
  const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  t.after(() => closeSync(reader));
  const writer = openSync(path, constants.O_WRONLY);
  const { variables, url } = await metricsAddress();
  const { child, ended } = await program.serve(variables, writer);
  closeSync(writer);
  await askAll(`${program.apiUrl}/v2/me`);
  const dropped = (await scrape(url)).get('valetkey_log_lines_dropped_total') ?? 0;
  assert.ok(dropped > 0, 'more than the pipe and the buffer hold');
  const text = drained(reader);
  const gap = /"dropped":(\d+),"msg":"\1 lines are missing here: nobody read the log"/;
  const log = await text(gap);
  const [, said] = gap.exec(log) ?? [];
  assert.ok(Number(said) >= dropped);
  const lines = log.split('\n').filter((line) => line.includes('"msg":"request"'));
  assert.ok(
    lines.every((line) => JSON.parse(line)),
    'no line is cut',
  );
  assert.ok(lines.length + Number(said) >= REQUESTS);
  await askAll(`${program.apiUrl}/v2/me`);
  child.kill('SIGTERM');
  assert.equal((await ended).code, 0, 'it stops, though nobody reads');
});

/** Reads what a pipe has, until a pattern was in it. */
function drained(fd: number): (pattern: RegExp) => Promise<string> {
  const buffer = Buffer.alloc(65_536);
  return async (pattern) => {
    let text = '';
    while (!pattern.test(text)) {
      try {
        text += buffer.toString('utf8', 0, readSync(fd, buffer));
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, 'EAGAIN');
      }
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return text;
  };
}
