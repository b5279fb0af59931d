/** A run as a picture: a row for each contestant with a database, a column of bars for each operation. SVG, light and dark. */
import { CONTESTANTS, type Contestant } from './contestants.ts';
import type { Operation } from './operations.ts';
import type { Row } from './statistics.ts';

/** What the picture says of the run in words. */
export type Caption = { readonly date: string; readonly node: string; readonly rounds: number };

const AT_ONCE = 64;
const COLUMNS: readonly { readonly operation: Operation; readonly title: string }[] = [
  { operation: 'exchange', title: 'Exchange a code' },
  { operation: 'refresh', title: 'Refresh' },
  { operation: 'check', title: 'Check a token' },
];
// In pixels.
const NAMES = 256;
const COLUMN = 184;
const BAR = 120;
const ROW = 30;
const HEAD = 64;
const FOOT = 44;
const WIDTH = NAMES + COLUMNS.length * COLUMN;

const STYLE = `
    text { font: 14px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328 }
    .ours { font-weight: 600 }
    .head { font-weight: 600 }
    .small { font-size: 12px; fill: #59636e }
    .bar { fill: #aab4be }
    .bar.ours { fill: #0f7a64 }
    @media (prefers-color-scheme: dark) {
      text { fill: #e6edf3 }
      .small { fill: #9198a1 }
      .bar { fill: #59636e }
      .bar.ours { fill: #35c4a2 }
    }`;

/** Draws the rows at 64 connections. */
export function plotOf(rows: readonly Row[], { date, node, rounds }: Caption): string {
  const shown = CONTESTANTS.filter(({ name, store }) => store !== null && rows.some(({ target }) => target === name));
  const height = HEAD + shown.length * ROW + FOOT;
  const title = `Requests a second, ${AT_ONCE} at once, every write on disk before its answer`;
  const foot = `Each server has one core. Medians of ${rounds} interleaved rounds, ${date}, Node.js ${node.slice(1)}. Longer is better; each column has its own scale.`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
  <title>${title}</title>
  <style>${STYLE}
  </style>
  <text class="head" x="0" y="18">${title}</text>
${shown.map((contestant, index) => text(0, baseline(index), contestant.title, classOf(contestant))).join('\n')}
${COLUMNS.map((column, index) => columnOf(column, NAMES + index * COLUMN, shown, rows)).join('\n')}
  <text class="small" x="0" y="${height - 8}">${foot}</text>
</svg>
`;
}

function columnOf(
  { operation, title }: (typeof COLUMNS)[number],
  left: number,
  shown: readonly Contestant[],
  rows: readonly Row[],
): string {
  const rateOf = ({ name }: Contestant) =>
    rows.find((row) => row.target === name && row.operation === operation && row.concurrency === AT_ONCE)?.perSecond ??
    0;
  const most = Math.max(...shown.map(rateOf), 1);
  const bars = shown.map((contestant, index) => {
    const width = Math.max(1, (rateOf(contestant) / most) * BAR).toFixed(1);
    const top = HEAD + index * ROW + 5;
    const figure = Math.round(rateOf(contestant)).toLocaleString('en');
    return [
      `  <rect class="${`bar ${classOf(contestant)}`.trim()}" x="${left}" y="${top}" width="${width}" height="${ROW - 10}" rx="3"/>`,
      text(left + Number(width) + 6, baseline(index), figure, classOf(contestant)),
    ].join('\n');
  });
  return [text(left, HEAD - 12, title, 'small'), ...bars].join('\n');
}

function baseline(row: number): number {
  return HEAD + row * ROW + 20;
}

function classOf({ kind }: Contestant): string {
  return kind === 'valetkey' ? 'ours' : '';
}

function text(x: number, y: number, content: string, name: string): string {
  return `  <text${name && ` class="${name}"`} x="${x}" y="${y}">${content}</text>`;
}
