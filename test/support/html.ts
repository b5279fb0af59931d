/** The text in a page's HTML. */

/** The text of HTML without its tags, each run of white space as one space. Character references stay as they are. */
export const textOf = (html: string): string =>
  html
    .replaceAll('<wbr>', '')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ');
