/** The one rule of texts that a person or an operator sets, and others read: names, sentences and contacts. */

/** Controls, line ends, directions, invisible characters, and halves of surrogate pairs. */
const UNREADABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;
/** The joiners of Persian words, and of emoji that are made of several. */
const JOINERS = /[\u200c\u200d]/gu;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * A text of words in some language (`words`: a person's name, a sentence) may hold joiners. A `label`, by which one thing is told
 * from another, may not: two that look alike could differ in them.
 */
export type TextKind = 'label' | 'words';

/** Returns true if a text has nothing that changes or hides what others read. */
export function isReadable(text: string, kind: TextKind): boolean {
  return !UNREADABLE.test(kind === 'words' ? text.replace(JOINERS, '') : text);
}

/** Returns the reason why a text cannot be a name, which has at most `most` characters (code points); null if it can. */
export function nameProblem(name: string, kind: TextKind, what = 'a name', most = 100): string | null {
  // UTF-16 counts at most two for a character: a text of any length is not taken apart.
  const isShort = name.length <= 2 * most && [...name].length <= most;
  if (!isShort || name.trim() !== name || !VISIBLE.test(name))
    return `${what} has 1 to ${most} characters and no space around it`;
  return isReadable(name, kind) ? null : `${what} must not hold control, direction or invisible characters`;
}
