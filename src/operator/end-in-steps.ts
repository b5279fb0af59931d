/** Ends many things, one by one and in the windows of a walk, so that no request waits for it. */
import type { Walked } from '../oauth/store.ts';

/**
 * Number of things that are ended at the same time: enough to share commits, and few enough that requests are not delayed.
 */
const AT_ONCE = 64;

/**
 * Ends everything that a walk finds, and calls `count` after each group with the number of ended rows. After an interruption,
 * another walk finds the rest. Returns false if `isTimeUp` stopped it between two windows.
 */
export async function endWalked<Row>(
  next: (after: Buffer) => Promise<Walked<Row>>,
  end: (row: Row) => Promise<boolean>,
  count: (ended: number) => void,
  start: Buffer = Buffer.alloc(0),
  isTimeUp: () => boolean = () => false,
): Promise<boolean> {
  for (let place: Buffer | null = start; place; ) {
    if (isTimeUp()) return false;
    const { found, goesOnAfter }: Walked<Row> = await next(place);
    for (let from = 0; from < found.length; from += AT_ONCE) {
      const outcomes = await Promise.all(found.slice(from, from + AT_ONCE).map(end));
      count(outcomes.filter(Boolean).length);
    }
    place = goesOnAfter;
  }
  return true;
}
