/** The audit trail after a backup was made, as `audit export` wrote it. */
import type { AuditAction } from '../oauth/audit.ts';
import type { TrailRow } from '../oauth/audit-chain.ts';
import { OperatorError } from '../oauth/error.ts';
import type { ActSince } from '../oauth/since-backup.ts';

/** An event of a line, as far as it is needed. */
type Line = {
  readonly sequence: number;
  readonly action: AuditAction;
  readonly client_id: string | null;
  readonly user_id: string | null;
  readonly grant_id: string | null;
  readonly detail: string | null;
  readonly chain_id: string;
  readonly chain_number: number;
  readonly chain_mac: string;
};

/**
 * Reads the acts that a backup does not know. `known` are its last events: the newest of them must be in the file, so that it is
 * the trail of this installation and reaches back far enough; and no event may be missing within a chain. Throws `OperatorError`.
 */
export async function readNewerTrail(
  lines: AsyncIterable<string>,
  known: readonly TrailRow[],
): Promise<readonly ActSince[]> {
  const sequences = new Set(known.map(({ sequence }) => sequence));
  const first = known[0]?.sequence ?? 0;
  const last = known.at(-1);
  const numbers = new Map<string, number>();
  const acts: ActSince[] = [];
  let isJoined = last === undefined;
  let at = 0;
  for await (const text of lines) {
    at += 1;
    if (text.trim() === '') continue;
    const line = readLine(text, at);
    const before = numbers.get(line.chain_id);
    if (before !== undefined && line.chain_number !== before + 1)
      throw new OperatorError(
        `line ${at}: events are missing or out of order before event ${line.sequence}: export the trail anew, whole, and look with "audit verify"`,
      );
    numbers.set(line.chain_id, line.chain_number);
    if (line.sequence === last?.sequence) isJoined = line.chain_mac === last.chain.mac.toString('hex');
    if (line.sequence < first || sequences.has(line.sequence)) continue;
    const { action, client_id: clientId, user_id: resourceOwnerId, grant_id: grantId, detail } = line;
    acts.push({ action, clientId, resourceOwnerId, grantId, detail });
  }
  if (isJoined) return acts;
  throw new OperatorError(
    `the trail does not hold event ${last?.sequence}, the last one of the backup, as it is there: give the trail of this installation from that event on, such as of "audit export"`,
  );
}

function readLine(text: string, at: number): Line {
  try {
    const line = JSON.parse(text) as Line;
    if (Number.isInteger(line.sequence) && Number.isInteger(line.chain_number) && typeof line.action === 'string')
      return line;
  } catch {
    // As any other line that is none.
  }
  throw new OperatorError(
    `line ${at} is no event of the trail: give what "audit export" printed, one JSON object a line`,
  );
}
