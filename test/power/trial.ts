/** Cuts the power of a recorded life at many moments, and judges what each leaves. */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Lots, lots, pick } from '../instances/effort.ts';
import type { Entry } from '../instances/history.ts';
import type { Lifetime } from '../support/service.ts';
import { type Contents, Disk, layOut } from './disk.ts';
import { brokenPromises } from './judge.ts';
import type { Recording } from './recording.ts';
import { Remains } from './remains.ts';
import { readTrace, type TraceRecord } from './trace.ts';
import { askAfterwards } from './wire.ts';

/** How much is tried: so many cuts, of which some are also judged on the wire, on a disk that is honest up to a position. */
export type Extent = {
  readonly cuts: number;
  readonly onTheWire: number;
  readonly honestUntil?: number;
  readonly seed: number;
};

/** What came of it. `judged` are the answers that were held against what was left, and `asked` the requests on the wire. */
type Outcome = { readonly faults: string[]; cuts: number; judged: number; asked: number };

/** Maximum distance in records of what counts as soon after another. */
const SOON = 40;

/** Cuts the power at moments drawn by lot. */
export async function cutPower(t: Lifetime, recording: Recording, extent: Extent): Promise<Outcome> {
  const draw = lots(extent.seed);
  const records = [...readTrace(recording.trace)];
  const moments = momentsOf(records, extent.cuts, draw);
  const cutsAt = Map.groupBy(moments, (moment) => moment);
  const answeredBy = (moment: number) => answered(recording, (records[moment] as TraceRecord).position);
  const isWorthAsking = (moment: number) =>
    answeredBy(moment).some(({ kind, outcome }) => kind === 'allow' && outcome === 'done');
  const onTheWire = new Set(moments.filter(isWorthAsking).slice(0, extent.onTheWire));
  const disk = new Disk(recording.initial, extent.honestUntil);
  const remains = new Remains(t);
  const outcome: Outcome = { faults: [], cuts: 0, judged: 0, asked: 0 };
  for (const [moment, record] of records.entries()) {
    disk.play(record);
    for (const _ of cutsAt.get(moment) ?? []) {
      const [left, { position }] = [disk.cut(draw), record];
      const entries = answered(recording, position);
      outcome.cuts += 1;
      outcome.judged += entries.filter(({ outcome }) => outcome === 'done').length;
      const faults = await judge(remains, left, entries, recording.endedAt);
      if (onTheWire.has(moment)) {
        remains.layOut(left);
        const { wrong, asked } = await askAfterwards(t, recording, position, remains.variables);
        outcome.asked += asked;
        faults.push(...wrong);
      }
      // On an honest disk a fault is a finding, which may not come again: what was left is kept.
      const where = faults.length > 0 && extent.honestUntil === undefined ? `, kept in ${keep(left)}` : '';
      outcome.faults.push(...faults.map((fault) => `power cut at record ${moment}: ${fault}${where}`));
    }
  }
  return outcome;
}

/** Lays out what a disk held in a folder that stays, and returns its path. */
function keep(left: Contents): string {
  const folder = join(mkdtempSync(join(tmpdir(), 'valetkey-power-cut-')), 'data');
  layOut(folder, left);
  return folder;
}

/** Whatever was answered by then. */
function answered({ recorders }: Recording, position: number): Entry[] {
  return recorders.flatMap((recorder) => recorder.until(position));
}

/** Numbers of records by lot: half of them anywhere, and half soon after a service began, which finds what the last left. */
function momentsOf(records: readonly TraceRecord[], count: number, draw: Lots): number[] {
  const services = new Map<number, number>();
  for (const [number, { name, process }] of records.entries())
    if (name.endsWith('-serving') && !services.has(process)) services.set(process, number);
  const beginnings = [...services.values()];
  return Array.from({ length: count }, () =>
    draw(2) ? draw(records.length) : Math.min(pick(draw, beginnings) + draw(SOON), records.length - 1),
  );
}

async function judge(remains: Remains, left: Contents, entries: readonly Entry[], now: number): Promise<string[]> {
  remains.layOut(left);
  try {
    return brokenPromises(entries, await remains.open(now));
  } catch (error) {
    return [`what is left is a whole database: ${(error as Error).message}`];
  }
}
