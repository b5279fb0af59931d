/** A grant from its Allow to its end, in sentences in the order of time. */
import type { AuditAction } from '../../../oauth/trail/audit.ts';
import { type Html, html } from '../../html/html.ts';
import { isolated, isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { shortDetail } from '../events/details.ts';
import { doerLink, type ShownEvent, thingLink } from '../events/shown-event.ts';
import { listHref } from '../listing.ts';
import { facts } from '../table.ts';
import type { GrantFacts, GrantStoryData } from './grant-data.ts';

/** A sentence, and when it happened (ms); `after` is the time that it follows, where its own is not kept. */
type Step = { readonly at: number; readonly isKept?: boolean; readonly text: Html };

/** The story of a grant. */
export function grantStory(context: PageContext, data: GrantStoryData): Html {
  const { messages } = context;
  const { row, ending, isCut } = data;
  const steps = [...stepsToAllow(data), ...(row ? used(row) : [])].sort((one, other) => one.at - other.at);
  const told = [...steps, ...ended(context, data)].map(
    ({ at, isKept = true, text }) => [isKept ? messages.second(at) : 'Time not kept', text] as const,
  );
  return html`<section class="part" id="story"><h2>What happened</h2>
${facts(told)}
${isCut && !ending && html`<p>The event that ended it was not among those that one page reads. ${searchOn(data)}</p>`}</section>`;
}

function stepsToAllow({ row, given: event, person, app }: GrantStoryData): Step[] {
  const who = thingLink(person) ?? 'The person';
  const signedIn: Step[] = row
    ? [
        {
          at: row.signedInAt,
          text: html`${who} signed in ${row.provider === null ? 'with a password' : html`at ${isolated(row.provider)}`}.`,
        },
      ]
    : [];
  const at = row?.grantedAt ?? event?.at;
  if (at === undefined) return signedIn;
  const how = (event && GIVEN[event.action]) ?? 'allowed';
  const device = row !== null && row.redirectUri === null && ' on a device';
  return [
    ...signedIn,
    { at, text: html`${who} ${how} ${thingLink(app) ?? 'the app'}${device}${from(event?.source)}.` },
  ];
}

const GIVEN: Partial<Record<AuditAction, string>> = {
  consent_allowed: 'pressed Allow on the consent page for',
  consent_remembered: 'had allowed the same before, so that no page asked again for',
  consent_skipped: 'was asked nothing, since no consent is set for',
};

/** Only the last of exchange and refreshes keeps its time and source. */
function used({ generation, rotatedAt, presentedFrom, grantedAt, lastUsedAt }: GrantFacts): Step[] {
  const refreshes = generation - 1;
  const exchanged = 'The app exchanged the code for its first tokens';
  const steps: Step[] = [];
  if (generation === 1) steps.push({ at: rotatedAt, text: html`${exchanged}${from(presentedFrom)}.` });
  if (generation > 1) {
    const number = refreshes === 1 ? '' : `, the last of ${refreshes.toLocaleString('en')} times`;
    steps.push({ at: grantedAt, isKept: false, text: html`${exchanged}.` });
    steps.push({ at: rotatedAt, text: html`The app refreshed its tokens${number}${from(presentedFrom)}.` });
  }
  if (lastUsedAt !== null)
    steps.push({ at: lastUsedAt, text: html`An API accepted a token, the last time or up to ten minutes before it.` });
  return steps;
}

function ended({ messages }: PageContext, { status, row, ending, isCut, refusals }: GrantStoryData): Step[] {
  if (ending) {
    const { at, sequence, detail, grantId, source, by, action } = ending;
    const isMany = grantId === null;
    const why = html`<a href="/events/${sequence}">${ENDINGS[action] ?? action}</a>`;
    const doubt = isMany && status === 'gone' && ' It ended then at the latest: it may have expired before.';
    const words = !TWICE.has(action) && shortDetail(detail, messages).map((each) => html` (${each})`);
    return [{ at, text: html`${why}${words}, by ${doerLink(by)}${from(source)}.${doubt}` }];
  }
  if (row?.revokedAt) return [{ at: row.revokedAt, text: html`It ended. No event says why.` }];
  if (status === 'expired' && row) return [{ at: row.expiresAt, text: html`It expired: ${whyExpired(row, refusals)}` }];
  if (status === 'gone' && !isCut)
    return [
      {
        at: 0,
        isKept: false,
        text: html`It expired: no event ended it. The app did not exchange the code, or did not refresh, in time.${refusals.length > 0 && html` <a href="#refused">Requests of the app were refused.</a>`}`,
      },
    ];
  return [];
}

/** A code that was never exchanged is the only credential of its grant: refused requests presented it. */
function whyExpired({ generation, expiresAt }: GrantFacts, refusals: GrantStoryData['refusals']): Html {
  if (generation > 0) return html`the app did not refresh it in time.`;
  const times = refusals.flatMap((cause) => cause.times);
  if (times.some((at) => at < expiresAt))
    return html`the app tried to exchange the code in time, and <a href="#refused">each request was refused</a>.`;
  const later = times.length > 0 && html` It tried later, and <a href="#refused">was refused</a>.`;
  return html`the app did not exchange the code in time.${later}`;
}

function searchOn({ app }: GrantStoryData): Html | null {
  return (
    app &&
    html`<a href="${listHref('/events', { client: app.id, action: 'client_grants_revoked' })}">Search the app’s events</a>`
  );
}

function from(source: string | null | undefined): Html | null {
  return source ? html`, from ${isolatedAddress(source)}` : null;
}

const TWICE: ReadonlySet<AuditAction> = new Set(['code_replay', 'refresh_reuse', 'refresh_conflict']);

const ENDINGS: Partial<Record<AuditAction, string>> = {
  grant_revoked: 'It was ended',
  code_replay: 'Its authorization code came a second time, and all its tokens ended',
  refresh_reuse: 'A refresh token came that had been replaced long before, and all its tokens ended',
  refresh_conflict: 'A refresh token came from another copy of the database, and all its tokens ended',
  database_restored: 'The database was restored before the code was exchanged',
  too_many_grants: 'It ended as the oldest, since the person allowed this app too often',
  all_grants_revoked: 'All grants of the installation were ended',
  client_grants_revoked: 'All grants of the app were ended',
  user_grants_revoked: 'All grants of the person were ended',
  client_deleted: 'The app was deleted',
  user_deleted: 'The person was deleted',
};

/** Both presentations of a code or token that came twice, and what to do; null for every other end. */
export function presentedTwice({ messages }: PageContext, { ending, before }: GrantStoryData): Html | null {
  const words = ending && TWICES[ending.action];
  if (!ending || !words) return null;
  const [heading, rule, first, second] = words;
  return html`<section class="part" id="presentations"><h2>${heading}</h2>
<p>${rule} Valetkey ended the grant at once, with all its tokens.</p>
${facts([
  [first, before ? html`${messages.second(before.at)} from ${isolatedAddress(before.source)}` : 'Not known any more'],
  [second, presentation(messages, ending)],
])}
<p>If both addresses belong to the app, its developer should look for a request that is sent twice, or for tokens that are kept in two places. If not, treat it as stolen: <a href="/leaked">what to do after a leak</a>. The person can allow the app again.</p></section>`;
}

function presentation(messages: PageContext['messages'], { at, source, sequence }: ShownEvent): Html {
  const where = source === null ? 'an unknown address' : isolatedAddress(source);
  return html`<a href="/events/${sequence}">${messages.second(at)}</a> from ${where}`;
}

const TWICES: Partial<Record<AuditAction, readonly [heading: string, rule: string, first: string, second: string]>> = {
  code_replay: [
    'The authorization code came twice',
    'A code works once, and this one came again: somebody else may have it too.',
    'First, exchanged',
    'Second, refused',
  ],
  refresh_reuse: [
    'An old refresh token came again',
    'Each refresh replaces the refresh token, and one came that had been replaced before: somebody else may have it too.',
    'Last good refresh',
    'Old token, refused',
  ],
  refresh_conflict: [
    'Two copies of a refresh token are in use',
    'A refresh token came that this database has not made: somebody may serve a copy of the database.',
    'Last good refresh',
    'Other copy, refused',
  ],
};
