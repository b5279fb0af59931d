/** The log as people read it at a terminal. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { inStyle, makeLogger } from '../../src/process/log.ts';

const LOG = new URL('../../src/process/log.ts', import.meta.url).href;
const GATHERED = new URL('../../src/process/gathered-lines.ts', import.meta.url).href;
const NOON = Date.UTC(2026, 0, 15, 12);

/** What a logger writes in a style. */
function written(logFormat: 'auto' | 'json' | 'text', isTerminal: boolean, level?: string) {
  const lines: string[] = [];
  const destination = inStyle({ write: (line: string) => void lines.push(line) }, { logFormat }, isTerminal);
  return { logger: makeLogger(destination, () => NOON, level), lines };
}

test('the log is text at a terminal, JSON elsewhere, and what VALETKEY_LOG_FORMAT says in any case', () => {
  const isText = (...style: Parameters<typeof written>) => {
    const { logger, lines } = written(...style);
    logger.info('stopping');
    return lines[0] === '12:00:00.000 INFO  stopping\n';
  };
  assert.deepEqual([isText('auto', true), isText('auto', false)], [true, false]);
  assert.deepEqual([isText('text', false), isText('json', true)], [true, false]);
});

test('a request is a sentence for people, with what it names behind it', () => {
  const { logger, lines } = written('text', false);
  const request = { request_id: '0ef1', method: 'GET', route: '/v2/me', status: 200, ms: 0.4, source: '127.0.0.1' };
  logger.line({ ...request, client_id: 'app_1', msg: 'request' });
  logger.line({ ...request, method: '', route: null, status: 400, msg: 'request' });
  assert.equal(lines[0], '12:00:00.000 INFO  GET /v2/me 200 in 0.4 ms from 127.0.0.1 0ef1 client_id=app_1\n');
  assert.equal(lines[1], '12:00:00.000 INFO  unreadable unknown address 400 in 0.4 ms from 127.0.0.1 0ef1\n');
});

test('no value of a line moves the cursor of a terminal or forges a line of its own', () => {
  const { logger, lines } = written('text', false);
  logger.warn({ err: new Error('one\n\u001b[2Jtwo') }, 'a name\u001b]0;title\u0007 \u202ereversed\n12:00 FORGED');
  const text = lines.join('');
  assert.doesNotMatch(text.replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u);
  assert.doesNotMatch(text, /^12:00 FORGED/m);
  assert.match(text, /at .*readable-lines\.test\.ts/, 'the stack of an error is there');
});

test('VALETKEY_LOG_LEVEL leaves out what is below it, lines of requests with it', () => {
  const { logger, lines } = written('json', false, 'warn');
  logger.info('stopping');
  logger.line({ msg: 'request' });
  logger.warn('the disk is nearly full');
  assert.equal(lines.length, 1);
});

test('ASVS 16.2.1: what ends the process is written as text too', () => {
  const program = `
    import { GatheredLines } from '${GATHERED}';
    import { inStyle, makeLogger } from '${LOG}';
    const logger = makeLogger(inStyle(new GatheredLines(), { logFormat: 'text' }, false), () => 0);
    logger.fatal('the disk failed');
    process.kill(process.pid, 'SIGKILL');`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], { encoding: 'utf8' });
  assert.equal(stderr, '00:00:00.000 FATAL the disk failed\n');
});
