/** The parts of the made-up history that all its chapters share. */
import type { WiredInstallation } from '../../src/wiring/installation.ts';
import type { Agenda } from './agenda.ts';
import type { Chance } from './chance.ts';
import { DAY, HOUR, type SetClock } from './clock.ts';
import type { App, Connection } from './connections.ts';
import type { ActingOperator } from './operators.ts';
import type { Person } from './people.ts';

/** Days of the history; the tallies of as many days are kept. */
export const DAYS = 399;

/** Everything that the history is made of, and what it has made so far. */
export type History = {
  readonly installation: WiredInstallation;
  readonly clock: SetClock;
  readonly now: () => number;
  readonly chance: Chance;
  readonly agenda: Agenda;
  /** The present: the history ends here (ms). */
  readonly end: number;
  readonly operators: readonly ActingOperator[];
  readonly apps: App[];
  readonly people: Person[];
  connections: Connection[];
};

/** The moment at which the history of an installation begins, for its clock (ms). */
export function beginningOf(end: number): number {
  return startOfDay(end) - DAYS * DAY + 8 * HOUR;
}

/** A moment some days ago, at a time of that day (ms, UTC). */
export function dayAt({ end }: Pick<History, 'end'>, daysAgo: number, time: number): number {
  return startOfDay(end) - daysAgo * DAY + Math.round(time);
}

function startOfDay(at: number): number {
  return Math.floor(at / DAY) * DAY;
}

/** Records a checkpoint, as the running service does. */
export async function checkpoint({ installation }: Pick<History, 'installation'>): Promise<void> {
  await installation.auditTrail.recordCheckpoint({ kind: 'service', id: 'demo', source: null, requestId: null });
}
