/** A soak as a picture: a panel for each figure over time, all on one time axis. SVG, light and dark. */
import type { Sample } from './soak-report.ts';

/** What the picture says of the soak in words. */
export type SoakCaption = { readonly date: string; readonly node: string };

type Line = { readonly name: string; readonly of: (sample: Sample) => number };
type Panel = { readonly title: string; readonly lines: readonly Line[] };

const PANELS: readonly Panel[] = [
  { title: 'Memory, MB', lines: [{ name: 'ours', of: ({ residentMB }) => residentMB }] },
  { title: 'Open files', lines: [{ name: 'ours', of: ({ files }) => files }] },
  { title: 'Write-ahead log, MB', lines: [{ name: 'ours', of: ({ walMB }) => walMB }] },
  {
    title: 'p99 of refresh (thick) and check, ms',
    lines: [
      { name: 'second', of: ({ p99 }) => p99['check'] ?? 0 },
      { name: 'ours', of: ({ p99 }) => p99['refresh'] ?? 0 },
    ],
  },
  { title: 'Load average of the machine', lines: [{ name: 'second', of: ({ machineLoad }) => machineLoad }] },
  { title: 'Live grants', lines: [{ name: 'second', of: ({ grants }) => grants }] },
];
// In pixels.
const WIDTH = 720;
const LEFT = 64;
const RIGHT = 16;
const HEAD = 44;
const PANEL = 104;
const PLOT = 64;
const FOOT = 48;

const STYLE = `
    text { font: 12px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #59636e }
    .head { font-size: 14px; font-weight: 600; fill: #1f2328 }
    path { fill: none; stroke-linejoin: round }
    .axis { stroke: #d1d9e0 }
    .ours { stroke: #0f7a64; stroke-width: 2 }
    .second { stroke: #8c959f }
    @media (prefers-color-scheme: dark) {
      text { fill: #9198a1 }
      .head { fill: #e6edf3 }
      .axis { stroke: #3d444d }
      .ours { stroke: #35c4a2 }
    }`;

/** Draws the samples of one soak, of which there are two or more. */
export function soakPlot(samples: readonly Sample[], { date, node }: SoakCaption): string {
  const height = HEAD + PANELS.length * PANEL + FOOT;
  const end = samples.at(-1)?.second ?? 1;
  const requests = samples.reduce((sum, sample) => sum + sample.requests, 0).toLocaleString('en');
  const title = `The service on SQLite under a steady load for ${Math.round(end / 60)} minutes`;
  const foot = `${requests} requests. ${date}, Node.js ${node.slice(1)}. Each panel begins at 0.`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
  <title>${title}</title>
  <style>${STYLE}
  </style>
  <text class="head" x="0" y="18">${title}</text>
${PANELS.map((panel, index) => panelOf(panel, HEAD + index * PANEL, samples, end)).join('\n')}
${minutesOf(end, height - FOOT + 8)}
  <text x="0" y="${height - 8}">${foot}</text>
</svg>
`;
}

function panelOf({ title, lines }: Panel, top: number, samples: readonly Sample[], end: number): string {
  const most = Math.max(...lines.flatMap(({ of }) => samples.map(of)), Number.MIN_VALUE);
  const bottom = top + PANEL - 16;
  const point = (value: number, second: number) =>
    `${xOf(second, end).toFixed(1)} ${(bottom - (value / most) * PLOT).toFixed(1)}`;
  const paths = lines.map(
    ({ name, of }) =>
      `  <path class="${name}" d="M${samples.map((sample) => point(of(sample), sample.second)).join('L')}"/>`,
  );
  return [
    `  <text x="${LEFT}" y="${bottom - PLOT - 10}">${title}</text>`,
    `  <text x="${LEFT - 8}" y="${bottom - PLOT + 4}" text-anchor="end">${figureOf(most)}</text>`,
    `  <text x="${LEFT - 8}" y="${bottom + 4}" text-anchor="end">0</text>`,
    `  <path class="axis" d="M${LEFT} ${bottom}H${WIDTH - RIGHT}"/>`,
    ...paths,
  ].join('\n');
}

/** Six times at most, in whole minutes. */
function minutesOf(end: number, y: number): string {
  const step = Math.max(1, Math.ceil(end / 60 / 6));
  const minutes = Array.from({ length: Math.floor(end / 60 / step) + 1 }, (_, at) => at * step);
  return minutes
    .map(
      (minute) => `  <text x="${xOf(minute * 60, end).toFixed(1)}" y="${y}" text-anchor="middle">${minute} min</text>`,
    )
    .join('\n');
}

function xOf(second: number, end: number): number {
  return LEFT + (second / end) * (WIDTH - LEFT - RIGHT);
}

function figureOf(value: number): string {
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString('en');
}
