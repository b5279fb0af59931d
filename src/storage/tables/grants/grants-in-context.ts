/** Grants with the columns of installation, client and account that decisions need, joined in one row. */
import type { Client } from '../../../oauth/clients/client.ts';
import type { GrantInContext } from '../../../oauth/grants/grant.ts';
import type { FoundGrant, GrantForCheck } from '../../../oauth/protocol/grant-store.ts';
import { rowKey } from '../../statements/row-key.ts';
import { INSTALLATION_KEY, type Search, type Tuple } from '../../statements/shared-operations.ts';
import { sideBySide, type Table } from '../../statements/table.ts';
import { ACCOUNT } from '../accounts/accounts.ts';
import { INSTALLATION } from '../installation/installation.ts';
import { CLIENT } from '../registrations/clients.ts';
import { GRANT } from './grant-rows.ts';

const OF_INSTALLATION = INSTALLATION.pick('epoch');
const OF_ACCOUNT = ACCOUNT.pick('id', 'epoch', 'status', 'email', 'emailVerified', 'username', 'name', 'avatarUrl');

/** The joined tables. CROSS JOIN makes SQLite find the other rows by their keys, from the grant's row. */
export const FROM_CONTEXT = `
  FROM oauth_grant CROSS JOIN installation CROSS JOIN client CROSS JOIN account
  WHERE installation.number = 1 AND client.id = oauth_grant.client_id AND account.id = oauth_grant.resource_owner_id`;

/**
 * Returns the columns of grants with their context, and the reader of such rows. `client` selects the columns of
 * clients.
 */
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
        // An unverified email is disclosed to no app.
        resourceOwner: { ...others, email: emailVerified ? email : null },
        client,
      };
    },
  };
}

const restsOn = ({ grant }: Pick<GrantInContext, 'grant'>) => [
  rowKey(grant.id),
  grant.clientId,
  grant.resourceOwnerId,
  INSTALLATION_KEY,
];

/** The search for a grant by its id, with some columns of its client. */
function searchWith<Of extends Pick<Client, 'epoch' | 'status'>>(client: Table<Of>) {
  const { selected, read } = inContext(client);
  return { key: 'uuid' as const, sql: `SELECT ${selected} ${FROM_CONTEXT} AND oauth_grant.id = $1`, read, restsOn };
}

/** The search for a grant by its id, with its whole client. */
export const FIND_GRANT: Search<FoundGrant, Buffer> = searchWith(CLIENT);

/** The same for a token that is checked: a third of the columns, and no JSON. */
export const FIND_FOR_CHECK: Search<GrantForCheck, Buffer> = searchWith(
  CLIENT.pick('epoch', 'status', 'seesExternalId'),
);
