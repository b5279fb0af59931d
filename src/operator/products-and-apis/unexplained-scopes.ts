/** Scopes that consent pages cannot explain, or of which they cannot say what they do. */

import type { ClientStore } from '../../oauth/clients/client-store.ts';
import { effectOf, sentenceFor } from '../../oauth/grants/scope.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';
import { walkOldest } from '../lists/client-pages.ts';
import { everyPage } from '../lists/page.ts';

/** Names of scopes of active apps, sorted: those without any sentence, and those without an effect. */
export type UnexplainedScopes = {
  readonly withoutSentence: readonly string[];
  readonly withoutEffect: readonly string[];
};

/** Lists the scopes of active apps that neither their app nor a definition explains, and those that no definition gives an effect. */
export async function unexplainedScopes(
  store: Pick<ClientStore, 'listClients'> & Pick<ScopeStore, 'listScopes'>,
): Promise<UnexplainedScopes> {
  const definitions = await store.listScopes();
  const withoutSentence = new Set<string>();
  const withoutEffect = new Set<string>();
  for await (const clients of everyPage(walkOldest(store, { status: 'active' }))) {
    for (const scope of clients.flatMap(({ scopes }) => scopes)) {
      if (sentenceFor(scope, definitions, 'en') === null) withoutSentence.add(scope.name);
      if (effectOf(scope.name, definitions) === null) withoutEffect.add(scope.name);
    }
  }
  return { withoutSentence: [...withoutSentence].sort(), withoutEffect: [...withoutEffect].sort() };
}
