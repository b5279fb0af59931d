/** Shows hand-overs: a new address, and what became of the last one. */
import type { MadeHandOver } from '../../operator/hand-over/hand-overs.ts';
import { type HandOverJson, madeHandOverJson } from '../../operator/json/hand-over.ts';
import type { CommandResult } from '../command/command-run.ts';
import type { Field } from '../output/table.ts';
import { readableTime } from '../output/time.ts';

/** The option of commands that make a secret. */
export const HAND_OVER = [
  '--hand-over',
  'print a one-time address for the developer instead: its page makes the secret, and you never see it',
] as const;

/** The value of that option. */
export type HandOverOption = { readonly handOver?: boolean };

/** Returns a new address; `about` are the other members of the JSON, and `sentence` says what was done. */
export function handedOver(
  made: MadeHandOver,
  about: object,
  sentence: string,
  note: readonly string[],
): CommandResult {
  const page = made.makesSecret
    ? 'makes the secret and shows it with the addresses'
    : 'shows the addresses: there is no secret';
  return {
    json: { ...about, hand_over: madeHandOverJson(made) },
    text: [
      sentence,
      '',
      `  ${made.address}`,
      '',
      `It works once, until ${readableTime(made.expiresAt)}. Its page ${page}.`,
    ],
    note,
  };
}

/** Returns the line about the last hand-over for a card; empty if there is none. `now` in ms. */
export function handOverField(last: HandOverJson | null, now: number): Field {
  return ['Hand-over', last === null ? '' : handOverText(last, now)];
}

/** Returns an API or a product as it is shown, with the last hand-over. */
export function withHandOver(shown: CommandResult, last: HandOverJson | null, now: number): CommandResult {
  return {
    ...shown,
    json: { ...(shown.json as object), hand_over: last },
    text: last === null ? shown.text : [...shown.text, '', `Hand-over: ${handOverText(last, now)}`],
  };
}

function handOverText(last: HandOverJson, now: number): string {
  if (last.fetched_at !== null) return `picked up ${readableTime(last.fetched_at)} from ${last.fetched_from}`;
  const made = `made ${readableTime(last.made_at)} by ${last.made_by}`;
  if (last.ended_at !== null) return `${made}, ended ${readableTime(last.ended_at)}: ${last.ended_because}`;
  const isOver = Date.parse(last.expires_at) <= now;
  return `${made}, ${isOver ? 'expired' : 'open until'} ${readableTime(last.expires_at)}`;
}
