/** One person: profile, grants, sessions and events, and the acts on them. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated, isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { actProblem, doneNotice } from '../act-button.ts';
import { numberWithNoun } from '../blast-radius.ts';
import { lastEvents } from '../events/events-table.ts';
import { doneBy } from '../events/shown-event.ts';
import type { ConsolePage, Parent } from '../frame.ts';
import { statePill } from '../state-pill.ts';
import { dataTable, facts } from '../table.ts';
import { enableAct, personActs } from './person-acts.ts';
import { PERSON_NOTICES, type PersonData, type PersonSession, type ShownPerson } from './person-data.ts';
import { personGrants } from './person-grants.ts';

/** The page above those of people and their grants, as breadcrumbs have it. */
export const PEOPLE: Parent = ['/people', 'People'];

/** The page of one person. */
export function personPage(context: PageContext, data: PersonData): ConsolePage {
  const { person, sessions, events, done, problem } = data;
  const title = person.name ?? person.email ?? person.id;
  return {
    frame: { title, isProblem: problem !== null, section: 'People', parents: [PEOPLE] },
    main: html`<h1>${isolated(title)}</h1>
${done !== null && doneNotice(doneText(done, data.endedApp))}
${problem !== null && actProblem(problem)}
${disabled(context, data)}
${overview(person)}
${profile(context, person)}
${personGrants(context, person, data.grants, data.rights.endGrants)}
${sessionPart(context, sessions)}
${lastEvents(context, { user: person.id }, events)}
${personActs(context, data)}`,
  };
}

function doneText(done: keyof typeof PERSON_NOTICES, endedApp: string | null): HtmlValue {
  const text = PERSON_NOTICES[done];
  return typeof text === 'function' ? text(endedApp ?? 'an app') : text;
}

/** Says that a person is disabled, by whom and when, with the button to enable them. */
function disabled(context: PageContext, data: PersonData): Html | null {
  if (data.person.status === 'active') return null;
  const by = data.disabling
    ? doneBy(context, data.disabling)
    : 'The last 1,000 events of the person do not tell by whom.';
  return html`<div class="notice problem">${icons.alert}<div><strong>Disabled: every sign-in and every request of apps is refused.</strong> ${by}</div></div>
${enableAct(data)}`;
}

function overview({ id, status }: ShownPerson): Html {
  return facts(
    [
      ['State', statePill(status)],
      ['ID', html`<code>${isolatedAddress(id)}</code>`],
    ],
    'strip',
  );
}

function profile({ messages }: PageContext, person: ShownPerson): Html {
  const { email, emailVerified, username, identities, lastSignIn, invitation } = person;
  const verified = html`<span class="effect${!emailVerified && ' sensitive'}">${emailVerified ? 'Verified' : 'Not verified'}</span>`;
  return html`<section class="part"><h2>Profile</h2>
${facts([
  ['Email', email === null ? 'None' : html`${isolatedAddress(email)} ${verified}`],
  ['User name', username !== null && isolatedAddress(username)],
  ['Signs in with', waysIn(person)],
  [
    'At products',
    identities.length > 0 &&
      html`<ul>${identities.map(({ provider, subject }) => html`<li>${isolated(provider)}: <code>${isolatedAddress(subject)}</code></li>`)}</ul>`,
  ],
  [
    'Invited',
    invitation && html`The link of ${messages.minute(invitation.at)} works until ${messages.minute(invitation.until)}`,
  ],
  ['Last sign-in', typeof lastSignIn === 'number' ? messages.minute(lastSignIn) : NO_SIGN_IN[lastSignIn]],
  ['Added', messages.minute(person.createdAt)],
])}</section>`;
}

const NO_SIGN_IN = { never: 'Never', 'not lately': 'Not among the last 1,000 events of the person' } as const;

function waysIn({ hasPassword, identities }: ShownPerson): string {
  if (identities.length === 0) return hasPassword ? 'A password' : 'Nothing yet';
  return hasPassword ? 'A password or a product' : 'A product';
}

/** Number of sessions on the page, so that it stays below 50 KB. */
const SESSIONS = 20;

function sessionPart({ messages }: PageContext, sessions: readonly PersonSession[]): Html {
  const table = dataTable<PersonSession>(
    'Sessions',
    [
      ['Signed in', ({ createdAt }) => messages.minute(createdAt)],
      ['Last seen', ({ lastSeenAt }) => messages.minute(lastSeenAt)],
      ['With', ({ provider }) => (provider === null ? 'A password' : isolated(provider))],
    ],
    sessions.toSorted((one, other) => other.lastSeenAt - one.lastSeenAt).slice(0, SESSIONS),
  );
  const more = sessions.length - SESSIONS;
  return html`<section class="part" id="sessions"><h2>Sessions</h2>
${sessions.length === 0 ? html`<p>Signed in nowhere.</p>` : table}${more > 0 && html`<p>The last ${SESSIONS} are listed, of ${numberWithNoun(sessions.length, 'session')}.</p>`}</section>`;
}
