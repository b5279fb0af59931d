/** The operator's acts on the installation's scopes. */

import { NothingThere, OperatorError } from '../../oauth/error.ts';
import { type ScopeDefinition, type ScopeEffect, scopeNameProblem, sentenceProblem } from '../../oauth/grants/scope.ts';
import type { ScopeStore } from '../../oauth/resource-servers/scope-store.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';

/** The meaning of a scope. */
export type ScopeMeaning = Pick<ScopeDefinition, 'sentences' | 'effect'>;

/** The operator's acts on scopes. Each throws an `OperatorError` when it is refused, and then changed nothing. */
export class ScopeRegistry {
  readonly #store: ScopeStore;
  readonly #now: () => number;

  /** `now` returns ms since the epoch. */
  constructor(store: ScopeStore, now: () => number) {
    this.#store = store;
    this.#now = now;
  }

  /** All definitions, by name. */
  list(): Promise<ScopeDefinition[]> {
    return this.#store.listScopes();
  }

  /** One definition, or null. */
  async find(name: string): Promise<ScopeDefinition | null> {
    return (await this.#store.listScopes()).find((scope) => scope.name === name) ?? null;
  }

  /** One definition. */
  async show(name: string): Promise<ScopeDefinition> {
    const found = await this.find(name);
    if (!found)
      throw new NothingThere(`there is no scope ${JSON.stringify(name)}`, null, { command: '"scope list" shows all' });
    return found;
  }

  /**
   * Defines a scope, or changes the sentences of the languages that are given (an empty one removes one), and its effect if
   * that is given.
   */
  async define(
    name: string,
    sentences: Readonly<Record<string, string>>,
    operator: Actor,
    effect?: ScopeEffect | null,
  ): Promise<ScopeDefinition> {
    const known = await this.find(name);
    const merged = Object.entries({ ...known?.sentences, ...sentences }).filter(([, sentence]) => sentence !== '');
    const marked = effect === undefined ? (known?.effect ?? null) : effect;
    return this.#write(name, known, { sentences: Object.fromEntries(merged), effect: marked }, operator);
  }

  /** Defines a scope, or replaces all of its meaning. */
  async put(name: string, meaning: ScopeMeaning, operator: Actor): Promise<ScopeDefinition> {
    return this.#write(name, await this.find(name), meaning, operator);
  }

  async #write(
    name: string,
    known: ScopeDefinition | null,
    { sentences, effect }: ScopeMeaning,
    operator: Actor,
  ): Promise<ScopeDefinition> {
    const problem = scopeNameProblem(name);
    if (problem) throw new OperatorError(`scope ${JSON.stringify(name)}: ${problem}`, 'name');
    for (const [language, sentence] of Object.entries(sentences)) checkSentence(name, language, sentence);
    if (Object.keys(sentences).length === 0)
      throw new OperatorError(`scope ${JSON.stringify(name)} has no sentence`, 'sentences', {
        remedy: 'give one in a language, such as "Read your mail" in "en"',
        command: 'give one, such as --sentence "en=Read your mail"',
      });
    const now = this.#now();
    const scope = { name, sentences, effect, createdAt: known?.createdAt ?? now };
    const event = auditEvent('scope_defined', operator, now, {}, { scope: name });
    if (!(await this.#store.defineScope(scope, known, event)))
      throw new OperatorError(`somebody else changed the scope ${JSON.stringify(name)} at the same time: try again`);
    return scope;
  }

  /** Deletes a definition; clients and grants that have the scope keep it, without the sentence. */
  async delete(name: string, operator: Actor): Promise<ScopeDefinition> {
    const scope = await this.show(name);
    const event = auditEvent('scope_deleted', operator, this.#now(), {}, { scope: name });
    if (!(await this.#store.deleteScope(name, event)))
      throw new OperatorError(`the scope ${JSON.stringify(name)} was deleted at the same time`);
    return scope;
  }
}

function checkSentence(name: string, language: string, sentence: string): void {
  if (!/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(language))
    throw new OperatorError(`${JSON.stringify(language)} is not a language: write en, ar or pt-BR`, 'sentences');
  const problem = sentenceProblem(sentence);
  if (problem) throw new OperatorError(`scope ${JSON.stringify(name)} (${language}): ${problem}`, 'sentences');
}
