/** Which face's authorization page is at a path. */
import type { Face } from '../../oauth/authorization-request.ts';
import { AUTHORIZE_PATH, STANDARD_PATHS } from '../paths.ts';

/** The faces by the path of their authorization page. */
export const FACES: Readonly<Record<string, Face>> = {
  [AUTHORIZE_PATH]: 'published',
  [STANDARD_PATHS.authorize]: 'standard',
};

/** The face whose authorization page is at a path, which may have a query; or null. */
export function faceOf(path: string): Face | null {
  return FACES[path.replace(/\?.*$/s, '')] ?? null;
}
