/** Hand-overs as operators make them and developers pick them up. Looking at a pick-up link never uses it. */
import type { IdentityProviderStore } from '../../accounts/people/store.ts';
import type { RequestOrigin } from '../../oauth/clients/client-authenticator.ts';
import type { ClientStore } from '../../oauth/clients/client-store.ts';
import { NothingThere, OperatorError } from '../../oauth/error.ts';
import { widestNetworkOf } from '../../oauth/guessing/networks.ts';
import { currentKey, type Keyring, mac } from '../../oauth/keys/keyring.ts';
import { makeSecret, type StoredSecret } from '../../oauth/keys/secret.ts';
import type { ResourceServerStore } from '../../oauth/resource-servers/resource-server-store.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import { twoSecrets } from '../secrets/secret-rotation.ts';
import {
  digestOfToken,
  type HandOver,
  type HandOverName,
  type HandOverSubject,
  handOverMade,
  handOverProblem,
  isOpen,
  makeHandOver,
  type NewHandOver,
  REGISTERED,
  takesSecret,
} from './hand-over.ts';
import type { HandOverStore } from './hand-over-store.ts';

/** The store of what is handed over. */
export type SubjectStore = Pick<ClientStore, 'findClient'> &
  Pick<ResourceServerStore, 'findResourceServer'> &
  Pick<IdentityProviderStore, 'findIdentityProvider'>;

/** The parts of hand-overs. `now` returns ms since the epoch. */
export type HandOverParts = {
  readonly store: HandOverStore & SubjectStore;
  readonly keyring: Keyring;
  readonly prefix: string;
  /** The page where developers pick up; takes the token in its query. */
  readonly pickUpUrl: string;
  readonly now: () => number;
};

/** A new hand-over: its pick-up link, which nobody keeps, when that expires (ms), and whether it makes a secret. */
export type MadeHandOver = { readonly address: string; readonly expiresAt: number; readonly makesSecret: boolean };

/** A pick-up link that makes no secret: used at a time (ms); expired, ended or never made; or two secrets are live. */
export type DeadHandOver =
  | { readonly kind: 'used'; readonly at: number }
  | { readonly kind: 'dead' }
  | { readonly kind: 'two_secrets' };

/** The hand-over of a token. */
export type FoundHandOver =
  | { readonly kind: 'good'; readonly handOver: HandOver; readonly subject: HandOverSubject }
  | DeadHandOver;

/** The result of picking up; the secret is null for a registration that proves itself otherwise. */
export type PickedUp =
  | {
      readonly kind: 'picked_up';
      readonly subject: HandOverSubject;
      readonly secret: string | null;
      /** True if an earlier secret works too. */
      readonly hasEarlier: boolean;
    }
  | DeadHandOver;

/**
 * For this long (ms) after a use, the browser that used a pick-up link gets the same answer again: so a second press of the button, or
 * an answer that was lost on the way, costs no secret.
 */
const AGAIN_MS = 60_000;

/** Hand-overs of one installation. */
export class HandOvers {
  readonly #parts: HandOverParts;

  constructor(parts: HandOverParts) {
    this.#parts = parts;
  }

  /**
   * Makes a pick-up link, and ends the open one before it: `replaced` is the time (ms) when that was made, or null. Throws an
   * `OperatorError` when that is refused, and then changed nothing.
   */
  async make(name: HandOverName, actor: Actor): Promise<MadeHandOver & { readonly replaced: number | null }> {
    const { store, now } = this.#parts;
    const subject = await findSubject(store, name);
    const { command, word } = REGISTERED[name.kind];
    if (!subject) throw new NothingThere(`there is no ${word} ${JSON.stringify(name.id)}`);
    const problem = handOverProblem(subject);
    if (problem === 'paused')
      throw new OperatorError(`${subject.row.name} is paused`, null, {
        remedy: 'resume it first',
        command: `"${command} resume ${name.id}" comes first`,
      });
    if (problem === 'two secrets') throw twoSecrets(`${command} retire-secret ${name.id}`);
    const before = await this.newest(name);
    const made = makeHandOver(name, actor.id, now());
    if (!(await store.addHandOver(made.handOver, subject, handOverMade(made.handOver, actor))))
      throw new OperatorError(`somebody else changed ${subject.row.name} at the same time`, null, {
        remedy: 'look at it again, and try again',
        command: `look with "${command} show", and try again`,
      });
    return { ...this.addressOf(made, subject), replaced: before?.isOpen ? before.madeAt : null };
  }

  /** Returns the pick-up link of a new hand-over. */
  addressOf({ handOver: { expiresAt }, token }: NewHandOver, subject: HandOverSubject): MadeHandOver {
    return { address: `${this.#parts.pickUpUrl}?token=${token}`, expiresAt, makesSecret: takesSecret(subject) };
  }

