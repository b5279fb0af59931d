/** The pages that sign-in and sign-out may lead to: our pages that ask for a sign-in, and no other path of the host. */
import type { PagePaths } from '../../../pages/layout/page-paths.ts';
import { AUTHORIZE_PATH, STANDARD_PATHS } from '../../service/paths.ts';

/**
 * Returns the text if it is the address of such a page, with its query; else null. So sign-in is no open redirect
 * (ASVS 3.7.2), not even to a product on the same host name. Compares the path as written: no other encoding passes.
 * Refuses a fragment: browsers would keep it through the next redirect.
 */
export function continuation(paths: PagePaths, text: string | undefined): string | null {
  if (text === undefined || !/^[\x21\x22\x24-\x5b\x5d-\x7e]+$/.test(text)) return null;
  const [path = ''] = text.split('?');
  const pages = [AUTHORIZE_PATH, STANDARD_PATHS.authorize, paths.device, paths.account, paths.apps, paths.password];
  return pages.includes(path) ? text : null;
}
