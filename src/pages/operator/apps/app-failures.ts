/** The tables of an app's failures and of their causes. */
import type { AppFailure } from '../../../oauth/activity/app-failure.ts';
import type {
  FailureCause,
  FailureCounter,
  FailureReason,
  FailureSummary,
} from '../../../oauth/activity/failure-summary.ts';
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { isolated, isolatedAddress, isolatedCode, shortened } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { Formats } from '../../messages/formats.ts';
import { asSentence } from '../act-button.ts';
import { requestHref } from '../events/shown-event.ts';
import { listHref } from '../listing.ts';
import { dataTable } from '../table.ts';

const formats = new Formats('en-GB');

/** A sentence on the failures that no list has, by the app's type. */
export const ONLY_COUNTED = {
  confidential: 'Requests with a wrong secret are only counted.',
  public: 'Requests that anyone could send in its name are only counted.',
} as const;

/** The bounds of what is recorded (`FAILURES_KEPT`, `MAX_FAILURES_PER_SECOND`), as a sentence. */
export const RECORDED =
  'The causes of an app’s newest 200 failures are recorded, at most 10 a second; others are only counted.';

/** A failure with what people call the person of its grant; null where that is not known. */
export type ShownFailure = AppFailure & { readonly person: string | null };

/** A table of failures with their causes. */
export function failureTable({ messages }: PageContext, failures: readonly ShownFailure[]): Html {
  return dataTable(
    'Failures',
    [
      ['When', ({ at }) => html`<span class="words">${messages.minute(at)}</span>`],
      [
        'Cause',
        ({ error, reason, endpoint }) =>
          html`${isolated(asSentence(reason), 300)}<small>${isolatedCode(error)}, ${ENDPOINTS[endpoint]}</small>`,
      ],
      ['Grant of', grantLink],
      [
        'Request from',
        ({ network, requestId }) =>
          html`<span class="whole">${isolatedAddress(network)}</span><small><a class="whole" href="${requestHref(requestId)}"><code>${isolatedAddress(requestId)}</code></a></small>`,
      ],
    ],
    failures,
  );
}

function grantLink({ grantId, person }: ShownFailure): HtmlValue {
  if (grantId === null) return '–';
  return html`<a class="words" href="/grants/${grantId}">${person === null ? 'An ended grant' : shortened(person)}</a>`;
}

/** An app in the table of its causes; `secretUsedAt` is the last time (ms) of a request with its secret or key, if it has any. */
export type FailingApp = {
  readonly id: string;
  readonly type: keyof typeof ONLY_COUNTED;
  readonly secretUsedAt: number | null;
};

/** The table of causes, at most `limit`, each with a link to its recorded failures, and what the numbers leave out. */
export function causeTable(
  context: PageContext,
  app: FailingApp,
  { causes, isPartlyRecorded }: FailureSummary,
  limit: number,
): Html {
  const table = dataTable<FailureCause>(
    'Causes',
    [
      ['Cause', (each) => causeCell(context, app, each)],
      ['In 24 hours', (each) => html`<span class="whole">${numberOf(each)}</span>`],
      ['Began', (each) => beganText(context, each, causes)],
      ['Last', (each) => timeOf(context, each, each.lastAt)],
    ],
    causes.slice(0, limit),
  );
  const partly = isPartlyRecorded && ` ${RECORDED}`;
  const some = causes.length > limit && `The first ${limit} of ${causes.length} causes are listed. `;
  return html`${table}
<p class="fine">${some}The 24 hours end with this hour. A cause began with the first failure after 12 hours without one. ${ONLY_COUNTED[app.type]}${partly}</p>`;
}

/** The beginning of a cause: of one that is older than what is recorded, it lies after the first failure of its counter. */
function beganText(context: PageContext, each: FailureCause, causes: readonly FailureCause[]): Html {
  const began = timeOf(context, each, each.beganAt);
  if (!each.mayBeEarlier) return began;
  const rest = causes.find(({ counter, isRest }) => isRest && counter === each.counter);
  if (each.reason === null || rest === undefined || rest.mayBeEarlier || rest.beganAt > each.beganAt)
    return html`${began} or earlier`;
  return html`Between the ${timeOf(context, rest, rest.beganAt)} and ${began}`;
}

