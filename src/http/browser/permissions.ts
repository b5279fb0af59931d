/** Scopes as pages show them, with a sentence in the page's language. */
import type { Client } from '../../oauth/client.ts';
import { sentenceFor } from '../../oauth/scope.ts';
import type { Permission } from '../../pages/permissions.ts';
import type { Service } from '../service.ts';

/** What a client asks for; `granted` is what it may do already, or null when that is nothing. */
export async function permissionsToAsk(
  service: Service,
  client: Client,
  scope: readonly string[],
  granted: readonly string[] | null,
  language: string,
): Promise<Permission[]> {
  const definitions = await service.scopes.listScopes();
  return client.scopes
    .filter(({ name }) => scope.includes(name))
    .map(({ name, sentence, optional }) => ({
      name,
      sentence: sentenceFor({ name, sentence }, definitions, language),
      optional,
      isNew: granted !== null && !granted.includes(name),
    }));
}

/** What a client was granted, even if it is not registered for all of that any more. */
export async function permissionsGranted(
  service: Service,
  client: Client | null,
  scope: readonly string[],
  language: string,
): Promise<Permission[]> {
  const definitions = await service.scopes.listScopes();
  return scope.map((name) => {
    const known = client?.scopes.find((registered) => registered.name === name) ?? { name, sentence: null };
    return { name, sentence: sentenceFor(known, definitions, language) };
  });
}
