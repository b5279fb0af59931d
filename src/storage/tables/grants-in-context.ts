/** Grants with what a decision on them needs, side by side in one row: of the installation, the client and the account. */
import type { Client } from '../../oauth/clients/client.ts';
import type { GrantInContext } from '../../oauth/grants/grant.ts';
import type { FoundGrant } from '../../oauth/protocol/grant-store.ts';
import { INSTALLATION_KEY, type Search, type Tuple } from '../acts.ts';
import { rowKey } from '../row-key.ts';
import { ACCOUNT } from './accounts.ts';
import { CLIENT } from './clients.ts';
import { GRANT } from './grant-rows.ts';
import { INSTALLATION } from './installation.ts';
import { sideBySide, type Table } from './table.ts';

const OF_INSTALLATION = INSTALLATION.pick('epoch');
const OF_ACCOUNT = ACCOUNT.pick('id', 'epoch', 'status', 'email', 'emailVerified', 'username', 'name', 'avatarUrl');

/** The tables of such a row, and how they are joined. CROSS JOIN has SQLite find the others by their keys, from the grant's row. */
export const FROM_CONTEXT = `
  FROM oauth_grant CROSS JOIN installation CROSS JOIN client CROSS JOIN account
  WHERE client.id = oauth_grant.client_id AND account.id = oauth_grant.resource_owner_id`;

/** Columns of grants with their context, and the reader of such a row. `client` has the columns that are wanted of clients. */
export function inContext<Of extends Pick<Client, 'epoch' | 'status'>>(client: Table<Of>) {
  const { selected, read } = sideBySide(GRANT, OF_INSTALLATION, OF_ACCOUNT, client);
  return {
    selected,
    read(row: Tuple): GrantInContext & { readonly client: Of } {
      const [grant, installation, account, client] = read(row);
      const { epoch, status, email, emailVerified, ...others } = account;
      return {
        grant,
        standing: {
          epochs: { installation: installation.epoch, client: client.epoch, resourceOwner: epoch },
          clientPaused: client.status === 'paused',
          resourceOwnerDisabled: status === 'disabled',
        },
        // Nobody is told an address that is not verified.
        resourceOwner: { ...others, email: emailVerified ? email : null },
        client,
      };
    },
  };
}

const WITH_CLIENT = inContext(CLIENT);

/** The search for a grant by its id, with its whole client. */
export const FIND_GRANT: Search<FoundGrant, Buffer> = {
  sql: `SELECT ${WITH_CLIENT.selected} ${FROM_CONTEXT} AND oauth_grant.id = $1`,
  key: 'uuid',
  read: WITH_CLIENT.read,
  restsOn: ({ grant }) => [rowKey(grant.id), grant.clientId, grant.resourceOwnerId, INSTALLATION_KEY],
};
