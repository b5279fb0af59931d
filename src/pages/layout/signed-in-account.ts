import type { Html } from '../html/html.ts';
import { isolated } from '../html/isolated-text.ts';
import type { Messages } from '../messages/messages.ts';

/**
 * The signed-in user on pages: only a verified address, the place of the account (`at`) for a user without a name, and the
 * home page of the product at that place, if it has one.
 */
export type PageAccount = { name: string | null; email: string | null; at: string; homePage: string | null };

/** Returns the user's name, or else the place of the account. */
export function accountName({ account: texts }: Messages, { name, at }: PageAccount): Html {
  return name === null ? texts.at(at) : isolated(name);
}
