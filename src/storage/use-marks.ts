/**
 * Use marks: the highest generation of a grant that was used, and when, to ten minutes. They are merged into each grant that
 * is found, and written behind. A crash loses at most the last second, and then allows more and not less.
 */
import { type Grant, USE_IS_NEWS_AFTER_MS, type Use } from '../oauth/grants/grant.ts';
import { rowKey } from './row-key.ts';
import { WriteBehind } from './write-behind.ts';

/** A grant's mark, as it is written: its `rowKey`, the highest generation used, and the last time. */
export type Mark = Use & { readonly key: string };

/** The marks of one instance. They only ever grow. */
export class UseMarks extends WriteBehind<Mark> {
  /** Notes a use, unless the mark says the same to ten minutes. `grant` is as it was found, with its mark merged in. */
  note(grant: Grant, { generation, usedAt }: Use): void {
    const lastUsedAt = grant.lastUsedAt ?? 0;
    if (generation <= grant.usedGeneration && usedAt - lastUsedAt < USE_IS_NEWS_AFTER_MS) return;
    const key = rowKey(grant.id);
    const mark = this.get(key);
    this.set({
      key,
      generation: Math.max(generation, mark?.generation ?? 0),
      usedAt: Math.max(usedAt, mark?.usedAt ?? 0),
    });
  }

  /** Returns the grant as it will be when its mark is written. */
  merge(grant: Grant): Grant {
    const mark = this.get(rowKey(grant.id));
    if (!mark) return grant;
    return {
      ...grant,
      usedGeneration: Math.max(grant.usedGeneration, mark.generation),
      lastUsedAt: Math.max(grant.lastUsedAt ?? 0, mark.usedAt),
    };
  }
}
