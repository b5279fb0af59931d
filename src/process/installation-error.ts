/** The installation cannot run as it is set up: one sentence for each mistake, with its remedy. Nothing was changed. */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';

  constructor(mistakes: readonly string[]) {
    super(mistakes.length === 1 ? mistakes[0] : mistakes.map((mistake) => `- ${mistake}`).join('\n'));
  }
}
