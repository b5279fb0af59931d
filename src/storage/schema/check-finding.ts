/** The result of one check of the storage. */
import { type Fault, faultText } from '../../process/installation-error.ts';

/** The result of one check; `detail` gives the faults, or the sound state, in a few words. */
export type Finding = {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: string;
  /** The first ten faults; absent if there are none. */
  readonly faults?: readonly Fault[];
  /** `true` for a finding that is reported but is no fault. */
  readonly isWarning?: boolean;
};

/** Returns the result of a check that found these faults. */
export function findingOf(name: string, found: readonly Fault[]): Finding {
  if (found.length === 0) return { name, ok: true, detail: 'as it must be' };
  const faults = found.slice(0, 10);
  return { name, ok: false, detail: faults.map(faultText).join('; '), faults };
}
