/** Markup that is safe to send. Only `html` makes it, so foreign text can never pass for it. */
class Markup {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  toString(): string {
    return this.#text;
  }
}

/** Markup that is safe to send, made by `html`; `String(value)` is its text. */
export type Html = Markup;

/**
 * A template's value: text and numbers are escaped, `Html` is inserted as it is, lists are joined, other values are
 * empty.
 */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[];

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '');
}

function rendered(value: HtmlValue): string {
  if (value === null || value === undefined || value === false) return '';
  if (value instanceof Markup) return value.toString();
  if (typeof value === 'string' || typeof value === 'number') return escaped(String(value));
  return value.map(rendered).join('');
}

/** Makes markup from a template literal: html`<p title="${text}">${text}</p>`. Attribute values must be quoted. */
export function html(literals: TemplateStringsArray, ...values: HtmlValue[]): Html {
  return new Markup(literals.reduce((text, literal, index) => text + rendered(values[index - 1]) + literal));
}
