/** Text that a terminal may be given. */

/**
 * A line as it may be printed: characters that command a terminal or turn the direction of text are written as
 * `\u001b`, which is also how JSON writes them. Names come from people, and details from requests.
 */
export function plain(line: string): string {
  return line.replace(
    /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
