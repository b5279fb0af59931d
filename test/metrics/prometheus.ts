/** Prometheus itself, where it is installed: what it says of the rules, and of figures that were scraped around faults. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Figures } from '../support/metrics.ts';
import { figuresIn, readAlerts } from './alerts.ts';

/** What was scraped before and after the fault of an alert. */
export type Scraped = { readonly name: string; readonly before: Figures; readonly after: Figures };

const PROMTOOL = 'promtool';
const RULES = fileURLToPath(new URL('../../deploy/prometheus/rules.yml', import.meta.url));

/** Whether its tool is installed here. */
export function isThere(): boolean {
  return spawnSync(PROMTOOL, ['--version'], { stdio: 'ignore' }).status === 0;
}

/** Has it evaluate the rules over what was scraped: each alert fires on its fault; does nothing where it is not installed. */
export async function evaluated(all: readonly Scraped[]): Promise<void> {
  if (!isThere()) return;
  run(['check', 'rules', RULES]);
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-rules-'));
  try {
    const file = join(folder, 'test.json');
    writeFileSync(file, JSON.stringify({ rule_files: [RULES], evaluation_interval: '15s', tests: all.map(testOf) }));
    run(['test', 'rules', file]);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function run(words: readonly string[]): void {
  const { status, stdout, stderr } = spawnSync(PROMTOOL, words, { encoding: 'utf8' });
  assert.equal(status, 0, `${stdout}\n${stderr}`);
}

const HOUR = 240;

/**
 * An hour without the fault, in which what happens by itself goes on, and an hour in which the fault goes on: what was counted
 * meanwhile is counted again each minute.
 */
function testOf({ name, before, after }: Scraped) {
  const asked = figuresIn(readAlerts().get(name)?.expression ?? '');
  const lines = [...after.keys()].filter((line) => asked.some((figure) => line.startsWith(figure)));
  const series = lines.map((line) => {
    const [was, is] = [sinceStart(line, before.get(line) ?? 0), sinceStart(line, after.get(line) ?? 0)];
    const step = isCounted(line) ? (is - was) / 4 : 0;
    return { series: withJob(line), values: `${was}+${isTime(line) ? 15 : 0}x${HOUR} ${is}+${step}x${HOUR}` };
  });
  const up = { series: withJob('up'), values: `1x${HOUR} ${name === 'ValetkeyDown' ? 0 : 1}x${HOUR}` };
  const firing = `count(ALERTS{alertname="${name}",alertstate="firing"}) or vector(0)`;
  const is = (value: number) => [{ labels: '{}', value }];
  return {
    interval: '15s',
    name,
    input_series: [...series, up],
    promql_expr_test: [
      { expr: firing, eval_time: '55m', exp_samples: is(0) },
      { expr: `(${firing}) > bool 0`, eval_time: '115m', exp_samples: is(1) },
    ],
  };
}

function isCounted(line: string): boolean {
  return /^\w+_(total|bucket|sum|count)(\{|$)/.test(line);
}

/** Tests of rules begin at the time 0. */
function sinceStart(line: string, value: number): number {
  return isTime(line) ? value - Date.now() / 1000 : value;
}

function isTime(line: string): boolean {
  return /^\w+_timestamp_seconds/.test(line);
}

function withJob(line: string): string {
  const labels = 'job="valetkey",instance="127.0.0.1:9464"';
  return line.includes('{') ? line.replace('{', `{${labels},`) : `${line}{${labels}}`;
}
