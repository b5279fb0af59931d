/** The list of people, and the invitation of a new one. */
import type { Parameters } from '../../../../oauth/parameters.ts';
import type { Actor } from '../../../../oauth/trail/audit.ts';
import { readNewUser } from '../../../../operator/fields/user-fields.ts';
import { invitationUrl } from '../../../../operator/json/user.ts';
import type { AskedPage, ListedPerson as FoundPerson, ListPage } from '../../../../operator/lists/lists.ts';
import type { UserAsked } from '../../../../operator/lists/user-pages.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import { listHref } from '../../../../pages/operator/listing.ts';
import { invitationPage } from '../../../../pages/operator/people/invitation-page.ts';
import {
  type ListedPerson,
  PEOPLE_NOTICES,
  type PeopleData,
  peoplePage,
  type TypedPerson,
} from '../../../../pages/operator/people/people-page.ts';
import { shownOncePage } from '../../../../pages/operator/shown-once.ts';
import type { Service } from '../../../service/service.ts';
import { askedPage, doneIn } from '../asked-list-page.ts';
import type { ConsoleCall, ConsoleRoutes, Onward } from '../console-routes.ts';
import { keyAfter, newKey, runOnce } from '../once-only-form.ts';

/** Number of people of a page: each may have an ID of 255 characters in its link, three bytes long. */
const PEOPLE = 25;

/** Products that the search offers: an installation has some dozens. */
const PROVIDERS: AskedPage = { limit: 200, after: undefined };

/** Adds the pages. */
export function addPeople(routes: ConsoleRoutes, service: Service): void {
  const { accounts, operatorApi } = service;
  const { lists, store } = operatorApi;

  routes.page('/people', 'users.list', (call) => list(call, null));

  routes.act(
    '/people',
    'users.invite',
    invite,
    (call, problem) => list(call, { problem, typed: typedPerson(call.form), once: keyAfter(call, problem) }),
    { keepsTyped: true },
  );

  async function list(
    call: ConsoleCall,
    refused: (PeopleData['refused'] & { once: string }) | null,
  ): Promise<ConsolePage | Onward> {
    const { context, may, hasPasskey, query } = call;
    const filter = refused ? NO_FILTER : filterIn(query);
    const page = askedPage(query, PEOPLE);
    const only = page.after === undefined ? await onlyOne(filter) : null;
    if (only !== null) return { location: personHref(only) };
    const [found, { items: providers }] = await Promise.all([
      listed(filter, page),
      lists.identityProviders(PROVIDERS).then((some) => some ?? { items: [] }),
    ]);
    if (found === null) return { location: listHref('/people', filter) };
    return peoplePage(context, {
      filter,
      refused,
      list: { items: found.items.map(listedPerson), next: found.next },
      isFirst: page.after === undefined,
      providers: providers.map(({ id }) => id),
      once: refused?.once ?? newKey(),
      hasPasskey: await hasPasskey(),
      mayInvite: accounts.takesPasswords && may('users.invite'),
      done: doneIn(query, PEOPLE_NOTICES),
    });
  }

  /** A product and an ID there name one person at most, whom `onlyOne` found. */
  async function listed(
    { q, provider, subject }: PeopleFilter,
    page: AskedPage,
  ): Promise<ListPage<FoundPerson> | null> {
    if (provider !== '' || subject !== '') return { items: [], next: null };
    return lists.people(q === '' ? {} : { beginning: q }, page);
  }

  /** Returns the id of the one person whom a search names exactly; null if it names nobody or several. */
  async function onlyOne({ q, provider, subject }: PeopleFilter): Promise<string | null> {
    const one = async (asked: UserAsked) => {
      const [first, second] = (await lists.users(asked, { limit: 2, after: undefined }))?.items ?? [];
      return first && !second ? first.account.id : null;
    };
    if (provider !== '' || subject !== '') return one({ identity: { providerId: provider, subject } });
    if (q === '') return null;
    if (await store.findAccount(q)) return q;
    return one(q.includes('@') ? { email: q } : { username: q });
  }

  async function invite(call: ConsoleCall): Promise<ConsolePage> {
    const { context, form } = call;
    const { username, ...typed } = typedPerson(form);
    const person = readNewUser({ ...typed, username: username || null });
    const add = async (actor: Actor) => {
      const { account, token } = await accounts.addInvited(person, actor);
      return invitationPage(context, account, invitationUrl(operatorApi.newPasswordUrl, token), null);
    };
    const addedBefore = async (id: string) =>
      shownOncePage(context, {
        heading: LINK,
        lead: INVITED_BEFORE,
        once: null,
        next: { href: personHref(id), noun: 'the person', name: person.name ?? person.email },
      });
    return runOnce(operatorApi.idempotency, call, person, add, addedBefore);
  }
}

const LINK = 'The link to set a password';
const INVITED_BEFORE =
  'The form was sent twice, and one person was invited. The first answer had the link. If you did not see it, go back to the person’s page and choose “Invite again”.';

/** Returns the address of a person's page. */
export function personHref(id: string): string {
  return `/people/${encodeURIComponent(id)}`;
}

/** Returns what a form says of a person. */
export function typedPerson(form: Parameters): TypedPerson {
  const text = (name: string) => (form.get(name) ?? '').trim();
  return { email: text('email'), name: text('name'), username: text('username') };
}

type PeopleFilter = { readonly q: string; readonly provider: string; readonly subject: string };
const NO_FILTER: PeopleFilter = { q: '', provider: '', subject: '' };

function filterIn(query: Parameters): PeopleFilter {
  const text = (name: string) => (query.get(name) ?? '').trim();
  return { q: text('q'), provider: text('provider'), subject: query.get('subject') ?? '' };
}

function listedPerson({ account, lastSignIn }: FoundPerson): ListedPerson {
  const { id, name, email, username, status, createdAt } = account;
  return { id, name, email, username, status, createdAt, lastSignIn };
}
