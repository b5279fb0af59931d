/** A scope as commands and an API print it. */
import type { ScopeDefinition } from '../../oauth/grants/scope.ts';
import { isoTime } from './time.ts';

/** A scope for programs. */
export type ScopeJson = ReturnType<typeof scopeJson>;

/** Returns a scope's meaning. */
export function scopeJson({ name, sentences, effect, createdAt }: ScopeDefinition) {
  return { name, sentences, effect, created_at: isoTime(createdAt) };
}
