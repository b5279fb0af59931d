/** The words of a blast radius: the numbers in a question before something ends. */
import { Formats } from '../messages/formats.ts';

/** Bounded numbers; `more` is true if there are more grants than were counted. */
export type BlastRadius = { readonly grants: number; readonly users: number; readonly more: boolean };

const formats = new Formats('en-GB');

/** "3 grants of 2 users", "more than 10,000 grants" or "no grant". */
export function grantsWords({ grants, users, more }: BlastRadius): string {
  if (more) return `more than ${formats.number(grants)} grants`;
  return grants === 0 ? 'no grant' : `${counted(grants, 'grant')} of ${counted(users, 'user')}`;
}

/** "2 users"; "more than 7 users" if not all grants were counted; "No user". */
export function usersWords({ users, more }: BlastRadius): string {
  if (users === 0) return 'No user';
  return `${more ? 'More than ' : ''}${counted(users, 'user')}`;
}

/** The same of one user, by apps: "3 grants of 2 apps". */
export type AppsBlastRadius = Omit<BlastRadius, 'users'> & { readonly apps: number };

/** "3 grants of 2 apps", "more than 10,000 grants" or "no grant". */
export function appGrantsWords({ grants, apps, more }: AppsBlastRadius): string {
  if (more || grants === 0) return grantsWords({ grants, users: 1, more });
  return `${counted(grants, 'grant')} of ${counted(apps, 'app')}`;
}

/** "1 session" or "3 sessions". */
export function counted(count: number, noun: string): string {
  return `${formats.number(count)} ${noun}${count === 1 ? '' : 's'}`;
}
