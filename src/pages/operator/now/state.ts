/** The state of the installation, on Now and on Health. */
import { type Html, type HtmlValue, html } from '../../html.ts';
import { icons } from '../../icons.ts';
import { isolated } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';

/** A finding of the doctor. */
export type ShownFinding = {
  readonly area: string;
  readonly name: string;
  readonly verdict: 'ok' | 'warning' | 'wrong';
  readonly detail: string;
  readonly remedy: string | null;
};

/** The state at a time. Times in ms; null if there was none. */
export type ShownState = {
  readonly at: number;
  readonly version: string;
  readonly instances: readonly string[];
  readonly backedUpAt: number | null;
  readonly restoredAt: number | null;
  readonly rootKey: { readonly name: string; readonly createdAt: number };
  readonly findings: readonly ShownFinding[];
};

const ORDER = ['wrong', 'warning', 'ok'] as const;

/** Returns the findings, the worst ones first. */
export function worstFirst(findings: readonly ShownFinding[]): ShownFinding[] {
  return ORDER.flatMap((verdict) => findings.filter((finding) => finding.verdict === verdict));
}

/** The verdict in a word: `Attention` for what may be intended, `Problem` for what harms now. */
export function verdictMark(verdict: ShownFinding['verdict']): Html {
  if (verdict === 'ok') return html`OK`;
  return html`<span class="effect${verdict === 'wrong' && ' sensitive'}">${verdict === 'wrong' ? 'Problem' : 'Attention'}</span>`;
}

/** True if the doctor finds nothing that needs a look. */
export function isHealthy(findings: readonly ShownFinding[]): boolean {
  return findings.every(({ verdict }) => verdict === 'ok');
}

/** The worst finding with its remedy, and how many others need a look; `more` leads to them. Null if the service is healthy. */
export function worstNotice(findings: readonly ShownFinding[], more: Html | null = null): Html | null {
  const [worst, ...others] = worstFirst(findings).filter(({ verdict }) => verdict !== 'ok');
  if (!worst) return null;
  const rest =
    others.length > 0 &&
    html` ${others.length} more ${others.length === 1 ? 'finding needs' : 'findings need'} a look.`;
  return html`<div class="notice ${worst.verdict === 'wrong' ? 'problem' : 'advice'}">${icons.alert}<div><strong>${findingName(worst)}: ${isolated(worst.detail, 300)}.</strong> ${remedyOf(worst)}${rest} ${more}</div></div>`;
}

/** The names of checks that need their area. */
const NAMES: Readonly<Record<string, string>> = {
  'backup last': 'Last backup',
  'clock audit trail': 'Clock of the audit trail',
  'clock database': 'Clock of the database',
  'database columns': 'Columns of the database',
  'database keys': 'Root keys of the database',
  'database objects': 'Objects of the database',
  'database references': 'References of the database',
  'database settings': 'Settings of the database',
  'database variables': 'Variables of the installation',
  'permissions reach': 'Access to the stored data',
  'sizes database': 'Size of the database',
  'sizes log': 'Size of the write-ahead log',
};

/** The name of a finding's check: "Last backup". */
export function findingName({ area, name }: ShownFinding): Html {
  return isolated(NAMES[`${area} ${name}`] ?? `${name.charAt(0).toUpperCase()}${name.slice(1)}`);
}

/** The remedy as a sentence. */
function remedyOf({ remedy }: ShownFinding): HtmlValue {
  return remedy !== null && html`Remedy: ${isolated(remedy, 500)}.`;
}

/** Returns the time of the last backup, marked if the doctor does not accept it. */
export function lastBackup(messages: PageContext['messages'], { backedUpAt, at, findings }: ShownState): Html {
  const found = findings.find(({ area, verdict }) => area === 'backup' && verdict !== 'ok');
  const when = backedUpAt === null ? 'None was ever recorded' : timeAndAge(messages, backedUpAt, at);
  return html`${when}${found && html` ${verdictMark(found.verdict)}`}`;
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
