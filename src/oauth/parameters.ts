/** The parameters of a request, as they came: a name may be repeated, which RFC 6749 §3.1 and §3.2 forbid. */

/** A name with its value; null when the value was not decodable text. */
export type Parameter = readonly [name: string, value: string | null];

/** The values of each name. They are decoded, and nothing is decided on them yet. */
export class Parameters {
  /** The first value of each name, and all values of those that are repeated. */
  readonly #values = new Map<string, string | null>();
  readonly #repeated = new Map<string, (string | null)[]>();

  constructor(pairs: Iterable<Parameter>) {
    for (const [name, value] of pairs) {
      // JSON can hold half of a surrogate pair, which no redirect could carry back.
      const text = value?.isWellFormed() ? value : null;
      const first = this.#values.get(name);
      const all = this.#repeated.get(name);
      if (first === undefined) this.#values.set(name, text);
      else if (all) all.push(text);
      else this.#repeated.set(name, [first, text]);
    }
  }

  /** The value of a parameter; undefined when it is absent, empty (the same, RFC 6749 §3.1), repeated or not text. */
  get(name: string): string | undefined {
    return this.#repeated.has(name) ? undefined : this.#values.get(name) || undefined;
  }

  /** The value as from `get`, but an empty text where it came empty: an empty number is refused, not taken for none. */
  getNumber(name: string): string | undefined {
    return this.#values.get(name) === '' && !this.#repeated.has(name) ? '' : this.get(name);
  }

  /** All values of a parameter that may be repeated, without empty ones and those that are not text. */
  all(name: string): string[] {
    return (this.#repeated.get(name) ?? [this.#values.get(name) ?? null]).filter(
      (value): value is string => value !== null && value !== '',
    );
  }

  /** True if the parameter came, with any value, even an empty one. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** The names of all parameters, each once. */
  names(): string[] {
    return [...this.#values.keys()];
  }

  /** Returns these parameters without those of a name. */
  without(name: string): Parameters {
    const rest = new Parameters([]);
    for (const [each, value] of this.#values) if (each !== name) rest.#values.set(each, value);
    for (const [each, values] of this.#repeated) if (each !== name) rest.#repeated.set(each, values);
    return rest;
  }

  /** The name of the first parameter; undefined without any. */
  firstName(): string | undefined {
    return this.#values.keys().next().value;
  }

  /** True if the parameter has a value that is not empty, be it text or not, once or repeated. */
  isSent(name: string): boolean {
    return this.#repeated.has(name) || (this.#values.has(name) && this.#values.get(name) !== '');
  }

  /**
   * The public reason why the parameters cannot be used, or null: a parameter outside `repeatable` is repeated, or one of the
   * endpoint's `known` parameters is not text. Other parameters are ignored unless they are repeated. Their names are never
   * shown, because they are input.
   */
  problem(known: readonly string[], repeatable: readonly string[] = []): string | null {
    for (const name of known) {
      const all = this.#repeated.get(name);
      if (all && !repeatable.includes(name)) return `${name} is repeated`;
      if (all ? all.includes(null) : this.#values.get(name) === null) return `${name} is not a string in UTF-8`;
    }
    for (const name of this.#repeated.keys()) if (!repeatable.includes(name)) return 'a parameter is repeated';
    return null;
  }
}