  /** Returns the newest hand-over of a registration, or null. */
  async newest(name: HandOverName): Promise<(HandOver & { readonly isOpen: boolean }) | null> {
    const { store, now } = this.#parts;
    const found = await store.findNewestHandOver(name);
    return found && { ...found, isOpen: isOpen(found, now()) };
  }

  /** Finds the hand-over of a token, and uses nothing up: programs that read mail open links, too. */
  async look(token: string): Promise<FoundHandOver> {
    const { store, now } = this.#parts;
    const digest = digestOfToken(token);
    const handOver = digest && (await store.findHandOver(digest));
    if (!handOver) return { kind: 'dead' };
    if (handOver.fetchedAt !== null) return { kind: 'used', at: handOver.fetchedAt };
    if (handOver.endedAt !== null || handOver.expiresAt <= now()) return { kind: 'dead' };
    const subject = await findSubject(store, handOver.subject);
    if (!subject) return { kind: 'dead' };
    const problem = handOverProblem(subject);
    if (problem === null) return { kind: 'good', handOver, subject };
    return { kind: problem === 'paused' ? 'dead' : 'two_secrets' };
  }

  /**
   * Makes the secret of a hand-over, once. `browser` is a value that only the developer's browser has: with it, that browser gets
   * the same answer again for a minute.
   */
  async pickUp(token: string, browser: string, origin: RequestOrigin): Promise<PickedUp> {
    const found = await this.look(token);
    if (found.kind === 'used') return (await this.#again(token, browser)) ?? found;
    if (found.kind !== 'good') return found;
    const { handOver, subject } = found;
    const now = this.#parts.now();
    const made = this.#secretOf(subject, token, browser, now);
    const actor = { kind: 'visitor', id: 'unknown', ...origin } as const;
    const about = { clientId: handOver.subject.id };
    const event = auditEvent('hand_over_fetched', actor, now, about, { made_secret: made !== null });
    const use = { secret: made?.secret ?? null, from: widestNetworkOf(origin.source) };
    if (await this.#parts.store.useHandOver(handOver, subject, use, event))
      return pickedUp(subject, made?.text ?? null, subject.row.secrets.length > 0);
    // Somebody was faster, or what it rested on changed: both are told by another look.
    const after = await this.look(token);
    if (after.kind === 'used') return (await this.#again(token, browser)) ?? after;
    return after.kind === 'good' ? { kind: 'dead' } : after;
  }

  /** Returns the answer to the first use once more, or null: to another browser, later, or after the secret was replaced. */
  async #again(token: string, browser: string): Promise<PickedUp | null> {
    const { store, now } = this.#parts;
    const handOver = await store.findHandOver(digestOfToken(token) as Buffer);
    const subject = handOver && (await findSubject(store, handOver.subject));
    if (!subject || handOver.fetchedAt === null || Math.abs(now() - handOver.fetchedAt) >= AGAIN_MS) return null;
    const made = this.#secretOf(subject, token, browser, handOver.fetchedAt);
    if (!made) return pickedUp(subject, null, false);
    const isTheSame = subject.row.secrets[0]?.digest.equals(made.secret.digest);
    return isTheSame ? pickedUp(subject, made.text, subject.row.secrets.length > 1) : null;
  }

  /**
   * Derives the secret from a root key, the token and the browser's value, so that nothing is stored for a second answer. Who
   * has the pick-up link alone, or the database and the keys, cannot derive it.
   */
  #secretOf(
    subject: HandOverSubject,
    token: string,
    browser: string,
    now: number,
  ): { readonly text: string; readonly secret: StoredSecret } | null {
    if (!takesSecret(subject)) return null;
    const { keyring, prefix } = this.#parts;
    const bits = mac(currentKey(keyring, 'hand-over'), token, browser);
    return makeSecret(prefix, REGISTERED[subject.kind].secret, now, bits);
  }
}

/** Finds an app, API or product by its kind and id. */
export async function findSubject(store: SubjectStore, { kind, id }: HandOverName): Promise<HandOverSubject | null> {
  switch (kind) {
    case 'client':
      return subjectOf(kind, await store.findClient(id)) as HandOverSubject | null;
    case 'resource_server':
      return subjectOf(kind, await store.findResourceServer(id)) as HandOverSubject | null;
    case 'identity_provider':
      return subjectOf(kind, await store.findIdentityProvider(id)) as HandOverSubject | null;
  }
}

function pickedUp(subject: HandOverSubject, secret: string | null, hasEarlier: boolean): PickedUp {
  return { kind: 'picked_up', subject, secret, hasEarlier: secret !== null && hasEarlier };
}

function subjectOf<Row>(kind: HandOverName['kind'], row: Row | null) {
  return row && { kind, row };
}
