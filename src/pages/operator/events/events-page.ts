/** The audit trail, newest first. */
import { type Html, html } from '../../html/html.ts';
import { isolated, isolatedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import type { ConsolePage } from '../frame.ts';
import { emptyList, type Filter, filterForm, type Listed, listHref, listing, textFilter } from '../listing.ts';
import { ACTION_GROUPS, actionWords } from './actions.ts';
import { eventsTable } from './events-table.ts';
import { type ShownEvent, thingLink } from './shown-event.ts';

/** The common questions, by their names. */
const QUESTIONS = {
  'operator-changes': 'Changes by operators',
  'sign-ins': 'Sign-ins',
  grants: 'Grants',
  'app-changes': 'Changes of apps',
  'secrets-and-links': 'Secrets, keys and one-time links',
  'people-changes': 'Changes of people',
  operators: 'Operators',
  incidents: 'Security incidents',
} as const;

/** The fields for what an operator types, each with the parameter of the exact id that it stands for. */
const TYPED = { app: 'client', person: 'user' } as const;

/** A field for the id, the name or the email address that an operator types. */
export type TypedField = keyof typeof TYPED;

/** The values of the filter, as the address has them; days as `2026-11-26`. `action` may also be the name of a question. */
export type EventFilter = Filter &
  Readonly<
    Record<
      'action' | 'operator' | 'key' | 'since' | 'until' | 'grant' | TypedField | (typeof TYPED)[TypedField],
      string
    >
  >;

/** Returns the filter with an exact id in the place of what was typed in a field. */
export function withId(filter: EventFilter, field: TypedField, id: string): EventFilter {
  return { ...filter, [field]: '', [TYPED[field]]: id };
}

/** The things that a text of the filter may mean, at most some; `more` is true if there are others. */
export type Choices = {
  readonly field: TypedField;
  readonly things: readonly { readonly id: string; readonly name: string }[];
  readonly more: boolean;
};

/** Data of the page. */
export type EventsData = {
  /** The events, or the things to choose from first. */
  readonly found: Listed<ShownEvent> | Choices;
  readonly filter: EventFilter;
  readonly isFirst: boolean;
  /** The time (ms) that the quick choices of days end with. */
  readonly now: number;
  /** Names of operators, as suggestions. */
  readonly operators: readonly string[];
};

/** The page of events. */
export function eventsPage(context: PageContext, data: EventsData): ConsolePage {
  const { found, filter, isFirst, now, operators } = data;
  const isFiltered = listHref('/events', filter) !== '/events';
  return {
    frame: { title: 'Events' },
    main: html`<h1>Events</h1>
<p class="lead">Who did what, newest first.</p>
${quickChoices(filter, now)}
${filterForm('/events', fields(filter, operators))}
${!('things' in found) && subjectsAndCount(found, filter, isFirst)}
${
  'things' in found
    ? choices(found, filter)
    : listing(found, { path: '/events', filter, isFirst }, isFiltered ? NONE_FOUND : NO_EVENTS, (events) =>
        eventsTable(context, events),
      )
}`,
  };
}

/** Numbers of days that are one click away. */
const DAYS = [1, 7, 14, 30];
const DAY_MS = 86_400_000;

/** The choices that are made most. Each keeps the rest of the filter, and those that are made lead back. */
function quickChoices(filter: EventFilter, now: number): Html {
  const { action, since, until } = filter;
  const changes: keyof typeof QUESTIONS = 'operator-changes';
  const days = DAYS.map((count) => {
    const from = new Date(now - count * DAY_MS).toISOString().slice(0, 10);
    const isChosen = since === from && until === '';
    return choice(count === 1 ? 'Since yesterday' : `Last ${count} days`, isChosen, {
      ...filter,
      since: isChosen ? '' : from,
      until: '',
    });
  });
  const isChosen = action === changes;
  return html`<nav class="quick" aria-label="Quick choices"><ul>${choice(QUESTIONS[changes], isChosen, { ...filter, action: isChosen ? '' : changes })}${days}</ul></nav>`;
}

function choice(words: string, isChosen: boolean, filter: EventFilter): Html {
  const href = listHref('/events', filter);
  return html`<li>${isChosen ? html`<strong>${words}</strong> <a href="${href}">Remove<span class="unseen"> “${words}”</span></a>` : html`<a href="${href}">${words}</a>`}</li>
`;
}

/** The things that the list is narrowed to, and the number of events shown. A total would have to walk the trail. */
function subjectsAndCount({ items, next }: Listed<ShownEvent>, filter: EventFilter, isFirst: boolean): Html {
  const count = `${items.length} ${items.length === 1 ? 'event' : 'events'}`;
  const isWhole = isFirst && next === null;
  return html`${subjects(items, filter)}${items.length > 0 && html`<p class="count">${count}${!isWhole && ' on this page'}.</p>`}`;
}

/** The things whose events alone are listed, with their names as far as the events have them. */
function subjects(events: readonly ShownEvent[], filter: EventFilter): Html {
  const { client, user, key } = filter;
  const named = [
    ['app', client, events.find(({ about }) => about?.id === client)?.about],
    ['person', user, events.find(({ person }) => person?.id === user)?.person],
  ] as const;
  return html`${named
    .filter(([, id]) => id !== '')
    .map(
      ([
        field,
        id,
        thing,
      ]) => html`<p>Only events of ${thing ? thingLink(thing) : html`<code>${isolatedAddress(id)}</code>`}. <a href="${listHref('/events', withId(filter, field, ''))}">Remove this filter</a></p>
`,
    )}${
    key !== '' &&
    html`<p>Only acts with <code>${isolatedAddress(key)}</code>. <a href="${listHref('/events', { ...filter, key: '' })}">Remove this filter</a></p>
`
  }`;
}

function choices({ field, things, more }: Choices, filter: EventFilter): Html {
  return html`<section class="part"><h2>Which ${field}?</h2>
<p>Several match “${isolated(filter[field])}”.</p>
<ul>${things.map(
    ({
      id,
      name,
    }) => html`<li><a href="${listHref('/events', withId(filter, field, id))}">${isolated(name)}</a> <code>${isolatedAddress(id)}</code></li>
`,
  )}</ul>
${more && html`<p>There are more: type more of the name.</p>`}</section>`;
}

function fields(filter: EventFilter, operators: readonly string[]): Html {
  const { action, operator, since, until, app, person, grant } = filter;
  const isOpen = app !== '' || person !== '' || grant !== '';
  const kept = ([...Object.values(TYPED), 'key'] as const).filter((name) => filter[name] !== '');
  return html`${kept.map((name) => html`<input type="hidden" name="${name}" value="${filter[name]}">`)}${actionFilter(action)}
<div class="field"><label for="operator">Operator’s name</label><input id="operator" name="operator" value="${operator}" list="operators" autocomplete="off" spellcheck="false"><datalist id="operators">${operators.map((name) => html`<option value="${name}">`)}</datalist></div>
${dayFilter('since', 'From (UTC)', since)}${dayFilter('until', 'To (UTC)', until)}
<details class="more"${isOpen && html` open`}><summary>App, person or grant</summary><div class="filter">
${textFilter('app', 'App’s name, or ID of an app, API, product or operator', app)}
${textFilter('person', 'Person’s email or ID', person)}
${textFilter('grant', 'ID of a grant', grant)}
</div></details>`;
}

function actionFilter(chosen: string): Html {
  const option = (value: string, words: string) =>
    html`<option value="${value}"${value === chosen && html` selected`}>${words}</option>`;
  return html`<div class="field"><label for="action">What</label><select id="action" name="action">${option('', 'Everything')}${Object.entries(
    QUESTIONS,
  ).map(([name, words]) => option(name, words))}${ACTION_GROUPS.map(
    ([group, actions]) =>
      html`<optgroup label="${group}">${actions.map((action) => option(action, actionWords(action)))}</optgroup>`,
  )}</select></div>`;
}

function dayFilter(name: string, label: string, value: string): Html {
  return html`<div class="field day"><label for="${name}">${label}</label><input type="date" id="${name}" name="${name}" value="${value}"></div>`;
}

const NO_EVENTS = emptyList('No event yet', 'Whatever changes access is written down here.');
const NONE_FOUND = emptyList('No event found', html`None matches. <a href="/events">Show all events</a>`);
