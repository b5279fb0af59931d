/** The effects of acts that several pages offer, in sentences. */
import { type Html, html } from '../html/html.ts';
import { isolated } from '../html/isolated-text.ts';
import { type BlastRadius, grantsWords } from './blast-radius.ts';

/** Returns the effect of ending one grant of an app. */
export function endGrantEffect(app: string, isOnly = false): Html {
  const others = !isOnly && html` Other grants of ${isolated(app)} stay.`;
  return html`Ends 1 grant: every token of it is refused at once.${others} The person can allow ${isolated(app)} again.`;
}

/** Returns the effect of ending all grants of an app. */
export function endAppGrantsEffect(app: string, grants: BlastRadius): Html {
  return html`Ends ${grantsWords(grants)}. All tokens of ${isolated(app)} are refused at once, and its users must allow it again.`;
}

/** Returns the effect of pausing an app. */
export function pauseAppEffect(app: string, grants: BlastRadius): Html {
  return html`Refuses every request of ${isolated(app)} (${grantsWords(grants)}) at once, until you resume it. An open pick-up link ends. Grants stay.`;
}

/** True if an act on these grants would end at least one. */
export function hasGrants({ grants, more }: Pick<BlastRadius, 'grants' | 'more'>): boolean {
  return grants > 0 || more;
}
