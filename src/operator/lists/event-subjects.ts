/** The app or the person that an operator means by a text of the events’ filter. */
import { accountLabel } from '../../accounts/people/account.ts';
import type { IdentityProviderStore } from '../../accounts/people/store.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import type { Lists } from './lists.ts';

/** Maximum number of things to choose from. */
const MAX_CHOICES = 10;

/** A thing with its name. */
export type Subject = { readonly id: string; readonly name: string };

/** The only thing that is meant, or several; `more` is true if there are others. Null if nothing has such a name. */
export type Meant = Subject | { readonly things: readonly Subject[]; readonly more: boolean } | null;

/** The stores that ids and names are looked up in. */
type Named = {
  readonly clients: Pick<ClientStore, 'findClient' | 'listClients' | 'listClientsNamed'>;
  readonly products: Pick<IdentityProviderStore, 'findIdentityProvider'>;
};

/** The form of ids, also of what was deleted: no name takes the place of one. */
const ID = /^((app|rs|opr)_[a-z0-9]+|https:\/\/.*)$/;

/** Returns the apps of a name or, if none has it, those with the text in their names; null for an id. */
export async function appsMeant({ clients, products }: Named, text: string): Promise<Meant> {
  if (ID.test(text) || (await clients.findClient(text)) || (await products.findIdentityProvider(text))) return null;
  const limit = MAX_CHOICES + 1;
  const exact = await clients.listClientsNamed(text, limit);
  const apps = exact.length > 0 ? exact : await clients.listClients(null, limit, { name: text });
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
