/** The state of the installation as an API prints it. */
import type { Status } from '../installation/installation-status.ts';
import { isoTime } from './time.ts';

const VERDICTS = ['wrong', 'warning'] as const;

/** The state, with the worst finding; null if all is well. */
export function statusJson({ at, version, instances, backedUpAt, restoredAt, rootKey, findings }: Status) {
  const [worst = null] = VERDICTS.flatMap((verdict) => findings.filter((finding) => finding.verdict === verdict));
  return {
    at: isoTime(at),
    version,
    instances,
    last_backup_at: isoTime(backedUpAt),
    last_restore_at: isoTime(restoredAt),
    root_key: { key_id: rootKey.name, created_at: isoTime(rootKey.createdAt), due_at: isoTime(rootKey.dueAt) },
    worst,
    findings,
  };
}
