const invisible = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const stackedMarks = /(\p{M}{3})\p{M}+/gu;
let segmenter: Intl.Segmenter | undefined;

/**
 * Makes a foreign name fit for display: removes control, direction-changing and invisible characters, and stacks of
 * combining marks; one line, at most `limit` characters as people count them (then an ellipsis). Empty if nothing
 * visible is left.
 */
export function displayName(name: string, limit = 100): string {
  // Limits the work: the rest would be cut anyway, or follows a page of invisible characters.
  const visible = name
    .slice(0, 16 * limit)
    .replace(/\p{White_Space}+/gu, ' ')
    .replace(invisible, '')
    .replace(stackedMarks, '$1')
    .replace(/ +/g, ' ')
    .trim();
  const characters = Array.from(charactersOf(visible), ({ segment }) => segment);
  if (characters.length <= limit && name.length <= 16 * limit) return visible;
  return (
    visible &&
    `${characters
      .slice(0, limit - 1)
      .join('')
      .trimEnd()}…`
  );
}

/** Returns the first visible character of a name in upper case, for its monogram; empty if there is none. */
export function initial(name: string): string {
  const [first] = charactersOf(displayName(name));
  return first ? first.segment.toUpperCase() : '';
}

/**
 * Splits a text into characters as people count them. Its tables are loaded at the first use, like a language's
 * formats.
 */
function charactersOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}
