/** The grants of a person, by app, with what each lets the app do in the words that the person read. */
import { type Permission, type PersonField, permissionText } from '../../consent/permission-list.ts';
import { displayName } from '../../html/display-name.ts';
import { type Html, html } from '../../html/html.ts';
import { isolated, shortened } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import type { Messages } from '../../messages/messages.ts';
import { actButton } from '../act-button.ts';
import { endGrantEffect } from '../effect-sentences.ts';
import { listHref } from '../listing.ts';
import { statePill } from '../state-pill.ts';
import type { GrantsData, ShownGrant, ShownPerson } from './person-data.ts';

/** Number of a grant's permissions that are said in words, so that the page stays below 50 KB. */
const SAID = 5;

/** The section with a page of grants, and buttons to end each, or all of an app. */
export function personGrants(
  context: PageContext,
  person: ShownPerson,
  { list, isFirst }: GrantsData,
  mayEnd: boolean,
): Html {
  const { items, next } = list;
  const at = `/people/${encodeURIComponent(person.id)}`;
  const apps = [...Map.groupBy(items, ({ clientId }) => clientId).values()].sort(byName);
  const isWhole = isFirst && next === null;
  const all = html`<a href="${listHref('/events', { user: person.id, action: 'grants' })}">Events of all grants, with those that ended</a>`;
  const pages =
    !isWhole &&
    html`<nav class="pages" aria-label="Pages of the grants">${next !== null && html`<a class="button secondary" rel="next" href="${listHref(at, {}, next)}#grants">${items.length === 0 ? 'Search on' : 'More grants'}</a>`}${!isFirst && html`<a href="${at}#grants">First grants</a>`}</nav>`;
  return html`<section class="part" id="grants"><h2>${heading(person, items.length > 0)}</h2>
${
  items.length > 0
    ? html`<p>${person.status === 'disabled' && 'Every request of these apps is refused until then. '}Each grant lets one app act. The sentences are those that the person reads. ${all}</p>
<ul class="things">${apps.map((grants) => app(context, at, grants, isWhole, mayEnd))}</ul>`
    : html`<p>${isWhole ? 'No app may act for this person.' : next === null ? 'There are no more grants.' : 'No live grant was found so far. The search goes on from here.'} ${all}</p>`
}
${pages}</section>`;
}

function heading({ name, email, status }: ShownPerson, isAllowed: boolean): Html {
  const who = isolated(name ?? email ?? 'this person', 60);
  return status === 'disabled' && isAllowed
    ? html`Apps that may act again once ${who} is enabled`
    : html`Apps that may act for ${who}`;
}

type Grants = readonly ShownGrant[];

function byName([one]: Grants, [other]: Grants): number {
  return (one?.appName ?? '').localeCompare(other?.appName ?? '');
}

/** The grants of one app; `isWhole` if no other page has any. */
function app(context: PageContext, at: string, grants: Grants, isWhole: boolean, mayEnd: boolean): Html | null {
  const [first] = grants;
  if (first === undefined) return null;
  const { clientId, appName, isPaused } = first;
  const name = displayName(appName, 40) || '—';
  const endAll = actButton({
    action: `${at}/end-app`,
    name: `End all grants of ${name}`,
    effect: html`Ends ${isWhole ? `${grants.length} grants` : `the ${grants.length} grants of the app on this page, and those on other pages`}: every token of them is refused at once. The person can allow ${isolated(name)} again.`,
    isDanger: true,
    fields: html`<input type="hidden" name="client" value="${clientId}">`,
  });
  return html`<li><h3><a href="/apps/${encodeURIComponent(clientId)}">${shortened(appName)}</a>${isPaused && html` ${statePill('paused')}`}</h3>${mayEnd && grants.length > 1 && endAll}
<ul class="of-app">${grants.map((grant, index) => item(context, at, grant, grants[index - 1], mayEnd && (grants.length > 1 ? null : name)))}</ul></li>
`;
}

/** `end` is the app's name where the grant is its only one, null where it is one of several, and false without a button. */
function item(
  context: PageContext,
  at: string,
  grant: ShownGrant,
  before: ShownGrant | undefined,
  end: string | null | false,
): Html {
  const { messages } = context;
  const { id, appName, kind, isWaiting, since, lastUsedAt } = grant;
  const from = messages.minute(since);
  const used = isWaiting
    ? 'not fetched by the app yet'
    : lastUsedAt === null
      ? 'never used'
      : `last used ${messages.minute(lastUsedAt)}`;
  const button = actButton({
    action: `${at}/end-grant`,
    name: `End the grant of ${end || from}`,
    effect: endGrantEffect(appName, end !== null),
    isDanger: true,
    fields: html`<input type="hidden" name="grant" value="${id}">`,
  });
  return html`<li><div>${words(context, grant, before)}<p>${KINDS[kind]}Since ${from}, ${used}.</p><p>${ending(context, grant)} <a href="/grants/${id}">Details<span class="unseen"> of the grant of ${from}</span></a></p></div>${end !== false && button}</li>
`;
}

function ending({ messages }: PageContext, { isWaiting, expiresAt }: ShownGrant): string {
  return isWaiting
    ? `Ends ${messages.minute(expiresAt)} if it is unused until then.`
    : `Ends on ${messages.day(expiresAt)} if it is unused until then.`;
}

/** The words of a grant; none where they are those of the grant above it. */
function words({ messages }: PageContext, grant: ShownGrant, before: ShownGrant | undefined): Html | null {
  const { person, permissions } = grant;
  if (before && JSON.stringify([before.person, before.permissions]) === JSON.stringify([person, permissions]))
    return null;
  return html`<ul class="words"><li>${seenText(messages, person)}</li>${permissions.slice(0, SAID).map((each) => html`<li>${permissionText(messages, each, true)}</li>`)}${moreOf(permissions)}</ul>
`;
}

/** Returns the profile fields that an app may see, in the form of its other permissions. */
function seenText({ permissions: { fields, list } }: Messages, person: readonly PersonField[]): string {
  return person.length === 0
    ? 'See an ID alone'
    : `See ${list(person.map((field) => fields[field])).replace(/^Your /, '')}`;
}

/** All that a grant lets its app do, in the words that the person read. */
export function mayDo(messages: Messages, person: readonly PersonField[], permissions: readonly Permission[]): Html {
  const words = permissions.map((each) => html`<li>${permissionText(messages, each, true)}</li>`);
  return html`<ul class="words"><li>${seenText(messages, person)}</li>${words}</ul>`;
}

/** The names of the permissions that are not said in words, or null. */
function moreOf(permissions: readonly Permission[]): Html | null {
  const more = permissions.slice(SAID);
  if (more.length === 0) return null;
  return html`<li>and ${more.length} more: ${isolated(more.map(({ name }) => name).join(', '), 400)}</li>`;
}

const KINDS = { app: '', device: 'On one device. ', installation: 'One installation. ' } as const;
