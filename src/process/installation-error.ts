/**
 * Thrown if the installation cannot run with its settings: one sentence per mistake, with the remedy. Nothing was
 * changed.
 */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';

  constructor(mistakes: readonly string[]) {
    super(mistakes.length === 1 ? mistakes[0] : mistakes.map((mistake) => `- ${mistake}`).join('\n'));
  }
}
