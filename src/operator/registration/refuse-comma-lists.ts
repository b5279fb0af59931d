/**
 * Refuses lists with commas where each entry must be an argument of its own. A comma is legal in a redirect URI and in a
 * scope. So without this such a list would be registered as one entry, which nothing ever matches.
 */
import type { ClientType } from '../../oauth/clients/client.ts';
import { redirectUriProblem } from '../../oauth/clients/redirect-uri.ts';
import { OperatorError } from '../../oauth/error.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';

/** Throws an `OperatorError` if an address follows a comma: in the same entry, or as the next one. */
export function refuseCommaListOfUris(uris: readonly string[], type: ClientType): void {
  const isAddress = (text: string) => /^https?:\/\//i.test(text) || redirectUriProblem(text, type) === null;
  for (const [index, uri] of uris.entries()) {
    const [, ...after] = uri.split(',').map((part) => part.trim());
    if (after.some(isAddress) || (uri.endsWith(',') && index + 1 < uris.length))
      throw severalInOne(
        'redirect_uris',
        uri,
        '--redirect-uri https://one.example/callback https://two.example/callback',
      );
  }
}

/** Throws an `OperatorError` if each part of a scope is itself a scope that is defined. */
export async function refuseCommaListOfScopes(
  names: readonly string[],
  store: Pick<ScopeStore, 'listScopes'>,
): Promise<void> {
  const lists = names.filter((name) => name.includes(','));
  if (lists.length === 0) return;
  const defined = new Set((await store.listScopes()).map(({ name }) => name));
  const partsOf = (name: string) => name.split(',').filter((part) => part !== '');
  const list = lists.find((name) => !defined.has(name) && partsOf(name).every((part) => defined.has(part)));
  if (list !== undefined) throw severalInOne('scopes', list, `--scope ${partsOf(list).join(' ')}`);
}

function severalInOne(field: 'redirect_uris' | 'scopes', text: string, command: string): OperatorError {
  const what = field === 'scopes' ? 'scope' : 'redirect URI';
  return new OperatorError(`${what} ${JSON.stringify(text)} is a list with commas`, field, {
    remedy: `give each ${what} as an entry of its own`,
    command: `give each entry as a separate argument (${command})`,
  });
}
