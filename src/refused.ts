/** The installation cannot run as it is: every mistake in one sentence that says the remedy. Nothing was changed. */
export class Refused extends Error {
  override readonly name = 'Refused';

  constructor(mistakes: readonly string[]) {
    super(mistakes.length === 1 ? mistakes[0] : mistakes.map((mistake) => `- ${mistake}`).join('\n'));
  }
}
