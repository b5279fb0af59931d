/** The authorization request in an address of ours: its face, and whether it is valid. */
import type { AuthorizationRequest, Face } from '../../../oauth/protocol/authorization-request.ts';
import { decodeQuery } from '../../request/decoding.ts';
import { AUTHORIZE_PATH, STANDARD_PATHS } from '../../service/paths.ts';
import type { Service } from '../../service/service.ts';

/** The faces by the path of their authorization page. */
export const FACES: Readonly<Record<string, Face>> = {
  [AUTHORIZE_PATH]: 'published',
  [STANDARD_PATHS.authorize]: 'standard',
};

/** Returns the valid authorization request in an address of ours; null for other pages, and for a refused request. */
export async function requestOnTheWay(
  { authorizationServer }: Service,
  continueTo: string | null,
): Promise<AuthorizationRequest | null> {
  const face = continueTo === null ? undefined : FACES[continueTo.replace(/\?.*$/s, '')];
  if (continueTo === null || face === undefined) return null;
  const query = decodeQuery(continueTo.slice(continueTo.indexOf('?') + 1));
  const outcome = await authorizationServer.validateRequest(face, query);
  return outcome.kind === 'valid' ? outcome : null;
}
