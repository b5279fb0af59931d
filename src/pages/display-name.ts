const invisible = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;
const stackedMarks = /(\p{M}{3})\p{M}+/gu;
let segmenter: Intl.Segmenter | undefined;

/**
 * Makes a name that someone else chose fit to be shown: no control, direction-changing or invisible characters, no stacks of
 * combining marks, one line, at most `limit` characters as people count them (then an ellipsis). Empty if nothing visible is left.
 */
export function displayName(name: string, limit = 100): string {
  // Limits the work: what comes later would be cut anyway, or stands behind a page of invisible characters.
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

/** The first visible character of a name in upper case, for its monogram; empty if it has none. */
export function initial(name: string): string {
  const [first] = charactersOf(displayName(name));
  return first ? first.segment.toUpperCase() : '';
}

/** Characters as people count them. The tables for it are loaded with the first name that is shown, as a language's formats are. */
function charactersOf(text: string): Intl.Segments {
  segmenter ??= new Intl.Segmenter('en', { granularity: 'grapheme' });
  return segmenter.segment(text);
}
