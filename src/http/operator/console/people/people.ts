/** The list of people, and the invitation of a new one. */
import type { ListedAccount } from '../../../../accounts/people/account-list.ts';
import type { Parameters } from '../../../../oauth/protocol/parameters.ts';
import type { Actor } from '../../../../oauth/trail/audit.ts';
import { readNewUser } from '../../../../operator/fields/user-fields.ts';
import { invitationUrl } from '../../../../operator/json/user.ts';
import type { AskedPage } from '../../../../operator/lists/lists.ts';
import type { UserAsked } from '../../../../operator/lists/user-pages.ts';
import type { Html } from '../../../../pages/html.ts';
import { listHref } from '../../../../pages/operator/listing.ts';
import { shownOncePage } from '../../../../pages/operator/operators-page.ts';
import { invitationPage } from '../../../../pages/operator/people/invitation-page.ts';
import {
  type ListedPerson,
  PEOPLE_NOTICES,
  type PeopleData,
  peoplePage,
  type TypedPerson,
} from '../../../../pages/operator/people/people-page.ts';
import type { Service } from '../../../service.ts';
import { askedPage, doneIn } from '../asked-page.ts';
import type { ConsoleCall, ConsoleRoutes, Onward } from '../console-routes.ts';
import { keyAfter, newKey, runOnce } from '../once.ts';

/** Products that the search offers: an installation has some dozens. */
const PROVIDERS: AskedPage = { limit: 200, after: undefined };

/** Adds the pages. */
export function addPeople(routes: ConsoleRoutes, service: Service): void {
  const { accounts, operatorApi } = service;
  const { lists, store } = operatorApi;

  routes.page('/people', 'users.list', (call) => list(call, null));

  // `users.invite` is asked for in the act, so that a missing presence loses nothing that was typed.
  routes.act('/people', 'users.update', invite, async (call, problem) => {
    const page = await list(call, { problem, typed: typedPerson(call.form), once: keyAfter(call, problem) });
    return 'location' in page ? null : page;
  });

  async function list(
    call: ConsoleCall,
    refused: (PeopleData['refused'] & { once: string }) | null,
  ): Promise<Html | Onward> {
    const { context, operator, may, query } = call;
    const filter = refused ? NO_FILTER : filterIn(query);
    const only = await onlyOne(filter);
    if (only !== null) return { location: personHref(only) };
    const page = askedPage(query);
    const [found, { items: providers }] = await Promise.all([
      lists.users(asked(filter), page),
      lists.identityProviders(PROVIDERS).then((some) => some ?? { items: [] }),
    ]);
    if (found === null) return { location: listHref('/people', filter) };
    return peoplePage(context, {
      ...{ operator, filter, refused },
      list: { items: found.items.map(listedPerson), next: found.next },
      isFirst: page.after === undefined,
      providers: providers.map(({ id }) => id),
      once: refused?.once ?? newKey(),
      mayInvite: accounts.takesPasswords && may('users.invite'),
      done: doneIn(query, PEOPLE_NOTICES),
    });
  }

  /** Returns the id of the one person that a search finds; null if it finds nobody or several. */
  async function onlyOne(filter: PeopleFilter): Promise<string | null> {
    if (filter.q !== '' && (await store.findAccount(filter.q))) return filter.q;
    const by = asked(filter);
    if (Object.keys(by).length === 0) return null;
    const [one, another] = (await lists.users(by, { limit: 2, after: undefined }))?.items ?? [];
    return one && !another ? one.account.id : null;
  }

  async function invite(call: ConsoleCall): Promise<Html> {
    const { context, operator, form, requires } = call;
    requires('users.invite');
    const { username, ...typed } = typedPerson(form);
    const person = readNewUser({ ...typed, username: username || null });
    const add = async (actor: Actor) => {
      const { account, token } = await accounts.addInvited(person, actor);
      return invitationPage(context, operator, account, invitationUrl(operatorApi.newPasswordUrl, token));
    };
    const addedBefore = async (id: string) =>
      shownOncePage(context, { operator, heading: LINK, lead: INVITED_BEFORE, text: null, back: personHref(id) });
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

/** An address has an @, and a user name has none. A product and an ID there name somebody only together. */
function asked({ q, provider, subject }: PeopleFilter): UserAsked {
  if (provider !== '' || subject !== '') return { identity: { providerId: provider, subject } };
  if (q === '') return {};
  return q.includes('@') ? { email: q } : { username: q };
}

function listedPerson({ account, use }: ListedAccount): ListedPerson {
  const { id, name, email, status, createdAt } = account;
  return { id, name, email, status, createdAt, lastSignInAt: use.lastSignInAt };
}
