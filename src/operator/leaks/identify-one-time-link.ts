/** Identifies found one-time links, by the whole URL or the bare token. A look uses no link up. */
import { findInvited } from '../../accounts/passwords/invitation.ts';
import { accountLabel } from '../../accounts/people/account.ts';
import type { AccountStore } from '../../accounts/people/store.ts';
import { operatorTokenDigest } from '../access/operator-session.ts';
import type { OperatorStore } from '../access/operator-store.ts';
import { digestOfToken, type HandOver, type HandOverSubject, handOverProblem } from '../hand-over/hand-over.ts';
import type { HandOverStore } from '../hand-over/hand-over-store.ts';
import { findSubject, type SubjectStore } from '../hand-over/hand-overs.ts';
import type { Identified } from './identified-credential.ts';

/** The store of one-time links. */
export type LinkStore = SubjectStore &
  Pick<HandOverStore, 'findHandOver'> &
  Pick<OperatorStore, 'findOneTimeAddress'> &
  Pick<AccountStore, 'findAccount'>;

/** Returns the token of a text that is a one-time link or the token of one; otherwise null. */
export function linkToken(text: string): string | null {
  const token = /^https?:/i.test(text) ? URL.parse(text)?.searchParams.get('token') : text;
  return token && /^(.{1,255}\.)?[\w-]{43}$/u.test(token) ? token : null;
}

/** Identifies a token of a link at a time (ms); null if no link has it: a used link of a user or operator leaves nothing. */
export async function identifyLink(store: LinkStore, token: string, now: number): Promise<Identified | null> {
  return (
    (await pickUpLink(store, token, now)) ??
    (await operatorLink(store, token, now)) ??
    (await invitationLink(store, token, now))
  );
}

async function pickUpLink(store: LinkStore, token: string, now: number): Promise<Identified | null> {
  const digest = digestOfToken(token);
  const handOver = digest && (await store.findHandOver(digest));
  const subject = handOver && (await findSubject(store, handOver.subject));
  if (!handOver || !subject) return null;
  const { kind, row } = subject;
  return {
    kind: 'pick-up link',
    owner: { kind, id: row.id, name: row.name },
    person: null,
    grant: null,
    madeAt: handOver.madeAt,
    expiresAt: handOver.expiresAt,
    deadBecause: whyDead(handOver, subject, now),
    isHeldUp: false,
    needs: [],
  };
}

/** Both problems of a subject have ended its open link already, or end it with the next change of its secrets. */
function whyDead(handOver: HandOver, subject: HandOverSubject, now: number): string | null {
  if (handOver.fetchedAt !== null) return USED;
  if (handOver.endedWhy !== null) return ENDED[handOver.endedWhy];
  if (handOver.expiresAt <= now) return EXPIRED;
  const problem = handOverProblem(subject);
  if (problem === null) return null;
  return problem === 'paused' ? `${subject.row.name} is paused` : 'two secrets are live, and it makes no third';
}

async function operatorLink(store: LinkStore, token: string, now: number): Promise<Identified | null> {
  const found = await store.findOneTimeAddress(operatorTokenDigest(token));
  if (!found) return null;
  const { address, operator } = found;
  const expired = address.expiresAt <= now ? EXPIRED : null;
  return {
    kind: address.purpose === 'enroll' ? 'enrollment link' : 'sign-in link',
    owner: { kind: 'operator', id: operator.id, name: operator.name },
    person: null,
    grant: null,
    madeAt: address.createdAt,
    expiresAt: address.expiresAt,
    deadBecause: operator.status === 'disabled' ? `${operator.name} is disabled` : expired,
    isHeldUp: false,
    needs: [],
  };
}

async function invitationLink(store: LinkStore, token: string, now: number): Promise<Identified | null> {
  const found = await findInvited(store, token);
  if (!found) return null;
  const { invited, madeAt, expiresAt } = found;
  const person = { id: invited.id, name: accountLabel(invited), email: invited.email };
  return {
    kind: 'invitation link',
    owner: { kind: 'user', ...person },
    person,
    grant: null,
    madeAt,
    expiresAt,
    deadBecause: expiresAt <= now ? EXPIRED : null,
    isHeldUp: false,
    needs: [],
  };
}

/** Why a link is dead that was used: whoever used it may have what it gave. */
export const USED = 'the link was used';
const EXPIRED = 'the link has expired';
const ENDED = {
  replaced: 'a newer link replaced it',
  'secret changed': 'the secret was changed since',
  paused: 'its app or product was paused since',
  deleted: 'its app, API or product was deleted',
  restored: 'a restore of the database ended it',
} as const satisfies Record<NonNullable<HandOver['endedWhy']>, string>;
