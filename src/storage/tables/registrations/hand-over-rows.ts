/** The rows of hand-overs, and the statements by which other acts end them. */
import type { AuditEvent } from '../../../oauth/trail/audit.ts';
import type { HandOver, HandOverEnd, HandOverName } from '../../../operator/hand-over/hand-over.ts';
import type { Act, Statement } from '../../statements/shared-operations.ts';
import { nullable, Table } from '../../statements/table.ts';

/** A stored hand-over. */
export const HAND_OVER = Table.of<HandOver>('hand_over', {
  digest: 'bytes',
  subject: { kind: 'text', id: 'text' },
  madeAt: 'time',
  madeBy: 'text',
  expiresAt: 'time',
  fetchedAt: nullable('time'),
  fetchedFrom: nullable('text'),
  endedAt: nullable('time'),
  endedWhy: nullable('text'),
});

/** The condition of a hand-over that can be used at a time. */
export const isOpen = (at: string) => `fetched_at IS NULL AND ended_at IS NULL AND expires_at > ${at}`;

const END = `
  UPDATE hand_over SET ended_at = $3, ended_why = $4 WHERE subject_kind = $1 AND subject_id = $2 AND ${isOpen('$3')}`;
const END_OTHERS = `${END} AND digest <> $5`;
const FORGET = 'DELETE FROM hand_over WHERE subject_kind = $1 AND subject_id = $2';
const END_ALL = `UPDATE hand_over SET ended_at = $1, ended_why = $2 WHERE ${isOpen('$1')}`;

/**
 * Returns the end of the open hand-over of a subject, but for the one with a digest, by the act of another event. The
 * subject's row must be locked.
 */
export function endingHandOver(
  { kind, id }: HandOverName,
  event: AuditEvent,
  why: HandOverEnd,
  but: Buffer | null = null,
): NonNullable<Act['also']>[number] {
  const values = [kind, id, event.at, why];
  const statement = but === null ? { sql: END, values } : { sql: END_OTHERS, values: [...values, but] };
  return { statement, event: { ...event, action: 'hand_over_ended', detail: { reason: why } } };
}

/** Returns the end of a deleted subject's open hand-over, and the statement that deletes all of them: an id may come again. */
export function forgettingHandOvers(name: HandOverName, event: AuditEvent): Required<Pick<Act, 'also' | 'rest'>> {
  return {
    also: [endingHandOver(name, event, 'deleted')],
    rest: [{ sql: FORGET, values: [name.kind, name.id] }],
  };
}

/** Returns the statement that ends every open hand-over in a restore: it may have been used since the backup. */
export function endingRestoredHandOvers(at: number): Statement {
  return { sql: END_ALL, values: [at, 'restored' satisfies HandOverEnd] };
}
