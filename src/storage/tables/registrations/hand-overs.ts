/** Hand-overs. */
import type { HandOverSubject } from '../../../operator/hand-over/hand-over.ts';
import type { HandOverStore } from '../../../operator/hand-over/hand-over-store.ts';
import { rowKey } from '../../statements/row-key.ts';
import { findRow, type Runner, type Statement } from '../../statements/shared-operations.ts';
import type { Stored } from '../../statements/table.ts';
import { STORED_CLIENT, storedClient } from './clients.ts';
import { endingHandOver, HAND_OVER, isOpen } from './hand-over-rows.ts';
import { IDENTITY_PROVIDER } from './identity-providers.ts';
import { insertUnlessThere } from './registered-with-secrets.ts';
import { RESOURCE_SERVER } from './resource-servers.ts';

const FIND = `SELECT ${HAND_OVER.names} FROM hand_over WHERE digest = $1`;
// Of two of one millisecond, the earlier one was replaced.
const NEWEST = `
  SELECT ${HAND_OVER.names} FROM hand_over WHERE subject_kind = $1 AND subject_id = $2
  ORDER BY made_at DESC, ended_at IS NOT NULL, digest LIMIT 1`;
const USE = `UPDATE hand_over SET fetched_at = $2, fetched_from = $3 WHERE digest = $1 AND ${isOpen('$2')}`;

/** The columns of a subject that a hand-over rests on. */
const PROOFS = {
  client: STORED_CLIENT.pick('status', 'type', 'secrets', 'keys', 'documentSha256'),
  resource_server: RESOURCE_SERVER.pick('secrets'),
  identity_provider: IDENTITY_PROVIDER.pick('status', 'secrets', 'keys'),
} as const;

/** Returns the demand that a subject is as it was read. Locks its row where others may write, before any hand-over's. */
function asRead({ kind, row }: HandOverSubject): Statement {
  const proof = PROOFS[kind];
  return {
    sql: `SELECT 1 FROM ${kind} WHERE id = $1 AND ${proof.unchanged(2)} FOR NO KEY UPDATE`,
    values: [row.id, ...(proof.values as (row: object) => Stored[]).call(proof, row)],
  };
}

function registeringSubject({ kind, row }: HandOverSubject): Statement {
  if (kind === 'client') return insertUnlessThere(STORED_CLIENT, storedClient(row));
  return kind === 'resource_server'
    ? insertUnlessThere(RESOURCE_SERVER, row)
    : insertUnlessThere(IDENTITY_PROVIDER, row);
}

/** Implements the port for hand-overs. */
export function handOverStore(runner: Runner): HandOverStore {
  return {
    // Waits for all writes: what ends a hand-over touches its subject alone.
    findHandOver: (digest) => findRow(runner, HAND_OVER, { sql: FIND, values: [digest] }),
    findNewestHandOver: ({ kind, id }) => findRow(runner, HAND_OVER, { sql: NEWEST, values: [kind, id] }),
    addHandOver: (handOver, subject, event) =>
      runner.act({
        touches: [handOver.subject.id],
        event,
        demands: [asRead(subject)],
        first: { sql: HAND_OVER.insertion, values: HAND_OVER.values(handOver) },
        also: [endingHandOver(handOver.subject, event, 'replaced', handOver.digest)],
      }),
    registerHandedOver: (handOver, subject, registered, made) =>
      runner.actAll([
        { touches: [subject.row.id], event: registered, first: registeringSubject(subject) },
        {
          touches: [subject.row.id],
          event: made,
          first: { sql: HAND_OVER.insertion, values: HAND_OVER.values(handOver) },
        },
      ]),
    useHandOver({ digest }, subject, { secret, from }, event) {
      const { kind, row } = subject;
      const secrets = secret && STORED_CLIENT.stored('secrets', [secret, ...row.secrets]);
      return runner.act({
        touches: [row.id, rowKey(digest)],
        event,
        demands: [asRead(subject)],
        first: { sql: USE, values: [digest, event.at, from] },
        rest:
          secrets === null ? [] : [{ sql: `UPDATE ${kind} SET secrets = $2 WHERE id = $1`, values: [row.id, secrets] }],
      });
    },
  };
}
