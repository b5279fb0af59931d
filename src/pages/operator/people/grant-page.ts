/** The whole life of one grant. */
import type { AuditAction } from '../../../oauth/trail/audit.ts';
import { type Html, type HtmlValue, html } from '../../html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { type Permission, type PersonField, permissionText } from '../../permissions.ts';
import { type ActProblem, actProblem, dangerZone, doneNotice } from '../act.ts';
import { actionWords } from '../events/actions.ts';
import { consoleLayout, type Parent, type ShownOperator } from '../frame.ts';
import { listHref } from '../listing.ts';
import { dataTable, facts } from '../table.ts';
import { PEOPLE } from './person-page.ts';

/** The app or the person of a grant, by name; the ID also after a deletion. */
export type NamedParty = { readonly id: string; readonly name: string };

/** The facts in a grant's row. Times in ms; null where there is none. */
export type GrantFacts = {
  readonly permissions: readonly Permission[];
  readonly personFields: readonly PersonField[];
  /** The scopes that the person deselected. */
  readonly leftOut: readonly string[];
  /** Null for a device. */
  readonly redirectUri: string | null;
  readonly resource: string | null;
  readonly provider: string | null;
  readonly signedInAt: number;
  readonly grantedAt: number;
  /** Number of exchanges and refreshes: 0 while the code is not redeemed. */
  readonly generation: number;
  readonly rotatedAt: number;
  /** The network address of the last exchange or refresh. */
  readonly presentedFrom: string | null;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number;
  readonly absoluteExpiresAt: number;
  readonly revokedAt: number | null;
  readonly appPaused: boolean;
  readonly personDisabled: boolean;
};

/** An event of the audit trail. `at` in ms; `by` names the actor. */
export type GrantEvent = {
  readonly sequence: number;
  readonly at: number;
  readonly action: AuditAction;
  readonly by: string;
  readonly source: string | null;
  /** The detail in a few words, empty or null without any. */
  readonly detail: string | null;
};

/** The effects of acts in sentences, by their names in the address. */
export const GRANT_NOTICES = {
  ended: 'The grant has ended. Every token of it is refused from now on.',
} as const;

/** Data of the page. */
export type GrantData = {
  operator: ShownOperator;
  id: string;
  /** `gone`: the row was deleted, and only the audit trail knows the grant. */
  status: 'issued' | 'active' | 'expired' | 'revoked' | 'gone';
  app: NamedParty | null;
  person: NamedParty | null;
  row: GrantFacts | null;
  /** The last events, oldest first; `hasMore` if there are earlier ones. */
  events: readonly GrantEvent[];
  hasMore: boolean;
  /** The event of the Allow, and the one that ended the grant. */
  given: GrantEvent | null;
  ending: GrantEvent | null;
  mayEnd: boolean;
  done: keyof typeof GRANT_NOTICES | null;
  problem: ActProblem | null;
};

/** The page of one grant. */
export function grantPage(context: PageContext, data: GrantData): Html {
  const { operator, id, app, person, done, problem, row, status } = data;
  const isLive = status === 'issued' || status === 'active';
  const parents: Parent[] = person ? [PEOPLE, [`/people/${encodeURIComponent(person.id)}`, person.name]] : [PEOPLE];
  return consoleLayout(
    context,
    operator,
    { title: 'Grant', isProblem: problem !== null, section: 'People', parents },
    html`<h1>${app ? isolated(app.name) : 'An app'} for ${person ? isolated(person.name) : 'a person'}</h1>
<p class="lead">${STATES[status]} <code>${isolatedAddress(id)}</code></p>
${done !== null && doneNotice(GRANT_NOTICES[done])}
${problem !== null && actProblem(problem)}
${ended(context, data)}
<section class="part"><h2>Life</h2>
${facts([
  ['App', app && html`<a href="/apps/${encodeURIComponent(app.id)}">${isolated(app.name)}</a>`],
  ['Person', person && html`<a href="/people/${encodeURIComponent(person.id)}">${isolated(person.name)}</a>`],
  ...givenFacts(context, data),
  ...(row ? lifeFacts(context, row, isLive) : []),
])}</section>
${eventPart(context, data)}
${dangerZone([
  data.mayEnd &&
    isLive && {
      action: `/grants/${id}/end`,
      name: 'End this grant',
      effect: html`Ends 1 grant of 1 app: every token of it is refused from now on. Other grants of ${app ? isolated(app.name) : 'the app'} stay. The person can allow the app again.`,
    },
])}
<p class="fine">All times are UTC.</p>`,
  );
}

const STATES: Readonly<Record<GrantData['status'], string>> = {
  issued: 'Allowed; the app has not fetched its tokens yet.',
  active: 'Active.',
  expired: 'Expired.',
  revoked: 'Ended.',
  gone: 'Ended: its details were deleted a day later. The audit trail has the rest.',
};

/** The end, with both presentations where a code or token came twice. */
function ended({ messages }: PageContext, { ending, row }: GrantData): Html | null {
  if (!ending) return row?.revokedAt ? html`<p class="part">It ended at ${messages.minute(row.revokedAt)}.</p>` : null;
  const { at, by, source, detail, action, sequence } = ending;
  const from = source === null ? 'an unknown address' : isolatedAddress(source);
  const why = ENDINGS[action] ?? action;
  if (!TWICE.has(action))
    return html`<section class="part"><h2>How it ended</h2>
${facts([
  ['Ended', html`<a href="/events/${sequence}">${messages.minute(at)}</a>`],
  ['By', isolated(by)],
  ['From', source !== null && from],
  ['Why', html`${why}${detail && html` (${isolated(detail, 200)})`}`],
])}</section>`;
  return html`<section class="part" id="presentations"><h2>Presented twice</h2>
<p>${why} Either somebody else had it too, or the app used it twice. All access of this grant ended at once.</p>
${facts([
  ['First', detail === null ? 'Not known any more' : isolated(detail.slice(0, 1).toUpperCase() + detail.slice(1), 200)],
  ['Second', html`<a href="/events/${sequence}">${messages.second(at)}</a> from ${from}`],
])}</section>`;
}

