/** The app or the person that an operator means by a text of the events’ filter. */
import { accountLabel } from '../../accounts/people/account.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import type { Lists } from './lists.ts';

/** Maximum number of things to choose from. */
const MAX_CHOICES = 10;

/** A thing with its name. */
export type Subject = { readonly id: string; readonly name: string };

/** The only thing that is meant, or several; `more` is true if there are others. Null if nothing has such a name. */
export type Meant = Subject | { readonly things: readonly Subject[]; readonly more: boolean } | null;

/** Returns the apps of a name or, if none has it, those with the text in their names. */
export async function appsMeant(
  store: Pick<ClientStore, 'listClients' | 'listClientsNamed'>,
  name: string,
): Promise<Meant> {
  const limit = MAX_CHOICES + 1;
  const exact = await store.listClientsNamed(name, limit);
  const apps = exact.length > 0 ? exact : await store.listClients(null, limit, { name });
  return meant(
    apps.slice(0, MAX_CHOICES).map(({ id, name }) => ({ id, name })),
    apps.length === limit,
  );
}

/** Returns the people with an email address. */
export async function peopleMeant(lists: Pick<Lists, 'users'>, email: string): Promise<Meant> {
  const found = await lists.users({ email }, { limit: MAX_CHOICES, after: undefined });
  const people = (found?.items ?? []).map(({ account }) => ({
    id: account.id,
    name: account.name ?? accountLabel(account),
  }));
  return meant(people, (found?.next ?? null) !== null);
}

function meant(things: readonly Subject[], more: boolean): Meant {
  const [one, ...others] = things;
  if (one === undefined) return null;
  return others.length === 0 && !more ? one : { things, more };
}
