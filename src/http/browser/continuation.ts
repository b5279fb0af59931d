/** Where sign-in and sign-out may lead: the pages of ours that ask for a sign-in, and no other path of the host. */
import type { PagePaths } from '../../pages/page-paths.ts';
import { AUTHORIZE_PATH, STANDARD_PATHS } from '../paths.ts';

/**
 * The address of one of those pages, with its query, as it was given; null for every other text, since neither may be
 * an open redirect (ASVS 3.7.2), also not to the product that has the same host name. A path is compared as it is
 * written, so no encoding of another one passes. A fragment is none of ours: it would be kept in the next redirect.
 */
export function continuation(paths: PagePaths, text: string | undefined): string | null {
  if (text === undefined || !/^[\x21\x22\x24-\x5b\x5d-\x7e]+$/.test(text)) return null;
  const [path = ''] = text.split('?');
  const pages = [AUTHORIZE_PATH, STANDARD_PATHS.authorize, paths.device, paths.apps, paths.password];
  return pages.includes(path) ? text : null;
}
