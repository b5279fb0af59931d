/** The log of a service: no line is lost when the process ends, unless it is killed outright. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { makeLogger } from '../../src/process/log.ts';

const LOG = new URL('../../src/process/log.ts', import.meta.url).href;
const GATHERED = new URL('../../src/process/gathered-lines.ts', import.meta.url).href;
const ENDS: Readonly<Record<string, string>> = {
  'when it has nothing more to do': '',
  'when it is told to': 'process.exit(1);',
  'by a fault that nobody caught': "setTimeout(() => { throw new Error('a fault'); }, 5);",
};

for (const [how, end] of Object.entries(ENDS))
  test(`ASVS 16.2.1: what was logged before a process ends is written ${how}`, () => {
    const program = `
      import { GatheredLines } from '${GATHERED}';
      import { makeLogger } from '${LOG}';
      const logger = makeLogger(new GatheredLines(), Date.now);
      for (let line = 0; line < 5000; line += 1) logger.info({ line }, 'what happened');
      ${end}`;
    const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
    assert.equal(stderr.match(/"msg":"what happened"/g)?.length, 5000);
  });

test('ASVS 16.2.2: a line of given members is written as the logger writes its own', () => {
  const lines: string[] = [];
  const logger = makeLogger({ write: (line: string) => void lines.push(line) }, () => 0);
  const members = { route: null, status: 200, ms: 0.1, detail: 'a "quote", a line\n, ü' };
  logger.info(members, 'request');
  logger.line({ ...members, msg: 'request' });
  assert.equal(lines[1], lines[0]);
  logger.level = 'warn';
  logger.info(members, 'request');
  logger.line(members);
  assert.equal(lines.length, 2);
});

test('operating: what must be logged at every level is, in the form of other lines', () => {
  const lines: string[] = [];
  const logger = makeLogger({ write: (line: string) => void lines.push(line) }, () => 0, 'fatal');
  logger.info({ checkpoint: 'c' }, 'a sentence');
  logger.always({ checkpoint: 'c', msg: 'a sentence' });
  logger.line({ msg: 'request' }, 'warn');
  assert.deepEqual(lines, ['{"level":"info","time":"1970-01-01T00:00:00.000Z","checkpoint":"c","msg":"a sentence"}\n']);
});
