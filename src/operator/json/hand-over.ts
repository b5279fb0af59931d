/** A hand-over as commands and an API print it. Its address is there only once, when it is made. */
import type { HandOver, HandOverName } from '../hand-over/hand-over.ts';
import type { HandOvers, MadeHandOver } from '../hand-over/hand-overs.ts';
import { isoTime } from './time.ts';

/** A hand-over for programs. */
export type HandOverJson = NonNullable<ReturnType<typeof handOverJson>>;

/** A new hand-over, with its address. */
export function madeHandOverJson({ address, expiresAt }: MadeHandOver) {
  return { pick_up_url: address, expires_at: isoTime(expiresAt) };
}

/** The newest hand-over of an app, API or product, without its address; null if there is none. */
export async function findHandOverJson(name: HandOverName, handOvers: Pick<HandOvers, 'newest'>) {
  return handOverJson(await handOvers.newest(name));
}

function handOverJson(handOver: HandOver | null) {
  return (
    handOver && {
      made_at: isoTime(handOver.madeAt),
      made_by: handOver.madeBy,
      expires_at: isoTime(handOver.expiresAt),
      fetched_at: isoTime(handOver.fetchedAt),
      fetched_from: handOver.fetchedFrom,
      ended_at: isoTime(handOver.endedAt),
      ended_because: handOver.endedWhy,
    }
  );
}