/** Returns the address of an app's failures; those of one cause, if its key is given. */
export function failuresHref(id: string, cause = ''): string {
  return listHref(`/apps/${encodeURIComponent(id)}/failures`, { cause });
}

/** Returns the name of a cause: its reason as a sentence, where that was recorded. */
export function causeName({ reason, counter, isRest }: FailureCause): Html | string {
  if (isRest) return html`Further ones with ${ERRORS[counter] ?? 'another error'}`;
  return reason === null ? COUNTED[counter] : reasonName(reason);
}

/** Returns the name of a cause within a sentence. */
export function causeText({ reason, counter }: FailureCause): Html | string {
  return reason === null ? COUNTED[counter] : isolated(reason.text, 300);
}

function reasonName({ text }: FailureReason): Html {
  return isolated(asSentence(text), 300);
}

/** Returns the number of a cause in 24 hours, in words where it is a minimum. */
export function numberOf({ count, isAtLeast }: FailureCause): string {
  if (count === 0) return isAtLeast ? 'None recorded' : 'None';
  return `${isAtLeast ? 'at least ' : ''}${formats.number(count)}`;
}

/** Failures that were only counted are in no list. */
function causeCell(context: PageContext, app: FailingApp, each: FailureCause): Html {
  if (each.reason !== null) return reasonCell(context, app.id, each.reason);
  return html`${causeName(each)}<small>${countedMeaning(context, app, each)}</small>`;
}

/** Returns a reason, linked to the recorded failures of the app, with its error and what the developers' page says about it. */
export function reasonCell({ messages }: PageContext, appId: string, reason: FailureReason): Html {
  const { error, kind, key } = reason;
  const { kinds } = messages.developers.errors.reasons;
  return html`<a href="${failuresHref(appId, key)}#recorded">${reasonName(reason)}</a><small>${isolatedCode(error)}.${kind === 'paused' && (error === 'invalid_client' ? ' An operator paused the app.' : ' An operator disabled the person, or paused the app meanwhile.')}${kind !== null && toDeveloper(kinds[kind].text)}</small>`;
}

function countedMeaning({ messages }: PageContext, app: FailingApp, each: FailureCause): Html {
  const { counter, isRest } = each;
  if (isRest) return html`Only counted. Most likely of the causes above.`;
  const error = ERRORS[counter];
  const used = counter === 'invalidClient' && app.secretUsedAt !== null && app.secretUsedAt > each.beganAt;
  const part =
    used &&
    html` The app also sent right ones, last at ${messages.minute(app.secretUsedAt as number)}: only some of its servers may have wrong ones.`;
  return html`Only counted.${part}${error !== null && toDeveloper(messages.developers.errors[error])}`;
}

function toDeveloper(text: HtmlValue): Html {
  return html` To the developer: ${text}`;
}

/** The names of what was only counted, by counter. A paused app that fails often has right credentials that are refused. */
export const COUNTED = {
  invalidClient: 'Wrong or refused credentials',
  invalidGrant: 'A code or token that no longer works',
  invalidRequest: 'A malformed request',
  limited: 'Too many requests',
  other: 'Other causes',
} as const satisfies Readonly<Record<FailureCounter, string>>;

/** The errors of these counters that the developers' page explains; others have several. */
const ERRORS = {
  invalidClient: 'invalid_client',
  invalidGrant: 'invalid_grant',
  invalidRequest: 'invalid_request',
  limited: 'temporarily_unavailable',
  other: null,
} as const satisfies Readonly<Record<FailureCounter, string | null>>;

/** A time of a cause; its hour if it was only counted. */
function timeOf({ messages }: PageContext, { reason }: FailureCause, at: number): Html {
  return html`${reason === null && 'hour from '}<span class="whole">${messages.minute(at)}</span>`;
}

const ENDPOINTS = {
  token: 'token endpoint',
  revocation: 'revocation endpoint',
  pushed_authorization_request: 'pushed authorization request',
  device_authorization: 'device authorization endpoint',
} as const;
