/** The installation cannot run as it is: every mistake in one sentence that says the remedy. Nothing was changed. */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';

  constructor(mistakes: readonly string[]) {
    super(mistakes.length === 1 ? mistakes[0] : mistakes.map((mistake) => `- ${mistake}`).join('\n'));
  }
}
