/** The apps that may act for a person, as the person sees them on the page of connected apps. */
import { displayName } from '../../display-name.ts';
import { type Html, html } from '../../html.ts';
import { isolated } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { type Permission, permissionText } from '../../permissions.ts';
import { actButton } from '../act.ts';
import { listHref } from '../listing.ts';
import type { ConnectionsData, ShownConnection, ShownPerson } from './person-data.ts';

/** Number of a connection's permissions that are said in words, so that the page stays below 50 KB. */
const SAID = 5;

/** The section with all connections, and a button to end each. */
export function connections(
  context: PageContext,
  person: ShownPerson,
  { shown, first, total, after, next }: ConnectionsData,
  mayEnd: boolean,
): Html {
  const at = `/people/${encodeURIComponent(person.id)}`;
  const pages =
    shown.length < total &&
    html`<nav class="pages" aria-label="Pages of the connections">${after !== null && html`<a href="${at}#connections">First page</a>`}<span>${first} to ${first + shown.length - 1} of ${total}</span>${next !== null && html`<a class="button secondary" rel="next" href="${listHref(at, {}, next)}#connections">Next page</a>`}</nav>`;
  return html`<section class="part" id="connections"><h2>Connected apps</h2>
${
  total === 0
    ? html`<p>No app may act for this person.</p>`
    : html`<p>What these apps may do, as the person sees it.</p>
<ul class="things connections">${shown.map((each) => item(context, at, each, mayEnd))}</ul>
${pages}`
}</section>`;
}

function item({ messages }: PageContext, at: string, connection: ShownConnection, mayEnd: boolean): Html {
  const { clientId, appName, grantId, kind, isWaiting, permissions, person, since, lastUsedAt, expiresAt } = connection;
  const { fields, list } = messages.permissions;
  const sees =
    person.length === 0
      ? 'Sees an ID alone'
      : `Sees ${list(person.map((field) => fields[field])).replace(/^Your /, '')}`;
  const used = isWaiting
    ? 'not fetched by the app yet'
    : lastUsedAt === null
      ? 'never used'
      : `last used ${messages.minute(lastUsedAt)}`;
  const end = actButton({
    action: `${at}/end-connection`,
    name: `End access of ${displayName(appName, 40) || '—'}`,
    effect: html`Ends all of this access: ${isolated(appName)} is refused from its next request on. ${EXCEPT[kind]} The person can allow the app again.`,
    isDanger: true,
    fields: html`<input type="hidden" name="client" value="${clientId}"><input type="hidden" name="grant" value="${grantId}">${isWaiting && html`<input type="hidden" name="waiting" value="yes">`}`,
  });
  return html`<li><div><h3><a href="/apps/${encodeURIComponent(clientId)}">${isolated(appName)}</a>${KINDS[kind]}</h3>
<ul class="words"><li>${sees}</li>${permissions.slice(0, SAID).map((each) => html`<li>${permissionText(messages, each)}</li>`)}${moreOf(permissions)}</ul>
<p>Since ${messages.minute(since)}, ${used}, ends ${messages.day(expiresAt)} unless used before. <a href="/grants/${grantId}">Details<span class="unseen">, of ${isolated(appName)}</span></a></p></div>${mayEnd && end}</li>
`;
}

/** The names of the permissions that are not said in words, or null. */
function moreOf(permissions: readonly Permission[]): Html | null {
  const more = permissions.slice(SAID);
  if (more.length === 0) return null;
  return html`<li>and ${more.length} more: ${isolated(more.map(({ name }) => name).join(', '), 400)}</li>`;
}

const KINDS = { app: '', device: ', on one device', installation: ', one installation' } as const;
const EXCEPT = {
  app: 'Access on devices is listed by itself, and stays.',
  device: 'Other access of this app stays.',
  installation: 'Other installations keep theirs.',
} as const;
