/**
 * Use marks: a grant's highest used generation, and its last use to ten minutes. Marks are merged into each found
 * grant, and written behind. A crash loses at most the last second of marks, which never makes a check stricter.
 */
import { type Grant, USE_IS_NEWS_AFTER_MS, type Use } from '../../oauth/grants/grant.ts';
import { rowKey } from '../statements/row-key.ts';
import { WriteBehind } from './write-behind.ts';

/** A grant's mark in its written form: the grant's `rowKey`, the highest used generation, and the last use. */
export type Mark = Use & { readonly key: string };

/** The use marks of one instance. A mark's values only increase. */
export class UseMarks extends WriteBehind<Mark> {
  /**
   * Notes a use, unless the grant already shows it to ten minutes. `grant` must be as found, with its mark merged in.
   */
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

  /** Returns the grant as it will be once its mark is written. */
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
