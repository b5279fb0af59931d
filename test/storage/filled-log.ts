/** A database whose write-ahead log is filled, and what became of the log meanwhile. */
import { closeSync, openSync, statSync } from 'node:fs';
import type { Lifetime } from '../support/service.ts';
import { event, openAsService, saltOfLog } from '../support/storage.ts';

export const MB = 2 ** 20;

/** What is written: details of so many characters, so many acts together, each time in a commit. */
export type Filling = { readonly length: number; readonly together: number };

/** Opens a database as the service does. Until its lifetime ends, its log can be filled. */
export async function openLog(t: Lifetime, path: string) {
  const reports: string[] = [];
  const { store, close } = await openAsService(path, { report: (sentence) => void reports.push(sentence) });
  t.after(close);
  const log = openSync(`${path}-wal`, 'r');
  t.after(() => closeSync(log));
  const salts = new Set<bigint>();
  /** Writes so many MB of details; answers how long the log was (bytes). */
  const fill = async (mb: number, { length, together }: Filling): Promise<number> => {
    const detail = 'x'.repeat(length);
    let longest = 0;
    for (let written = 0; written < mb * MB; written += together * length) {
      const acts = Array.from({ length: together }, () => store.recordDenial({ ...event('consent_denied'), detail }));
      await Promise.all(acts);
      longest = Math.max(longest, statSync(`${path}-wal`).size);
      salts.add(saltOfLog(log));
    }
    return longest;
  };
  return { fill, reports, logs: () => salts.size };
}
