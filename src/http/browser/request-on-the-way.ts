/** The authorization request that a sign-in is for. */
import type { AuthorizationRequest } from '../../oauth/authorization-request.ts';
import { decodeQuery } from '../decoding.ts';
import type { Service } from '../service.ts';
import { faceOf } from './face-paths.ts';

/** The valid authorization request at an address of ours; null for other pages, and for a request that is refused. */
export async function requestOnTheWay(
  { authorizationServer }: Service,
  continueTo: string | null,
): Promise<AuthorizationRequest | null> {
  const face = continueTo === null ? null : faceOf(continueTo);
  if (continueTo === null || face === null) return null;
  const query = decodeQuery(continueTo.slice(continueTo.indexOf('?') + 1));
  const outcome = await authorizationServer.validateRequest(face, query);
  return outcome.kind === 'valid' ? outcome : null;
}
