/** The list of apps, page by page: an installation may have thousands. */
import type { Client } from '../oauth/clients/client.ts';
import type { ClientStore, ClientsAsked } from '../oauth/clients/client-store.ts';
import type { SecretUseStore } from '../oauth/keys/secret-use-store.ts';
import { type ClientUses, findClientUses, lastClientUse } from './last-uses.ts';

/** An app in a list, with its last uses. */
export type ListedClient = { readonly client: Client; readonly uses: ClientUses };

/** Which apps to list. `unusedSince` (ms): neither used nor registered at this time or later. */
export type ClientFilter = ClientsAsked & { readonly unusedSince?: number };

/** Number of rows that are read at once. */
const PAGE = 500;

/** The apps that match, oldest first, after one (null: from the first), a page at a time. */
export async function* listClients(
  store: Pick<ClientStore, 'listClients'> & Pick<SecretUseStore, 'findSecretUse'>,
  { unusedSince, ...asked }: ClientFilter,
  after: Client | null,
): AsyncGenerator<readonly ListedClient[]> {
  for (let last = after; ; ) {
    const page = await store.listClients(last, PAGE, asked);
    const listed = await Promise.all(
      page.map(async (client) => ({ client, uses: await findClientUses(client, store) })),
    );
    yield listed.filter(
      ({ client, uses }) => unusedSince === undefined || (lastClientUse(uses) ?? client.createdAt) < unusedSince,
    );
    last = page.at(-1) ?? null;
    if (page.length < PAGE) return;
  }
}
