/** The list of people. */
import { type Html, html } from '../../html/html.ts';
import { isolatedAddress, isolatedCode, shortened, shortenedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { type ActProblem, actProblem, doneNotice, passkeyNeeded } from '../act-button.ts';
import type { ConsolePage } from '../frame.ts';
import {
  choiceFilter,
  emptyList,
  type Filter,
  filterForm,
  type Listed,
  listHref,
  listing,
  textFilter,
} from '../listing.ts';
import { statePill } from '../state-pill.ts';
import { dataTable } from '../table.ts';

/** A person in the list. Times in ms. */
export type ListedPerson = {
  readonly id: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly username: string | null;
  readonly status: 'active' | 'disabled';
  readonly createdAt: number;
  readonly lastSignIn: LastSignIn;
};

/** The last sign-in: its time (ms), or that none is known. */
export type LastSignIn = number | 'never' | 'not lately';

/** The profile fields of a person, as an operator types them. */
export type TypedPerson = { readonly email: string; readonly name: string; readonly username: string };

/** The effects of acts that lead to the list, by their names in the address. */
export const PEOPLE_NOTICES = { deleted: 'The person was deleted, with all sessions and grants.' } as const;

/** Data of the page. */
export type PeopleData = {
  list: Listed<ListedPerson>;
  filter: Filter;
  isFirst: boolean;
  /** The ids of the products, for the search by a product's ID. */
  providers: readonly string[];
  /** True if the operator's role lets them invite people, and a password is a way to sign in. */
  mayInvite: boolean;
  /** The invitation that was refused. */
  refused: { readonly problem: ActProblem; readonly typed: TypedPerson } | null;
  /** Names the form for an invitation, so that it invites one person however often it is sent. */
  once: string;
  /** True if the operator has a passkey. */
  hasPasskey: boolean;
  done: keyof typeof PEOPLE_NOTICES | null;
};

/** The page of all people. */
export function peoplePage(context: PageContext, data: PeopleData): ConsolePage {
  const { list, filter, isFirst, providers, mayInvite, refused, once, hasPasskey, done } = data;
  const isFiltered = Object.values(filter).some((value) => value !== '');
  return {
    frame: { title: 'People', isProblem: refused !== null },
    main: html`<div class="title"><h1>People</h1>${mayInvite && html`<a class="button primary" href="${isFiltered ? '/people' : ''}#invite">Invite a person</a>`}</div>
${done !== null && doneNotice(PEOPLE_NOTICES[done])}
${filterForm('/people', textFilter('q', 'Email address, user name or ID', filter['q'] ?? ''), { button: 'Search' })}
<p class="hint">The beginning of an email address or a user name is enough. An ID must be whole. Names alone cannot be searched: ask for the email address or user name.</p>
${providers.length > 0 && productSearch(providers, filter)}
<section class="part">${list.items.length > 0 && html`<h2>${isFiltered ? 'Found people' : 'Newest people'}</h2>`}
${listing(list, { path: '/people', filter, isFirst }, isFiltered ? noneFound(filter) : NOBODY, (people) => peopleTable(context, people))}</section>
${!isFiltered && mayInvite && inviteForm(refused, once, hasPasskey)}`,
  };
}

function peopleTable({ messages }: PageContext, people: readonly ListedPerson[]): Html {
  return dataTable<ListedPerson>(
    'People',
    [
      [
        'Person',
        ({ id, name, email }) =>
          html`<a href="/people/${encodeURIComponent(id)}">${shortened(name ?? email ?? id)}</a>${(name ?? email) !== null && html`<small><code>${shortenedAddress(id)}</code></small>`}`,
      ],
      [
        'Email and user name',
        ({ email, username }) =>
          email === null && username === null
            ? 'None'
            : html`${email !== null && shortenedAddress(email)}${username !== null && html`<small>${isolatedAddress(username)}</small>`}`,
      ],
      ['State', ({ status }) => statePill(status)],
      [
        'Last sign-in',
        ({ lastSignIn }) => (typeof lastSignIn === 'number' ? messages.day(lastSignIn) : NO_SIGN_IN[lastSignIn]),
      ],
      ['Added', ({ createdAt }) => messages.day(createdAt)],
    ],
    people,
  );
}

/** The words for a time of the last sign-in that is not known. */
const NO_SIGN_IN = { never: 'Never', 'not lately': 'Not lately' } as const;

function productSearch(providers: readonly string[], { provider = '', subject = '' }: Filter): Html {
  const options = [['', 'Choose a product'], ...providers.map((id) => [id, id] as const)] as const;
  return html`<details class="further"${(provider !== '' || subject !== '') && html` open`}><summary>Find by the ID at a product</summary>
${filterForm('/people', html`${choiceFilter('provider', 'Product', options as readonly (readonly [string, string])[], provider)}${textFilter('subject', 'ID of the person there', subject)}`, { name: 'By the ID at a product', button: 'Search' })}
<p class="hint">The ID must be whole, as the product sends it.</p></details>`;
}

function inviteForm(refused: PeopleData['refused'], once: string, hasPasskey: boolean): Html {
  const { email, name, username } = refused?.typed ?? { email: '', name: '', username: '' };
  return html`<section class="part" id="invite"><h2>Invite a person</h2>
<p>You get a one-time link where the person sets a password. ${passkeyNeeded(hasPasskey, 'inviting a person')}</p>
${refused && actProblem(refused.problem)}
<form method="post" action="/people" class="stack narrow"><input type="hidden" name="once" value="${once}">
${personFields({ email, name, username })}
<button class="primary">Invite</button>
</form></section>`;
}

/** Returns the fields for what an operator says of a person. */
export function personFields({ email, name, username }: TypedPerson): Html {
  return html`<div class="field"><label for="email">Email address</label><input id="email" name="email" value="${email}" maxlength="254" autocomplete="off" spellcheck="false" inputmode="email"></div>
<div class="field"><label for="name">Name</label><input id="name" name="name" value="${name}" maxlength="200" autocomplete="off"></div>
<div class="field"><label for="username">User name (optional)</label><input id="username" name="username" value="${username}" maxlength="39" autocomplete="off" spellcheck="false"></div>`;
}

const NOBODY = emptyList('Nobody yet', 'People appear here after their first sign-in, or when you invite them.');

/** Says what was looked for, as it was compared, and what to look for next. */
function noneFound({ q = '', provider = '', subject = '' }: Filter): Html {
  const newest = html`<a href="/people">Show the newest people</a>`;
  if (q !== '')
    return emptyList(
      'Nobody found',
      html`Nobody has the ID ${isolatedCode(q)}, and no email address or user name begins so. ${beforeAt(q) ?? 'An ID is found only whole.'} ${DELETED} ${newest}`,
    );
  if (provider === '' || subject === '')
    return emptyList('Nobody found', html`Choose a product and an ID there: only both name a person. ${newest}`);
  return emptyList(
    'Nobody found',
    html`Nobody has the ID ${isolatedCode(subject)} at ${isolatedCode(provider)}. It is found only whole, in the same letters as the product sends it. ${DELETED} ${newest}`,
  );
}

/** A link to a search for the part of an email address before the @; null for other texts. */
function beforeAt(q: string): Html | null {
  const [part = '', ...rest] = q.split('@');
  if (part === '' || rest.length === 0) return null;
  return html`<a href="${listHref('/people', { q: part })}">Search for ${isolatedCode(part)}</a>, in case the rest differs.`;
}

const DELETED = html`Deleted people are not found: see the <a href="/events?action=user_deleted">events of deleted people</a>.`;
