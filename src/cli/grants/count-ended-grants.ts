/** Describes the grants that an act is about to end, in a question. */

import { type GrantRegistry, MAX_COUNTED } from '../../oauth/connected-apps/grant-registry.ts';
import { numberWithUnit } from '../output/number-with-unit.ts';

/** The owners of the ended grants. */
export type Ended = { readonly clientId?: string; readonly resourceOwnerId?: string };

/** `12 grants of 9 users`, of an app; `12 grants for 3 apps`, of a user; of the whole installation both. */
export async function countedGrants(grants: GrantRegistry, ended: Ended): Promise<string> {
  const count = await grants.count(ended);
  const users = ended.resourceOwnerId === undefined ? ` of ${numberWithUnit(count.resourceOwners, 'user')}` : '';
  const apps = ended.clientId === undefined ? ` for ${numberWithUnit(count.clients, 'app')}` : '';
  const isAll = count.grants < MAX_COUNTED;
  return count.grants === 0
    ? '0 grants'
    : `${isAll ? '' : 'at least '}${numberWithUnit(count.grants, 'grant')}${users}${apps}`;
}
