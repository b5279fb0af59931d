/**
 * The audit trail of a backup and its continuation: the backup's own events, and those that `audit export` of the newer
 * database printed.
 */

import { OperatorError } from '../../oauth/error.ts';
import type { ActSince } from '../../oauth/installation/since-backup.ts';
import type { TrailRow } from '../../oauth/trail/audit-chain.ts';
import { readMembers } from '../../oauth/trail/event-members.ts';
import { readExportedEvent } from './exported-event.ts';
import type { VerificationParts } from './trail-verification.ts';

type OwnTrail = VerificationParts['store'];

/** Both as one trail, to be verified, and the acts that the backup does not have. */
export type NewerTrail = {
  readonly whole: VerificationParts['store'];
  readonly acts: readonly ActSince[];
  /** When the newest event happened (ms), or null without any. */
  readonly lastAt: number | null;
};

const WINDOW = 500;

/**
 * Reads the events that a backup does not have; some of them were still being written when it was made. The lines must hold
 * the newest event of the backup: that shows that they are of the same installation, and that no event between is missing.
 * Nothing is verified yet. Throws `OperatorError`.
 */
export async function readNewerTrail(lines: AsyncIterable<string>, own: OwnTrail): Promise<NewerTrail> {
  const last = await lastBeforeRestores(own);
  const find = finder(own, last);
  const newer: TrailRow[] = [];
  const acts: ActSince[] = [];
  let isJoined = last === 0;
  let at = 0;
  let before = 0;
  for await (const text of lines) {
    at += 1;
    if (text.trim() === '') continue;
    const event = readExportedEvent(text);
    if (event === null) throw new OperatorError(noEvent(at));
    const { sequence, chain } = event.row;
    if (sequence <= before) throw new OperatorError(outOfOrder(at, sequence, before));
    before = sequence;
    const known = await find(sequence);
    if (known && !known.chain.mac.equals(chain.mac)) throw new OperatorError(notTheSame(sequence));
    isJoined ||= sequence === last;
    if (known) continue;
    newer.push(event.row);
    acts.push(event.act);
  }
  if (!isJoined) throw new OperatorError(notJoined(last));
  return { whole: together(own, last, newer), acts, lastAt: newer.at(-1)?.at ?? null };
}

const noEvent = (line: number) =>
  `line ${line} is not an event of the trail: give the output of "audit export", one JSON object a line; remove a last line that was cut short`;
const outOfOrder = (line: number, sequence: number, before: number) =>
  `line ${line}: event ${sequence} follows event ${before}: give each event once and in order, as "audit export" printed them`;
const notTheSame = (sequence: number) =>
  `event ${sequence} differs from the one in the backup: the trail is of another installation, or of a restored copy of this one; give the trail that the backup comes from`;
const notJoined = (last: number) =>
  `the trail lacks event ${last}, the last one in the backup: give the trail of this installation from that event on, from "audit export"`;

/** Finds an event of the backup by its number; the numbers that are asked for ascend. */
function finder(own: OwnTrail, last: number): (sequence: number) => Promise<TrailRow | undefined> {
  let rows = new Map<number, TrailRow>();
  let to = 0;
  return async (sequence) => {
    if (sequence > last) return undefined;
    if (sequence > to) {
      const window = await own.listTrailRows(sequence - 1, last, WINDOW);
      rows = new Map(window.map((row) => [row.sequence, row]));
      to = window.length < WINDOW ? last : (window.at(-1)?.sequence ?? last);
    }
    return rows.get(sequence);
  };
}

/**
 * The last event of the backup. A restore may run again in place, for example with a trail that the first one was not given.
 * Then the events that the first one recorded itself at the end are not of the backup.
 */
async function lastBeforeRestores(own: OwnTrail): Promise<number> {
  const newest = await own.lastAuditSequence();
  let last = newest;
  let isAfterIt = false;
  for (let place = newest; place > 0; place -= WINDOW) {
    const rows = await own.listTrailRows(Math.max(0, place - WINDOW), place, WINDOW);
    for (const { sequence, action, detail } of rows.reverse()) {
      if (isAfterIt) last = sequence;
      isAfterIt = action === 'database_restored';
      if (!isAfterIt && readMembers(detail)?.['by_restore'] !== true) return last;
    }
  }
  return isAfterIt ? 0 : last;
}

/**
 * Events that the retention took away from the backup are missing. What the newer database took away later is still in the
 * backup.
 */
function together(own: OwnTrail, last: number, newer: readonly TrailRow[]): VerificationParts['store'] {
  return {
    findShortening: () => own.findShortening(),
    hasMisplacedEvents: () => own.hasMisplacedEvents(),
    lastAuditSequence: async () => Math.max(last, newer.at(-1)?.sequence ?? 0),
    async listTrailRows(after, upTo, limit) {
      const from = firstAfter(newer, after);
      const both = [
        ...(await own.listTrailRows(after, Math.min(last, upTo), limit)),
        ...newer.slice(from, from + limit),
      ];
      return both
        .filter(({ sequence }) => sequence <= upTo)
        .sort((one, other) => one.sequence - other.sequence)
        .slice(0, limit);
    },
  };
}

/** The place of the first row after an event, in the order of their numbers. */
function firstAfter(rows: readonly TrailRow[], after: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rows[middle] as TrailRow).sequence <= after) low = middle + 1;
    else high = middle;
  }
  return low;
}
