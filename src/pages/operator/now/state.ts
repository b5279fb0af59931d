/** The state of the installation, on Now and on Health. */
import { type Html, html } from '../../html/html.ts';
import type { PageContext } from '../../layout/layout.ts';
import { LAST_BACKUP, ROOT_KEY, type ShownFinding, verdictMark, verdictOn } from './findings.ts';

/** The state at a time. Times in ms; null if there was none. */
export type ShownState = {
  readonly at: number;
  readonly version: string;
  readonly instances: readonly string[];
  readonly backedUpAt: number | null;
  readonly restoredAt: number | null;
  readonly rootKey: { readonly name: string; readonly createdAt: number; readonly dueAt: number };
  readonly findings: readonly ShownFinding[];
};

/** Returns the time of the last backup, marked if the doctor does not accept it. */
export function lastBackup({ messages }: PageContext, { backedUpAt, at, findings }: ShownState): Html {
  const when = backedUpAt === null ? 'None was ever recorded' : timeAndAge(messages, backedUpAt, at);
  return html`${when}${markOf(LAST_BACKUP, findings)}`;
}

/** Returns since when the root key is in use, and the limit of its age, marked if that is near. */
export function rootKeyAge(
  { messages }: PageContext,
  { rootKey: { createdAt, dueAt }, at, findings }: ShownState,
): Html {
  return html`In use since ${timeAndAge(messages, createdAt, at)}; ${at > dueAt ? 'was due' : 'due'} for rotation on ${messages.day(dueAt)}${markOf(ROOT_KEY, findings)}`;
}

function markOf(check: string, findings: readonly ShownFinding[]): Html | null {
  const verdict = verdictOn(check, findings);
  return verdict === 'ok' ? null : html` ${verdictMark(verdict)}`;
}

/** Returns a time, and how long ago it was: "3 Nov 2026, 14:05 (2 days ago)". */
export function timeAndAge(messages: PageContext['messages'], time: number, now: number): string {
  return `${messages.minute(time)} (${ago(now - time)})`;
}

const MINUTE_MS = 60_000;

function ago(ms: number): string {
  const minutes = Math.floor(ms / MINUTE_MS);
  if (minutes < 1) return 'just now';
  const [unit, length] = UNITS.find(([, length]) => minutes >= length) ?? ['minute', 1];
  const count = Math.floor(minutes / length);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

const UNITS = [
  ['day', 24 * 60],
  ['hour', 60],
  ['minute', 1],
] as const;
