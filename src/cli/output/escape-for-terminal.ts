/** Text that is safe to print on a terminal. */

/**
 * Escapes characters that control a terminal or change the direction of text, such as `\u001b`; JSON escapes them in the same
 * way. Names, which users choose, and details, which come from requests, can contain them.
 */
export function escapeForTerminal(line: string): string {
  return line.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
