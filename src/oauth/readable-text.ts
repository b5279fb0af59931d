/** The one rule of texts that a person or an operator sets, and others read: names, sentences and contacts. */

/** Controls, line ends, directions, invisible characters, and halves of surrogate pairs; of words without the two joiners. */
const UNREADABLE = {
  label: /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u,
  words: /(?![\u200c\u200d])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u,
} as const;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;

/**
 * A text of words in some language (`words`: a person's name, a sentence) may hold the joiners of Persian and of emoji. A `label`, by
 * which one thing is told from another, may not: two that look alike could differ in them.
 */
export type TextKind = keyof typeof UNREADABLE;

/** Returns true if a text has nothing that changes or hides what others read. */
export function isReadable(text: string, kind: TextKind): boolean {
  return !UNREADABLE[kind].test(text);
}

/** Returns the reason why a text cannot be a name, which has at most `most` characters (code points); null if it can. */
export function nameProblem(name: string, kind: TextKind, what = 'a name', most = 100): string | null {
  // UTF-16 counts at most two for a character: a text of any length is not taken apart.
  const isShort = name.length <= 2 * most && [...name].length <= most;
  if (!isShort || name.trim() !== name || name === '')
    return `${what} has 1 to ${most} characters and no space around it`;
  if (!isReadable(name, kind)) return `${what} must not hold control, direction or invisible characters`;
  return VISIBLE.test(name) ? null : `${what} has a letter, a digit or a sign`;
}
