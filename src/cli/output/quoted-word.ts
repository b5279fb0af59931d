/** Returns a word as a shell reads it back, in quotes where it needs them. */
export function quotedWord(word: string): string {
  return /^[\w.:/@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
