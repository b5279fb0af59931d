/** Where sign-in and sign-out may lead: the pages of ours that ask for a sign-in, and no other path of the host. */
import type { PagePaths } from '../../pages/page-paths.ts';
import { AUTHORIZE_PATH, STANDARD_PATHS } from '../paths.ts';

/**
 * Returns the text if it is the address of one of those pages, with its query; else null. So neither is an open redirect
 * (ASVS 3.7.2), not even to a product that has the same host name. The path is compared as it is written: no other encoding
 * of it passes. A fragment is refused, since browsers would keep it through the next redirect.
 */
export function continuation(paths: PagePaths, text: string | undefined): string | null {
  if (text === undefined || !/^[\x21\x22\x24-\x5b\x5d-\x7e]+$/.test(text)) return null;
  const [path = ''] = text.split('?');
  const pages = [AUTHORIZE_PATH, STANDARD_PATHS.authorize, paths.device, paths.account, paths.apps, paths.password];
  return pages.includes(path) ? text : null;
}
