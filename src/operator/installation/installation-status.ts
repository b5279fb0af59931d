/** The state of the installation, as the API and the console show it: facts that are cheap to find, and the doctor's findings on them. */

/** A finding of the doctor. */
export type StatusFinding = {
  readonly area: string;
  readonly name: string;
  readonly verdict: 'ok' | 'warning' | 'wrong';
  readonly detail: string;
  readonly remedy: string | null;
};

/** The state at a time. Times in ms; null if there was none. */
export type Status = {
  readonly at: number;
  /** Version of the program. */
  readonly version: string;
  /** Names of the running instances. */
  readonly instances: readonly string[];
  readonly backedUpAt: number | null;
  readonly restoredAt: number | null;
  /** The root key in use, by name, when it was recorded, and when it is due for its rotation. */
  readonly rootKey: { readonly name: string; readonly createdAt: number; readonly dueAt: number };
  /** Without what takes long or asks other machines: `doctor` does that too. */
  readonly findings: readonly StatusFinding[];
};

/** Maximum age of a status (ms): it takes some dozen queries. */
const MAX_AGE_MS = 10_000;

/** Returns a function that looks at most once in 10 seconds, however many ask. `now` returns ms. */
export function keptStatus(look: () => Promise<Status>, now: () => number): () => Promise<Status> {
  let kept: { readonly since: number; readonly status: Promise<Status> } | null = null;
  return () => {
    if (kept && Math.abs(now() - kept.since) < MAX_AGE_MS) return kept.status;
    const status = look();
    const begun = { since: now(), status };
    kept = begun;
    status.catch(() => {
      if (kept === begun) kept = null;
    });
    return status;
  };
}
