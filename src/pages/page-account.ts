import type { Html } from './html.ts';
import { isolated } from './isolated.ts';
import type { Messages } from './messages/messages.ts';

/** The signed-in person, as pages show them: only a verified address, and where the account is, for one without a name. */
export type PageAccount = { name: string | null; email: string | null; at: string };

/** The name of a person, else the account by where it is. */
export function accountName({ account: texts }: Messages, { name, at }: PageAccount): Html {
  return name === null ? texts.at(at) : isolated(name);
}
