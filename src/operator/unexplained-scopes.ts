/** Scopes that consent pages cannot explain, or of which they cannot say what they do. */
import type { Client } from '../oauth/clients/client.ts';
import type { ClientStore } from '../oauth/clients/client-store.ts';
import type { ScopeStore } from '../oauth/clients/scope-store.ts';
import { effectOf, sentenceFor } from '../oauth/grants/scope.ts';

/** Names of scopes of active apps, sorted: those without any sentence, and those without an effect. */
export type UnexplainedScopes = {
  readonly withoutSentence: readonly string[];
  readonly withoutEffect: readonly string[];
};

const PAGE = 500;

/** Lists the scopes of active apps that neither their app nor a definition explains, and those that no definition gives an effect. */
export async function unexplainedScopes(
  store: Pick<ClientStore, 'listClients'> & Pick<ScopeStore, 'listScopes'>,
): Promise<UnexplainedScopes> {
  const definitions = await store.listScopes();
  const [withoutSentence, withoutEffect] = [new Set<string>(), new Set<string>()];
  for (let after: Client | null = null; ; ) {
    const page: Client[] = await store.listClients(after, PAGE);
    const scopes = page.flatMap((client) => (client.status === 'active' ? client.scopes : []));
    for (const scope of scopes) {
      if (sentenceFor(scope, definitions, 'en') === null) withoutSentence.add(scope.name);
      if (effectOf(scope.name, definitions) === null) withoutEffect.add(scope.name);
    }
    after = page.at(-1) ?? null;
    if (page.length < PAGE) break;
  }
  return { withoutSentence: [...withoutSentence].sort(), withoutEffect: [...withoutEffect].sort() };
}
