/** What a grant's life depends on beside its row: the installation, its client and its account, each kept as it was read. */
import type { Client } from '../../oauth/clients/client.ts';
import type { Epochs, Grant, ResourceOwner } from '../../oauth/grants/grant.ts';
import type { FoundGrant } from '../../oauth/protocol/grant-store.ts';
import { INSTALLATION_KEY } from '../acts.ts';
import { ACCOUNT } from '../tables/accounts.ts';
import type { RowCache } from './row-cache.ts';
import type { Tables } from './tables.ts';

const STANDING = ACCOUNT.pick('id', 'epoch', 'status', 'email', 'emailVerified', 'username', 'name', 'avatarUrl');

type AccountStanding = { readonly epoch: number; readonly isDisabled: boolean; readonly owner: ResourceOwner };

/** The standing of grants. */
export class Standings {
  readonly #installation: RowCache<number>;
  readonly #clients: RowCache<Client>;
  readonly #accounts: RowCache<AccountStanding>;

  constructor(tables: Tables, clients: RowCache<Client>) {
    const readInstallation = tables.tuple<readonly [number]>('SELECT epoch FROM installation');
    const readAccount = tables.tuple(`SELECT ${STANDING.names} FROM account WHERE id = ?`);
    this.#installation = tables.caches.add(() => readInstallation()?.[0] ?? null);
    this.#clients = clients;
    this.#accounts = tables.caches.add((id) => {
      const row = readAccount(id);
      if (!row) return null;
      const { epoch, status, email, emailVerified, ...others } = STANDING.read(row);
      return { epoch, isDisabled: status === 'disabled', owner: { ...others, email: emailVerified ? email : null } };
    });
  }

  /** The standing of a grant, its resource owner and its client; null when its client or its account is gone. */
  find({ clientId, resourceOwnerId }: Grant): Omit<FoundGrant, 'grant'> | null {
    const installation = this.#installation.find(INSTALLATION_KEY);
    const client = this.#clients.find(clientId);
    const account = this.#accounts.find(resourceOwnerId);
    if (installation === null || !client || !account) return null;
    const epochs: Epochs = { installation, client: client.epoch, resourceOwner: account.epoch };
    return {
      standing: { epochs, clientPaused: client.status === 'paused', resourceOwnerDisabled: account.isDisabled },
      resourceOwner: account.owner,
      client,
    };
  }
}
