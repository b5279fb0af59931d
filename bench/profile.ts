/** Where the service's time goes: the functions with the most time of their own while one operation runs at 64 connections. */
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCell } from './load.ts';
import { isOfApi, OPERATIONS, type Operation } from './operations.ts';
import { fillPurse } from './rounds.ts';
import type { RunningTarget } from './target.ts';

type Node = {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  readonly children?: readonly number[];
};

/** What the inspector answers (`Profiler.Profile`), as far as it is used here. */
type CpuProfile = {
  readonly nodes: readonly Node[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

const CONNECTIONS = 64;
const CODES = 20_000;
const SECONDS = 2;
const MAX_FUNCTIONS = 25;

/** Where a function belongs, by its file; the first that fits. The rest of Node.js belongs to whoever called it. */
const AREAS: readonly (readonly [string, RegExp])[] = [
  ['src/storage (SQLite in it)', /\/src\/storage\//],
  ['src/oauth', /\/src\/(oauth|accounts)\//],
  ['src/http', /\/src\//],
  ['log: pino', /node_modules\/(pino|sonic-boom|thread-stream|safe-stable-stringify)/],
  ['pg, its protocol and types', /node_modules\/(pg|pg-[a-z]+|postgres-[a-z]+)\//],
  ['Fastify', /node_modules\//],
  ['node:crypto', /node:internal\/crypto|node:crypto/],
  ['node:http, net and streams', /node:(_http|http|net|internal\/(streams|stream_base|http|js_stream)|_stream|stream)/],
];

/** Profiles the operations one after the other, and returns each as a text with the top functions. */
export async function profileAll(target: RunningTarget, chance: () => number): Promise<string[]> {
  const purse = await fillPurse(target, CODES, chance);
  const texts: string[] = [];
  for (const operation of OPERATIONS) {
    const port = isOfApi(operation) ? target.apiPort : target.appPort;
    const most = operation === 'exchange' ? CODES : Number.POSITIVE_INFINITY;
    const cell = { port, connections: CONNECTIONS, next: purse.calls(operation), seconds: SECONDS, least: 0, most };
    texts.push(summaryOf(operation, (await target.profile(() => runCell(cell))) as CpuProfile));
  }
  return texts;
}

function summaryOf(operation: Operation, profile: CpuProfile): string {
  const own = ownTimes(profile);
  const names = namesOf(profile.nodes);
  const functions = shares(profile.nodes, own, ({ id }) => names.get(id) ?? '').slice(0, MAX_FUNCTIONS);
  const areas = areasOf(profile.nodes);
  const head = `${operation} at ${CONNECTIONS} connections, shares of the main thread's busy time: by area, then the top functions`;
  return [head, ...shares(profile.nodes, own, ({ id }) => areas.get(id) ?? ''), '', ...functions].join('\n');
}

/** Time that each node spent itself, without what is not the service's: waiting, and ending the profile. */
function ownTimes({ nodes, samples, timeDeltas }: CpuProfile): ReadonlyMap<number, number> {
  const own = new Map<number, number>();
  samples.forEach((id, index) => {
    own.set(id, (own.get(id) ?? 0) + (timeDeltas[index] ?? 0));
  });
  for (const { id, callFrame } of nodes)
    if (callFrame.functionName === '(idle)' || callFrame.url.includes('inspector')) own.delete(id);
  return own;
}

/** The groups with the largest shares, as lines. */
function shares(
  nodes: CpuProfile['nodes'],
  own: ReadonlyMap<number, number>,
  groupOf: (node: Node) => string,
): string[] {
  const groups = new Map<string, number>();
  for (const node of nodes) groups.set(groupOf(node), (groups.get(groupOf(node)) ?? 0) + (own.get(node.id) ?? 0));
  const total = [...groups.values()].reduce((sum, time) => sum + time, 0);
  const sorted = [...groups].filter(([, time]) => time > 0).sort(([, one], [, other]) => other - one);
  return sorted.map(([name, time]) => `${((time / total) * 100).toFixed(1).padStart(5)} %  ${name}`);
}

/** What each node belongs to; what has no file of its own (SQLite, say) belongs to whoever called it. */
function areasOf(nodes: CpuProfile['nodes']): ReadonlyMap<number, string> {
  return inherited(nodes, areaOf, (_, area) => area ?? 'node, the rest');
}

/** The name of each node, with its caller where the name alone says little. */
function namesOf(nodes: CpuProfile['nodes']): ReadonlyMap<number, string> {
  const callers = inherited(nodes, placeOf, (_, place) => place ?? '');
  return new Map(
    nodes.map((node) => {
      const { functionName } = node.callFrame;
      const place = placeOf(node);
      const caller = callers.get(node.id);
      if (place) return [node.id, place];
      return [node.id, caller ? `${functionName || '(anonymous)'} in ${caller}` : functionName];
    }),
  );
}

/** What a function says of each node, or said of the nearest node above it. */
function inherited(
  nodes: CpuProfile['nodes'],
  of: (node: Node) => string | null,
  last: (node: Node, found: string | null) => string,
): ReadonlyMap<number, string> {
  const above = new Map<number, string | null>();
  const all = new Map<number, string>();
  // A node comes before its children.
  for (const node of nodes) {
    const found = of(node) ?? above.get(node.id) ?? null;
    all.set(node.id, last(node, found));
    for (const child of node.children ?? []) above.set(child, found);
  }
  return all;
}

function areaOf({ callFrame: { functionName, url } }: Node): string | null {
  if (functionName === '(garbage collector)' || functionName === '(program)') return functionName;
  return AREAS.find(([, pattern]) => pattern.test(url))?.[0] ?? null;
}

function placeOf({ callFrame: { functionName, url, lineNumber } }: Node): string | null {
  if (!url) return null;
  const place = url.startsWith('file:') ? relative(`${import.meta.dirname}/..`, fileURLToPath(url)) : url;
  return `${functionName || '(anonymous)'} ${place.replace(/^node_modules\//, '')}:${lineNumber + 1}`;
}
