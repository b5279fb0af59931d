/** The doctor's findings on Now and on Health. */
import { displayName } from '../../html/display-name.ts';
import { type Html, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated } from '../../html/isolated-text.ts';

/** A finding of the doctor. */
export type ShownFinding = {
  readonly area: string;
  readonly name: string;
  readonly verdict: 'ok' | 'warning' | 'wrong';
  readonly detail: string;
  readonly remedy: string | null;
};

/** The finding of the root key's age, and that of the last backup. */
export const ROOT_KEY = 'keys current key';
export const LAST_BACKUP = 'backup last';

/** The names of checks that need their area. */
const NAMES: Readonly<Record<string, string>> = {
  [LAST_BACKUP]: 'Last backup',
  'clock audit trail': 'Clock of the audit trail',
  'clock database': 'Clock of the database',
  'database columns': 'Columns of the database',
  'database keys': 'Root keys of the database',
  'database objects': 'Objects of the database',
  'database references': 'References of the database',
  'database service': 'Running instances',
  'database settings': 'Settings of the database',
  'database variables': 'Variables of the installation',
  'keys announced key': 'Announced root key',
  [ROOT_KEY]: 'Root key in use',
  'keys earlier keys': 'Earlier root keys',
  'keys missing key': 'Missing root key',
  'operators passkey': 'Passkey of an operator',
  'permissions reach': 'Access to the stored data',
  'sizes database': 'Size of the database',
  'sizes log': 'Size of the write-ahead log',
};
/** The detail of a check that found what it expects. Its name alone says as much. */
const EXPECTED = 'as it must be';
/** Maximum characters of a detail, and of a remedy. */
const MAX_DETAIL = 300;
const MAX_REMEDY = 500;

/** Returns the findings that need somebody, the worst ones first. */
export function inNeed(findings: readonly ShownFinding[]): ShownFinding[] {
  return (['wrong', 'warning'] as const).flatMap((verdict) => findings.filter((each) => each.verdict === verdict));
}

/** Returns the verdict on a check, such as that of the last backup; `ok` if it was not made. */
export function verdictOn(check: string, findings: readonly ShownFinding[]): ShownFinding['verdict'] {
  return findings.find(({ area, name }) => `${area} ${name}` === check)?.verdict ?? 'ok';
}

/** The verdict in a word: `Warning` for what may be intended or is due soon, `Problem` for what harms now. */
export function verdictMark(verdict: ShownFinding['verdict']): Html {
  if (verdict === 'ok') return html`OK`;
  const [look, word] = verdict === 'wrong' ? ['sensitive', 'Problem'] : ['warning', 'Warning'];
  return html`<span class="effect ${look}">${word}</span>`;
}

/** The worst finding with its remedy, and how many others need a look, with a link to them. Null if the service is healthy. */
export function worstNotice(findings: readonly ShownFinding[]): Html | null {
  const [worst, ...others] = inNeed(findings);
  if (!worst) return null;
  const rest =
    others.length > 0 &&
    html` ${others.length} more ${others.length === 1 ? 'finding needs' : 'findings need'} a look.`;
  return noticeOf(
    worst,
    html`<strong>${findingName(worst)}: ${isolated(worst.detail, MAX_DETAIL)}.</strong> ${remedyOf(worst)}${rest} <a href="/health">See health</a>`,
  );
}

/** The number of problems, warnings and checks that found nothing: "1 problem, 1 warning. 12 checks are fine." */
export function overallNotice(findings: readonly ShownFinding[]): Html {
  const needs = inNeed(findings);
  const [worst] = needs;
  if (!worst)
    return html`<div class="notice success">${icons.check}<div><strong>The service is healthy.</strong> All ${findings.length} checks are fine.</div></div>`;
  const counted = (verdict: ShownFinding['verdict'], name: string) => {
    const count = needs.filter((each) => each.verdict === verdict).length;
    return count === 0 ? [] : [`${count} ${name}${count === 1 ? '' : 's'}`];
  };
  const problems = [...counted('wrong', 'problem'), ...counted('warning', 'warning')].join(', ');
  return noticeOf(worst, html`<strong>${problems}</strong> ${fineCount(findings)}.`);
}

/** The findings that need somebody, each with its remedy. */
export function neededActs(findings: readonly ShownFinding[]): Html {
  return html`<ul class="things">${inNeed(findings).map(
    (
      each,
    ) => html`<li><div><h3>${findingName(each)} ${verdictMark(each.verdict)}</h3><p>${isolated(`${capital(each.detail)}.`, MAX_DETAIL)}</p>${each.remedy !== null && html`<p>${remedyOf(each)}</p>`}</div></li>
`,
  )}</ul>`;
}

/** The checks that found nothing, each in few words. */
export function fineChecks(findings: readonly ShownFinding[]): Html {
  return html`<ul class="checks">${fine(findings).map(
    (
      each,
    ) => html`<li>${icons.check}<div>${findingName(each)}${each.detail !== EXPECTED && html` <small>${withCommands(capital(each.detail), MAX_DETAIL)}</small>`}</div></li>
`,
  )}</ul>`;
}

/** The number of checks that found nothing, in words. */
export function fineCount(findings: readonly ShownFinding[]): string {
  const { length } = fine(findings);
  return `${length} ${length === 1 ? 'check is' : 'checks are'} fine`;
}

function fine(findings: readonly ShownFinding[]): ShownFinding[] {
  return findings.filter(({ verdict }) => verdict === 'ok');
}

function noticeOf({ verdict }: ShownFinding, text: Html): Html {
  return html`<div class="notice ${verdict === 'wrong' ? 'problem' : 'advice'}">${icons.alert}<div>${text}</div></div>`;
}

/** The name of a finding's check: "Last backup". */
function findingName({ area, name }: ShownFinding): Html {
  return isolated(NAMES[`${area} ${name}`] ?? capital(name));
}

/** The remedy as a sentence. */
function remedyOf({ remedy }: ShownFinding): Html | null {
  return remedy === null ? null : html`Remedy: ${withCommands(remedy, MAX_REMEDY)}.`;
}

/** Returns a text in which commands, which the doctor quotes, are code that a click selects. */
function withCommands(text: string, limit: number): Html {
  const parts = displayName(text, limit).split(/"([^"]+)"/);
  return html`<bdi>${parts.map((part, at) => (at % 2 === 1 ? html`<code class="command" dir="ltr">${part}</code>` : part))}</bdi>`;
}

function capital(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
