/** The words of a blast radius: the numbers in a question before something ends. */
import { Formats } from '../messages/formats.ts';

/** Bounded numbers: `users` is null if they were not counted, and `more` true if not all grants were. */
export type BlastRadius = { readonly grants: number; readonly users: number | null; readonly more: boolean };

const formats = new Formats('en-GB');

/** "3 grants of 2 users", "1,200 grants", "more than 10,000 grants" or "no grant". */
export function grantsWords({ grants, users, more }: BlastRadius): string {
  if (more)
    return grants === 0 ? 'an unknown number of grants' : `more than ${numberWithNoun(rounded(grants), 'grant')}`;
  if (grants === 0) return 'no grant';
  return users === null
    ? numberWithNoun(grants, 'grant')
    : `${numberWithNoun(grants, 'grant')} of ${numberWithNoun(users, 'user')}`;
}

/** Rounds down: how far a page counts depends on its time. */
function rounded(grants: number): number {
  return grants < 1000 ? grants : grants - (grants % 1000);
}

/** The same of one user, by apps: `apps` is null if they were not counted. */
export type AppsBlastRadius = Omit<BlastRadius, 'users'> & { readonly apps: number | null };

/** "3 grants of 2 apps", "1,200 grants", "more than 10,000 grants" or "no grant". */
export function appGrantsWords({ grants, apps, more }: AppsBlastRadius): string {
  if (more || grants === 0 || apps === null) return grantsWords({ grants, users: null, more });
  return `${numberWithNoun(grants, 'grant')} of ${numberWithNoun(apps, 'app')}`;
}

/** "1 session" or "3 sessions". */
export function numberWithNoun(count: number, noun: string): string {
  return `${formats.number(count)} ${noun}${count === 1 ? '' : 's'}`;
}
