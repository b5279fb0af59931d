/** The data of the page of one person. */

import type { Permission, PersonField } from '../../consent/permission-list.ts';
import { html } from '../../html/html.ts';
import { isolated } from '../../html/isolated-text.ts';
import type { ActProblem } from '../act-button.ts';
import type { AppsBlastRadius } from '../blast-radius.ts';
import type { ShownEvent } from '../events/shown-event.ts';
import type { Listed } from '../listing.ts';
import type { LastSignIn, TypedPerson } from './people-page.ts';

/** A person's data. Times in ms; null where there is none. */
export type ShownPerson = {
  readonly id: string;
  readonly name: string | null;
  readonly username: string | null;
  readonly email: string | null;
  readonly emailVerified: boolean;
  readonly status: 'active' | 'disabled';
  readonly hasPassword: boolean;
  /** The open link to set a password: when it was made, and when it expires. */
  readonly invitation: { readonly at: number; readonly until: number } | null;
  readonly createdAt: number;
  readonly lastSignIn: LastSignIn;
  readonly identities: readonly { readonly provider: string; readonly subject: string }[];
};

/** One live grant. Times in ms. */
export type ShownGrant = {
  readonly id: string;
  readonly clientId: string;
  readonly appName: string;
  /** True if the app is paused, so that the grant lets it do nothing for now. */
  readonly isPaused: boolean;
  readonly kind: 'app' | 'device' | 'installation';
  readonly isWaiting: boolean;
  readonly permissions: readonly Permission[];
  readonly person: readonly PersonField[];
  readonly since: number;
  readonly lastUsedAt: number | null;
  readonly expiresAt: number;
};

/** A page of live grants, those of one app beside each other. */
export type GrantsData = { readonly list: Listed<ShownGrant>; readonly isFirst: boolean };

/** A live session. Times in ms; `provider` is null after a sign-in here. */
export type PersonSession = {
  readonly createdAt: number;
  readonly lastSeenAt: number;
  readonly provider: string | null;
};

/** The acts that the operator's role allows. */
export type PersonRights = {
  readonly endGrants: boolean;
  readonly support: boolean;
  /** False also where nobody can be invited, since a password is no way to sign in. */
  readonly invite: boolean;
  readonly update: boolean;
  readonly delete: boolean;
};

/** The effects of acts in sentences, by their names in the address. */
export const PERSON_NOTICES = {
  'grant-ended': (app: string) => html`The grant for ${isolated(app)} has ended. Every token of it is refused.`,
  'app-ended': (app: string) => html`All grants for ${isolated(app)} have ended. Every token of them is refused.`,
  'all-ended': 'All grants have ended. The apps are refused.',
  'signed-out': 'Signed out everywhere. All sessions have ended.',
  disabled: 'All sessions of the person have ended, and apps cannot act for them.',
  enabled: 'Enabled. The person can sign in, and apps may act for them again.',
  updated: 'The changes were saved.',
} as const;

/** Data of the page. */
export type PersonData = {
  person: ShownPerson;
  grants: GrantsData;
  sessions: readonly PersonSession[];
  events: readonly ShownEvent[];
  /** The event that disabled the person; null if they are active, or if it is not among their last 1,000 events. */
  disabling: ShownEvent | null;
  /** The grants that end with all of the person. */
  ended: AppsBlastRadius;
  rights: PersonRights;
  /** The form that changes the person: its values, the digests of those that it began with, and the tag of the person then. It is open after a refusal. */
  form: { readonly typed: TypedPerson; readonly shown: string; readonly tag: string; readonly isOpen: boolean };
  /** The tag of the person as the page shows them. */
  tag: string;
  /** The time of the page (ms): whatever is on it began earlier. */
  at: number;
  done: keyof typeof PERSON_NOTICES | null;
  /** The name of the app whose grants ended just now. */
  endedApp: string | null;
  problem: ActProblem | null;
};
