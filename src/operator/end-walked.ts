/** Ending many things, each by itself and in the windows of a walk, so that nobody waits for it. */
import type { Walked } from '../oauth/store.ts';

/** Number of things that are ended at the same time: they share commits, and leave room for the requests of others. */
const AT_ONCE = 64;

/** Ends what a walk finds, and tells the number after each window. After an interruption another walk finds what is left. */
export async function endWalked<Row>(
  next: (after: Buffer) => Promise<Walked<Row>>,
  end: (row: Row) => Promise<boolean>,
  count: (ended: number) => void,
  start: Buffer = Buffer.alloc(0),
): Promise<void> {
  for (let place: Buffer | null = start; place; ) {
    const { found, goesOnAfter }: Walked<Row> = await next(place);
    for (let from = 0; from < found.length; from += AT_ONCE) {
      const outcomes = await Promise.all(found.slice(from, from + AT_ONCE).map(end));
      count(outcomes.filter(Boolean).length);
    }
    place = goesOnAfter;
  }
}
