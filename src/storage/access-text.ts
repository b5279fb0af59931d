/** What grants gave as text in a column: JSON, an object for each resource. */
import { type GrantedAccess, together } from '../oauth/granted-access.ts';

/** The text for what several grants gave together; null for none. */
export function accessText(grants: readonly GrantedAccess[] | null): string | null {
  return grants && JSON.stringify(together(grants));
}

/** What a text says. */
export function parseAccess(text: string | null): GrantedAccess[] | null {
  return text === null ? null : (JSON.parse(text) as GrantedAccess[]);
}