const TWICE: ReadonlySet<string> = new Set(['code_replay', 'refresh_reuse', 'refresh_conflict']);

const ENDINGS: Readonly<Record<string, string>> = {
  grant_revoked: 'The access was ended.',
  code_replay: 'The app’s authorization code came a second time.',
  refresh_reuse: 'A refresh token came that had been replaced long before.',
  refresh_conflict: 'A refresh token came from another copy of the database: two parties hold this access.',
  database_restored: 'The database was restored before the code was exchanged.',
  too_many_grants: 'The person allowed this app so often that the oldest grant ended.',
  all_grants_revoked: 'All grants of the installation were ended.',
  client_grants_revoked: 'All grants of the app were ended.',
  user_grants_revoked: 'All grants of the person were ended.',
  client_deleted: 'The app was deleted.',
  user_deleted: 'The person was deleted.',
};

type Facts = (readonly [name: string, value: HtmlValue])[];

function givenFacts({ messages }: PageContext, { given, row }: GrantData): Facts {
  const at = row?.grantedAt ?? given?.at;
  const from = given?.source && html` from ${isolatedAddress(given.source)}`;
  const how = given && GIVEN[given.action];
  return [
    ['Allowed', at !== undefined && html`${messages.minute(at)}${from}`],
    ['How', how && html`${how}${row?.redirectUri === null && ' On a device.'}`],
  ];
}

const GIVEN: Readonly<Record<string, string>> = {
  consent_allowed: 'The person pressed Allow on the consent page.',
  consent_remembered: 'No page was shown: the person had allowed the same before.',
  consent_skipped: 'No page was shown: the app is set to ask nobody.',
};

function lifeFacts({ messages }: PageContext, row: GrantFacts, isLive: boolean): Facts {
  const { permissions, personFields, leftOut, generation, rotatedAt, presentedFrom, lastUsedAt } = row;
  const { fields, list } = messages.permissions;
  const person = personFields.map((field) => fields[field]);
  const words = permissions.map((each) => html`<li>${permissionText(messages, each)}</li>`);
  const from = presentedFrom !== null && html` from ${isolatedAddress(presentedFrom)}`;
  const refreshes = generation - 1;
  return [
    [
      'May do',
      html`<ul class="words"><li>${person.length === 0 ? 'See an ID alone' : `See ${list(person).replace(/^Your /, '')}`}</li>${words}</ul>`,
    ],
    ['Left out', leftOut.length > 0 && html`${leftOut.map((name) => html`${isolatedCode(name)} `)}`],
    ['Sent to', row.redirectUri === null ? 'A device' : isolatedAddress(row.redirectUri)],
    ['Resource', row.resource !== null && isolatedAddress(row.resource)],
    [
      'Signed in',
      html`${messages.minute(row.signedInAt)}, ${row.provider === null ? 'with a password' : html`at ${isolated(row.provider)}`}`,
    ],
    [
      'Exchanged',
      generation === 0
        ? 'Not yet'
        : generation === 1
          ? html`${messages.second(rotatedAt)}${from}`
          : 'Yes. Only the last of exchange and refreshes keeps its time.',
    ],
    [
      'Refreshed',
      generation > 0 &&
        (refreshes === 0
          ? 'Never'
          : html`${refreshes === 1 ? 'Once' : `${refreshes.toLocaleString('en')} times`}, last ${messages.second(rotatedAt)}${from}`),
    ],
    ['Last used', lastUsedAt === null ? 'Never: no API has checked a token' : messages.minute(lastUsedAt)],
    [
      'Ends',
      isLive &&
        html`${messages.minute(row.expiresAt)} unless refreshed before; ${messages.day(row.absoluteExpiresAt)} in any case`,
    ],
    ['Held up', held(row)],
  ];
}

function held({ appPaused, personDisabled }: GrantFacts): string | null {
  const why = [...(appPaused ? ['the app is paused'] : []), ...(personDisabled ? ['the person is disabled'] : [])];
  return why.length === 0 ? null : `Every token is refused for now: ${why.join(' and ')}.`;
}

function eventPart({ messages }: PageContext, { id, events, hasMore }: GrantData): Html {
  const table = dataTable<GrantEvent>(
    'Events of this grant',
    [
      ['When', ({ at, sequence }) => html`<a href="/events/${sequence}">${messages.minute(at)}</a>`],
      ['Act', ({ action }) => actionWords(action)],
      ['By', ({ by }) => isolated(by)],
      ['From', ({ source }) => (source === null ? '–' : isolatedAddress(source))],
      ['Detail', ({ detail }) => (detail ? isolated(detail, 120) : '–')],
    ],
    events,
  );
  return html`<section class="part" id="events"><h2>Events</h2>
${events.length === 0 ? html`<p>The audit trail has none any more.</p>` : table}
${hasMore && html`<p>Earlier ones are left out here. <a href="${listHref('/events', { grant: id })}">All events of this grant</a></p>`}</section>`;
}
