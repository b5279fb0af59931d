/** A service whose figures can be read, and the reading of their text. */
import assert from 'node:assert/strict';
import { freePort } from './service.ts';

/** A line of the text: its name and labels as written, and its value. */
export type Figures = ReadonlyMap<string, number>;

/** Where a service's figures are: the variable that has it serve them, and the address. */
export async function metricsAddress(): Promise<{ variables: Record<string, string>; url: string }> {
  const address = `127.0.0.1:${await freePort()}`;
  return { variables: { VALETKEY_METRICS_LISTEN: address }, url: `http://${address}/metrics` };
}

/** Reads the figures; each line must be one of the text format 0.0.4. */
export async function scrape(url: string): Promise<Figures> {
  const response = await fetch(url);
  assert.equal(response.status, 200);
  return figuresIn(await response.text());
}

const LINE = /^([a-zA-Z_:][\w:]*(?:\{(?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\["\\n])*",?)*\})?) (\S+)$/;

/** The figures of a text. */
function figuresIn(text: string): Figures {
  const figures = new Map<string, number>();
  for (const line of text.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
    const [, name = '', value = ''] = LINE.exec(line) ?? [];
    assert.ok(name !== '' && (value === 'Nan' || value.endsWith('Inf') || !Number.isNaN(Number(value))), line);
    assert.ok(!figures.has(name), `${name} is there twice`);
    figures.set(name, Number(value));
  }
  return figures;
}

/** The names that figures have, without labels and without what a histogram adds to its own. */
export function namesIn(text: string): string[] {
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
}
