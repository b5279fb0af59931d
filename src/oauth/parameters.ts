/** The parameters of a request, as they came: a name may be repeated, which RFC 6749 §3.1 and §3.2 forbid. */

/** A name with its value; null when the value was not decodable text. */
export type Parameter = readonly [name: string, value: string | null];

/** Names to all values that came. A face has decoded them; nothing is decided on them yet. */
export class Parameters {
  readonly #values = new Map<string, (string | null)[]>();

  constructor(pairs: Iterable<Parameter>) {
    for (const [name, value] of pairs) {
      const known = this.#values.get(name);
      if (known) known.push(value);
      else this.#values.set(name, [value]);
    }
  }

  /** The value of a parameter; undefined when it is absent, empty (the same, RFC 6749 §3.1) or unusable. */
  get(name: string): string | undefined {
    const values = this.#values.get(name);
    return values?.length === 1 && values[0] ? values[0] : undefined;
  }

  /** Whether the parameter came, with whatever value, even an empty one. */
  has(name: string): boolean {
    return this.#values.has(name);
  }

  /** Whether one parameter, or any when no name is given, came more than once or was not decodable text. */
  isUnusable(name?: string): boolean {
    if (name === undefined) return [...this.#values.values()].some(unusable);
    return unusable(this.#values.get(name) ?? ['']);
  }
}

function unusable(values: readonly (string | null)[]): boolean {
  return values.length > 1 || values[0] === null;
}
