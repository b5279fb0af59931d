/** The walk over grants: newest first; those of one person by app, the last id first. */
import { grantIdText, grantStatus, parseGrantId } from '../../oauth/grants/grant.ts';
import type { GrantState, GrantStore, GrantsOf } from '../../oauth/protocol/grant-store.ts';
import type { Walk } from './page.ts';

/** Which grants to list; `live` are those that are issued or active. */
export type GrantAsked = GrantsOf & { readonly status?: GrantStatus | 'live' };

type GrantStatus = ReturnType<typeof grantStatus>;

/** The place of a grant in its order; the id as text. */
export type GrantPlace = { readonly id: string; readonly clientId: string };

/** Returns the walk over the grants that match at a time (ms). Grants of a deleted app or person never do. */
export function walkGrants(
  store: Pick<GrantStore, 'listGrantStates'>,
  { status, ...of }: GrantAsked,
  now: number,
): Required<Walk<GrantState, GrantPlace>> {
  const isMatch = ({ epochsNow, ...grant }: GrantState) =>
    epochsNow !== null && (status === undefined || isIn(status, grantStatus(grant, { epochs: epochsNow }, now)));
  return {
    read: (after, limit) =>
      store.listGrantStates(of, after && { ...after, id: parseGrantId(after.id) as Buffer }, limit),
    placeOf: ({ id, clientId }) => ({ id: grantIdText(id), clientId }),
    match: (grants) => grants.filter(isMatch),
  };
}

function isIn(asked: GrantStatus | 'live', status: GrantStatus): boolean {
  return asked === 'live' ? status === 'issued' || status === 'active' : asked === status;
}
