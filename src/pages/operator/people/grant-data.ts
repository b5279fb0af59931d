/** The data of the page of one grant. */

import type { RecordedCause } from '../../../oauth/activity/failure-summary.ts';
import type { Permission, PersonField } from '../../consent/permission-list.ts';
import { html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { ActProblem } from '../act-button.ts';
import type { ShownEvent, Thing } from '../events/shown-event.ts';

/** The facts in a grant's row. Times in ms; null where there is none. */
export type GrantFacts = {
  readonly permissions: readonly Permission[];
  readonly personFields: readonly PersonField[];
  /** The scopes that the person deselected. */
  readonly leftOut: readonly string[];
  /** Null for a device. */
  readonly redirectUri: string | null;
  readonly resource: string | null;
  readonly provider: string | null;
  readonly signedInAt: number;
  readonly grantedAt: number;
  /** Number of exchanges and refreshes: 0 while the code is not redeemed. */
  readonly generation: number;
  readonly rotatedAt: number;
  /** The network address of the last exchange or refresh. */
  readonly presentedFrom: string | null;
  /** The last check of a token by an API, to ten minutes. */
  readonly lastUsedAt: number | null;
  readonly expiresAt: number;
  readonly absoluteExpiresAt: number;
  readonly revokedAt: number | null;
  readonly appPaused: boolean;
  readonly personDisabled: boolean;
};

/** The effects of acts in sentences, by their names in the address. */
export const GRANT_NOTICES = {
  ended: (app: string, person: string) =>
    html`The grant for ${isolated(app)} has ended. Every token of it is refused. ${isolated(person)} can allow the app again.`,
} as const;

/** The story of a grant, from its Allow to its end. */
export type GrantStoryData = {
  /** `gone`: the row was deleted, and only the audit trail knows the grant. */
  readonly status: 'issued' | 'active' | 'expired' | 'revoked' | 'gone';
  readonly app: Thing | null;
  readonly person: Thing | null;
  readonly row: GrantFacts | null;
  /** The event of the Allow, and the one that ended the grant. */
  readonly given: ShownEvent | null;
  readonly ending: ShownEvent | null;
  /** The presentation before the one that ended the grant, where a code or token came twice; `at` in ms. */
  readonly before: { readonly at: number; readonly source: string } | null;
  /** The refused requests about the grant, as far as they are recorded. */
  readonly refusals: readonly RecordedCause[];
  /** True if the ending may lie beyond the searched part of the trail. */
  readonly isCut: boolean;
};

/** Data of the page. */
export type GrantData = GrantStoryData & {
  id: string;
  /** The last events, oldest first; `hasMore` if there are earlier ones. */
  events: readonly ShownEvent[];
  hasMore: boolean;
  mayEnd: boolean;
  done: keyof typeof GRANT_NOTICES | null;
  problem: ActProblem | null;
};
