/** The audit trail, newest first. */
import { type Html, html } from '../../html.ts';
import type { PageContext } from '../../layout.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import { emptyList, type Filter, filterForm, type Listed, listHref, listing, textFilter } from '../listing.ts';
import { ACTION_GROUPS } from './actions.ts';
import { eventsTable } from './events-table.ts';
import type { ShownEvent } from './shown-event.ts';

/** The values of the filter, as the address has them; days as `2026-11-26`. */
export type EventFilter = Filter &
  Readonly<Record<'action' | 'operator' | 'since' | 'until' | 'client' | 'user' | 'grant', string>>;

/** Data of the page. */
export type EventsData = {
  operator: ShownOperator;
  list: Listed<ShownEvent>;
  filter: EventFilter;
  isFirst: boolean;
  /** Names of operators, as suggestions. */
  operators: readonly string[];
};

/** The page of events. */
export function eventsPage(context: PageContext, { operator, list, filter, isFirst, operators }: EventsData): Html {
  const isFiltered = listHref('/events', filter) !== '/events';
  return consoleLayout(
    context,
    operator,
    { title: 'Events' },
    html`<h1>Events</h1>
<p class="lead">Who changed what, and who gave or took access, newest first.</p>
${filterForm('/events', fields(filter, operators))}
${listing(list, { path: '/events', filter, isFirst }, isFiltered ? NONE_FOUND : NO_EVENTS, (events) =>
  eventsTable(context, events),
)}
<p class="fine">All times are UTC.</p>`,
  );
}

function fields(filter: EventFilter, operators: readonly string[]): Html {
  const { action, operator, since, until, client, user, grant } = filter;
  const isOpen = client !== '' || user !== '' || grant !== '';
  return html`${actionFilter(action)}
<div class="field"><label for="operator">Operator’s name</label><input id="operator" name="operator" value="${operator}" list="operators" autocomplete="off" spellcheck="false"><datalist id="operators">${operators.map((name) => html`<option value="${name}">`)}</datalist></div>
${dayFilter('since', 'From', since)}${dayFilter('until', 'To', until)}
<details class="more"${isOpen && html` open`}><summary>App, person or grant</summary><div class="filter">
${textFilter('client', 'ID of an app, API, product or operator', client)}
${textFilter('user', 'Person’s email or ID', user)}
${textFilter('grant', 'ID of a grant', grant)}
</div></details>`;
}

function actionFilter(chosen: string): Html {
  const groups = ACTION_GROUPS.map(
    ([group, words]) =>
      html`<optgroup label="${group}">${Object.entries(words).map(
        ([action, text]) => html`<option value="${action}"${action === chosen && html` selected`}>${text}</option>`,
      )}</optgroup>`,
  );
  return html`<div class="field"><label for="action">What</label><select id="action" name="action"><option value="">Everything</option>${groups}</select></div>`;
}

function dayFilter(name: string, label: string, value: string): Html {
  return html`<div class="field day"><label for="${name}">${label}</label><input type="date" id="${name}" name="${name}" value="${value}"></div>`;
}

const NO_EVENTS = emptyList('No event yet', 'Whatever changes access is written down here.');
const NONE_FOUND = emptyList('No event found', html`None matches. <a href="/events">Show all events</a>`);
