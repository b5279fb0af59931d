/** The operator's acts on the installation's scopes. */

import type { ScopeStore } from '../oauth/clients/scope-store.ts';
import { OperatorError } from '../oauth/error.ts';
import { type ScopeDefinition, type ScopeEffect, scopeNameProblem, sentenceProblem } from '../oauth/grants/scope.ts';
import { type Actor, auditEvent } from '../oauth/trail/audit.ts';

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

  /** One definition. */
  async show(name: string): Promise<ScopeDefinition> {
    const found = (await this.#store.listScopes()).find((scope) => scope.name === name);
    if (!found) throw new OperatorError(`there is no scope ${JSON.stringify(name)}: "scope list" shows all`);
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
    const problem = scopeNameProblem(name);
    if (problem) throw new OperatorError(`scope ${JSON.stringify(name)}: ${problem}`);
    const known = (await this.#store.listScopes()).find((scope) => scope.name === name) ?? null;
    const merged = Object.entries({ ...known?.sentences, ...sentences }).filter(([, sentence]) => sentence !== '');
    for (const [language, sentence] of merged) checkSentence(name, language, sentence);
    if (merged.length === 0)
      throw new OperatorError(`scope ${JSON.stringify(name)}: give a sentence, such as --sentence "en=Read your mail"`);
    const now = this.#now();
    const marked = effect === undefined ? (known?.effect ?? null) : effect;
    const scope = { name, sentences: Object.fromEntries(merged), effect: marked, createdAt: known?.createdAt ?? now };
    const event = auditEvent('scope_defined', operator, now, { detail: name });
    if (!(await this.#store.defineScope(scope, known, event)))
      throw new OperatorError(`somebody else changed the scope ${JSON.stringify(name)} at the same time: try again`);
    return scope;
  }

  /** Deletes a definition; clients and grants that have the scope keep it, without the sentence. */
  async delete(name: string, operator: Actor): Promise<ScopeDefinition> {
    const scope = await this.show(name);
    const event = auditEvent('scope_deleted', operator, this.#now(), { detail: name });
    if (!(await this.#store.deleteScope(name, event)))
      throw new OperatorError(`the scope ${JSON.stringify(name)} was deleted at the same time`);
    return scope;
  }
}

function checkSentence(name: string, language: string, sentence: string): void {
  if (!/^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(language))
    throw new OperatorError(`${JSON.stringify(language)} is not a language: write en, ar or pt-BR`);
  const problem = sentenceProblem(sentence);
  if (problem) throw new OperatorError(`scope ${JSON.stringify(name)} (${language}): ${problem}`);
}
