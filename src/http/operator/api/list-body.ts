/** Answers with pages of lists. */
import type { ListPage } from '../../../operator/lists/lists.ts';
import { invalidParameter } from './query.ts';

/** Returns the body of a page, or throws the error of a cursor that is none. `json` makes an item's JSON. */
export async function listBody<Item>(
  page: ListPage<Item> | null,
  json: (item: Item) => object | Promise<object>,
): Promise<object> {
  if (page === null)
    throw invalidParameter(
      'after',
      'is no cursor of this list with this filter, or is older than a day: begin without it',
    );
  return { items: await Promise.all(page.items.map(json)), next: page.next };
}
