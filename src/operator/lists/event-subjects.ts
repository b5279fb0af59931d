/** The app or the person that an operator means by a text of the events’ filter. */
import { accountLabel } from '../../accounts/people/account.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import type { Lists } from './lists.ts';

/** Maximum number of things to choose from. */
const MAX_CHOICES = 10;

/** The id of the thing that is meant, or several things with their names; `more` is true if there are others. */
export type Meant =
  | { readonly id: string }
  | { readonly things: readonly { readonly id: string; readonly name: string }[]; readonly more: boolean };

type Trail = Pick<AuditStore, 'listAuditPlaces'>;

/** Returns the apps of a name or, if none has it, those with the text in their names. An id that has events comes first. */
export async function appsMeant(
  trail: Trail,
  clients: Pick<ClientStore, 'listClients' | 'listClientsNamed'>,
  text: string,
): Promise<Meant> {
  if (await hasEvents(trail, { clientId: text })) return { id: text };
  const limit = MAX_CHOICES + 1;
  const exact = await clients.listClientsNamed(text, limit);
  const apps = exact.length > 0 ? exact : await clients.listClients(null, limit, { name: text });
  return meant(text, apps.slice(0, MAX_CHOICES), apps.length === limit);
}

/** Returns the people with an email address. An id that has events comes first. */
export async function peopleMeant(trail: Trail, lists: Pick<Lists, 'users'>, text: string): Promise<Meant> {
  if (await hasEvents(trail, { resourceOwnerId: text })) return { id: text };
  const found = await lists.users({ email: text }, { limit: MAX_CHOICES, after: undefined });
  const people = (found?.items ?? []).map(({ account }) => ({
    id: account.id,
    name: account.name ?? accountLabel(account),
  }));
  return meant(text, people, (found?.next ?? null) !== null);
}

/** True if something has this id, or had it. */
async function hasEvents(trail: Trail, of: { readonly clientId: string } | { readonly resourceOwnerId: string }) {
  return (await trail.listAuditPlaces({ ...of, order: 'newest' }, null, 1)).length > 0;
}

function meant(text: string, found: readonly { readonly id: string; readonly name: string }[], more: boolean): Meant {
  const things = found.map(({ id, name }) => ({ id, name }));
  const [{ id } = { id: text }, ...others] = things;
  return others.length === 0 && !more ? { id } : { things, more };
}
