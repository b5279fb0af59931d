/** A problem of an installation, and its remedy; null if the problem implies one, or there is none. */
export type Fault = { readonly problem: string; readonly remedy: string | null };

/** Returns a fault as the one text that starts and commands show. */
export function faultText({ problem, remedy }: Fault): string {
  return remedy === null ? problem : `${problem}: ${remedy}`;
}

/** Thrown if the installation cannot run with its settings. Nothing was changed. */
export class InstallationError extends Error {
  override readonly name = 'InstallationError';
  readonly faults: readonly Fault[];

  constructor(...faults: readonly Fault[]) {
    const texts = faults.map(faultText);
    super(texts.length === 1 ? texts[0] : texts.map((text) => `- ${text}`).join('\n'));
    this.faults = faults;
  }
}
