/** The page of a list that an address of the console asks for. */
import type { Parameters } from '../../../oauth/parameters.ts';
import type { AskedPage } from '../../../operator/lists/lists.ts';

/** Number of items of a page, which stays below 50 KB. */
const PAGE_LENGTH = 40;

/** Returns the page that a query asks for, of `limit` items at most. */
export function askedPage(query: Parameters, limit = PAGE_LENGTH): AskedPage {
  return { limit, after: query.get('after') };
}

/** Returns the value of a filter, if it is one of those that the page offers; otherwise '', which filters nothing. */
export function chosenOption<Value extends string>(
  query: Parameters,
  name: string,
  options: readonly (readonly [value: Value, ...rest: unknown[]])[],
): Value | '' {
  return options.map(([value]) => value).find((value) => value === query.get(name)) ?? '';
}

/** Returns the name of the act that an address says was done, if the page has a sentence for it; otherwise null. */
export function doneIn<Notices extends object>(query: Parameters, notices: Notices): (keyof Notices & string) | null {
  const said = query.get('done') ?? '';
  return Object.hasOwn(notices, said) ? (said as keyof Notices & string) : null;
}
