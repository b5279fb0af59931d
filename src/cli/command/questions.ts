/** The questions that commands ask before they act, one for each command that asks. Their facts are names and counts. */

/** Retiring a secret that is still in use asks the same for all that have secrets. */
const retires = (which: string, name: string, lastUse: string) =>
  `The ${which} secret of ${name} was ${lastUse}: retire it?`;

const endsGrants = (whose: string, grants: string) => `End all grants of ${whose} (${grants})? This cannot be undone.`;

const deletesWithGrants = (name: string, grants: string) => `Delete ${name}, with ${grants}? This cannot be undone.`;

/**
 * The question of each command that asks, by the command's name. These commands and no others have `--yes`; without it and
 * without a terminal they refuse to act.
 */
export const QUESTIONS = {
  'client register': (name) => `Register ${name}?`,
  'client refresh': (name) => `Apply these changes to ${name}?`,
  'client retire-secret': retires,
  'client revoke-grants': endsGrants,
  'client delete': deletesWithGrants,
  'resource-server retire-secret': retires,
  'resource-server delete': (name) => `Delete ${name}? It can no longer check tokens. This cannot be undone.`,
  'scope delete': (name) => `Delete the definition of ${name}, in every language? This cannot be undone.`,
  'user revoke-grants': endsGrants,
  'user delete': deletesWithGrants,
  'identity-provider retire-secret': retires,
  'identity-provider end-all': (name, since) =>
    `End all sessions and grants that came through ${name} since ${since}? This cannot be undone.`,
  'identity-provider delete': (name) => `Delete ${name}? Nobody can sign in with it any more. This cannot be undone.`,
  'operator delete': (name) => `Delete the operator ${name}? This cannot be undone.`,
  'operator reset': (name, passkeys) => `End ${passkeys} passkeys and all sessions of ${name}?`,
  'grant revoke': (which) => `End ${which}? This cannot be undone.`,
  'database restore': (act, ends) => `${act}? ${ends}.`,
  'keys retire': (id, ends) => `Retire root key ${id}? Its credentials stop working.${ends}`,
} satisfies Record<string, (...facts: string[]) => string>;

/** A command that asks. */
export type AskingCommand = keyof typeof QUESTIONS;
