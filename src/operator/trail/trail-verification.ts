/** Verifies the audit trail in one walk over its events in their order; the memory that it takes does not grow with them. */
import type { KeyObject } from 'node:crypto';
import { type Keyring, mac } from '../../oauth/keys/keyring.ts';
import { rootKeyName } from '../../oauth/keys/root-key.ts';
import { chainKey, chainKeyId, EMPTY_TRAIL, type TrailRow, trailDigest } from '../../oauth/trail/audit-chain.ts';
import {
  type Checkpoint,
  findCheckpoints,
  isSigned,
  readShortening,
  type TrailState,
} from '../../oauth/trail/audit-checkpoint.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import { AbsentKeys } from './events-of-absent-keys.ts';
import { RecentStates } from './recent-trail-states.ts';

/** Something that is wrong: the event that shows it (null when no event does), and a sentence. */
export type TrailProblem = { readonly event: number | null; readonly sentence: string };

/** The result of a verification. `problems` has the first hundred of all `wrong` events. */
export type TrailReport = {
  /** The state in a checkpoint of the trail. */
  readonly state: TrailState;
  /** The number of events that were verified: fewer than `state.events` once the trail was shortened. */
  readonly seen: number;
  /** The number of events before the start. They are no part of the trail: the retention takes them away. */
  readonly leftOver: number;
  readonly chains: number;
  /** The last followed event of each chain that was written lately. */
  readonly heads: ChainHeads;
  /** The number of checkpoints that the trail was compared with. */
  readonly checkpoints: number;
  /** The newest checkpoint in the trail that it fits; null without one. */
  readonly covered: Pick<Checkpoint, 'upTo' | 'at'> | null;
  /** The number of events after that. Of them an end may have been cut off unseen. */
  readonly uncovered: number;
  /** The number of given checkpoints that are older than the start, so that nothing is left to compare them with. */
  readonly uncompared: number;
  /** `true` if anything but checkpoints was recorded after the start. */
  readonly isNews: boolean;
  readonly wrong: number;
  readonly problems: readonly TrailProblem[];
};

/** The parts of a verification. `checkpoints` are those that were kept elsewhere. */
export type VerificationParts = {
  readonly store: Pick<AuditStore, 'lastAuditSequence' | 'listTrailRows' | 'findShortening' | 'hasMisplacedEvents'>;
  readonly keyring: Keyring;
  readonly installation: string;
  readonly checkpoints: readonly Checkpoint[];
  /** Called after each window of events with the place that was reached, and the last one. */
  readonly report: (place: number, of: number) => void;
};

/** The last followed event of chains, by their ids. */
export type ChainHeads = ReadonlyMap<string, Followed>;

const WINDOW = 500;
/** Maximum number of chains whose heads are kept for the next verification. */
const KEPT_HEADS = 10_000;
const MAX_PROBLEMS = 100;
/** Maximum number of chains whose keys are kept. */
const KEPT_KEYS = 1000;
/** The beginning of a trail from which nothing was taken away. */
export const BEGINNING: TrailState = { upTo: 0, events: 0, digest: EMPTY_TRAIL };

/** Verifies the trail from its oldest retained event up to the newest one. Throws `StoreUnavailable`. */
export async function verifyTrail(parts: VerificationParts): Promise<TrailReport> {
  const row = await parts.store.findShortening();
  const shortening = row && readShortening(row.detail);
  const why = row && whyNotOwn(parts, shortening, row.sequence);
  // The signature of an absent key may be valid: the caller decides to accept it.
  const isOpen = shortening !== null && isSigned(parts.keyring, shortening) !== false;
  const walk = new TrailWalk(parts, isOpen ? shortening : BEGINNING);
  if (row && why !== null)
    walk.complain(row.sequence, `event ${row.sequence} holds no shortening of this installation: ${why}`);
  await walkAll(parts, walk, 0, await parts.store.lastAuditSequence());
  return walk.end();
}

/**
 * Verifies the trail from a genuine checkpoint up to an event; null if there are more than `most` events since. `heads` are
 * the chain heads that were followed up to the checkpoint; without them (null), the events before it are trusted. Throws
 * `StoreUnavailable`.
 */
export async function verifySince(
  parts: VerificationParts,
  start: TrailState,
  upTo: number,
  most: number,
  heads: ChainHeads | null,
): Promise<TrailReport | null> {
  const walk = new TrailWalk(parts, start, heads ?? []);
  if (start.upTo > 0 && heads === null) {
    const before = await parts.store.listTrailRows(Math.max(0, start.upTo - WINDOW), start.upTo, WINDOW);
    for (const row of before) walk.goOnAfter(row);
  }
  return (await walkAll(parts, walk, start.upTo, upTo, most)) ? walk.end() : null;
}

async function walkAll(
  { store, report }: VerificationParts,
  walk: TrailWalk,
  from: number,
  last: number,
  most = Number.POSITIVE_INFINITY,
): Promise<boolean> {
  if (await store.hasMisplacedEvents())
    walk.complain(null, 'there are events with impossible sequence numbers: they were added');
  for (let place = from; place < last; ) {
    const rows = await store.listTrailRows(place, last, WINDOW);
    for (const row of rows) walk.step(row);
    if (walk.seen > most) return false;
    place = rows.at(-1)?.sequence ?? last;
    report(place, last);
  }
  return true;
}

/**
 * Returns why the signed statement of an event is not of this installation, or cannot be verified; null when it is genuine. Each
 * is recorded after the events that it is about: an event before them is not verified itself where they are not read any more.
 */
export function whyNotOwn(
  { keyring, installation }: Pick<VerificationParts, 'keyring' | 'installation'>,
  stated: Checkpoint | null,
  place: number,
): string | null {
  if (stated === null || place <= stated.upTo) return 'it was changed or added';
  if (stated.installation !== installation) return 'it is of another installation: check VALETKEY_DATABASE_URL';
  const isGood = isSigned(keyring, stated);
  if (isGood === null) return `root key ${rootKeyName(stated.keyId)} is not among the keys here`;
  return isGood ? null : 'it was not signed by this installation: somebody wrote or changed it';
}

/** How far a chain was followed. */
type Followed = { readonly number: number; readonly sequence: number };

class TrailWalk {
  readonly #parts: VerificationParts;
  /** The state of the trail before the first event that is verified. */
  readonly #start: TrailState;
  readonly #chains: Map<string, Followed>;
  readonly #keys = new Map<string, KeyObject | null>();
  readonly #recent: RecentStates;
  readonly #absentKeys: AbsentKeys;
  readonly #kept: Checkpoint[];
  readonly #problems: TrailProblem[] = [];
  #wrong = 0;
  #seen = 0;
  #leftOver = 0;
  #compared = 0;
  #uncompared = 0;
  #isNews = false;
  #state: TrailState;
  /** The newest checkpoint in the trail that a key here signed, and that the trail fits. */
  #covered: Checkpoint | null = null;
  /** Once a checkpoint differs, all later ones do. */
  #hasDiffered = false;

  constructor(parts: VerificationParts, start: TrailState, heads: Iterable<readonly [string, Followed]> = []) {
    this.#chains = new Map(heads);
    this.#parts = parts;
    this.#start = start;
    this.#absentKeys = new AbsentKeys(parts.keyring);
    this.#state = start;
    this.#kept = [...parts.checkpoints].sort((one, other) => one.upTo - other.upTo);
    this.#recent = new RecentStates(start.upTo);
    if (start.upTo > 0) this.#recent.add(start);
    this.#dropOlder();
  }

  /** The number of events that were verified so far. */
  get seen(): number {
    return this.#seen;
  }

  /** Takes an event before the start for what it says: how far its chain was. */
  goOnAfter({ sequence, chain }: TrailRow): void {
    this.#chains.set(chain.id, { number: chain.number, sequence });
  }

  /** Verifies the next event. */
  step(row: TrailRow): void {
    const { sequence } = row;
    if (this.#start.upTo > 0 && sequence <= this.#start.upTo) {
      this.#leftOver += 1;
      return;
    }
    this.#seen += 1;
    this.#isNews ||= row.action !== 'audit_checkpoint';
    this.#passKept(sequence);
    this.#state = { upTo: sequence, events: this.#state.events + 1, digest: trailDigest(this.#state.digest, row) };
    this.#recent.add(this.#state);
    this.#compareKept();
    if (!this.#isGenuine(row)) return;
    if (row.action === 'root_key_retired') this.#absentKeys.retire(row, this.#covered?.upTo ?? 0);
    if (row.action === 'audit_checkpoint') this.#compareRecorded(row);
  }

  end(): TrailReport {
    const { upTo } = this.#state;
    this.#compared += this.#kept.length;
    for (const { upTo: missing, at } of this.#kept)
      this.complain(
        null,
        `the trail ends at event ${upTo}, and had event ${missing} at the checkpoint of ${new Date(at).toISOString()}: its end was cut off, or this is an older database`,
      );
    for (const { keyId, sequence } of this.#absentKeys.unproven())
      this.complain(
        sequence,
        `event ${sequence} cannot be verified: root key ${rootKeyName(keyId)} is not among the keys here, and no checkpoint of its retirement proves it`,
      );
    return {
      state: this.#state,
      seen: this.#seen,
      leftOver: this.#leftOver,
      chains: this.#chains.size,
      heads: new Map([...this.#chains].sort(([, one], [, other]) => one.sequence - other.sequence).slice(-KEPT_HEADS)),
      covered: this.#covered,
      uncovered: this.#state.events - (this.#covered ?? this.#start).events,
      checkpoints: this.#compared,
      uncompared: this.#uncompared,
      isNews: this.#isNews,
      wrong: this.#wrong,
      problems: this.#problems,
    };
  }

  /** Verifies an event and its position in its chain; with an absent key, the result stays open until the end. */
  #isGenuine({ sequence, chain, text }: TrailRow): boolean {
    const keyId = chainKeyId(chain.id);
    if (keyId === null) return this.complain(sequence, `event ${sequence} is of no chain: it was changed or added`);
    const key = this.#keyOf(chain.id);
    if (this.#absentKeys.isRetired(keyId, key !== null))
      return this.complain(
        sequence,
        `event ${sequence} was added under root key ${rootKeyName(keyId)} after that was retired`,
      );
    const followed = this.#chains.get(chain.id);
    const isRight = key === null || mac(key, text).equals(chain.mac);
    if (!isRight) {
      // It still has its number, so that the next event is not blamed.
      if (chain.number === (followed?.number ?? 0) + 1) this.#chains.set(chain.id, { number: chain.number, sequence });
      return this.complain(sequence, `event ${sequence} is not as it was recorded: it was changed, moved or added`);
    }
    if (key === null) this.#absentKeys.add(keyId, sequence);
    return this.#isNext(sequence, chain, followed);
  }

  /** Tells whether an event is the next of its chain. Complains of events that are missing before it. */
  #isNext(sequence: number, { id, number }: TrailRow['chain'], followed: Followed | undefined): boolean {
    if (followed && number <= followed.number)
      return this.complain(
        sequence,
        `event ${sequence} stands after event ${followed.sequence}, which came after it: it was moved or added`,
      );
    this.#chains.set(id, { number, sequence });
    // Of a chain that began before the start, it is not known how far it was.
    const before = followed?.number ?? (this.#start.upTo === 0 ? 0 : number - 1);
    const missing = number - before - 1;
    if (missing > 0)
      this.complain(
        sequence,
        `${events(missing)} missing ${followed ? `between event ${followed.sequence} and` : 'before'} event ${sequence}`,
      );
    return true;
  }

  /**
   * The key of a chain; null when its root key is not here. Only some are kept, since there may be many chains.
   */
  #keyOf(id: string): KeyObject | null {
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    if (this.#keys.size === KEPT_KEYS) this.#keys.clear();
    const key = chainKey(this.#parts.keyring, id);
    this.#keys.set(id, key);
    return key;
  }

  /** Compares the trail with a checkpoint that it holds itself. */
  #compareRecorded({ sequence, detail }: TrailRow): void {
    const [checkpoint] = findCheckpoints(detail ?? '');
    const isGood = checkpoint && isSigned(this.#parts.keyring, checkpoint);
    if (!checkpoint || isGood === false || checkpoint.installation !== this.#parts.installation) {
      this.complain(sequence, `event ${sequence} holds no checkpoint of this installation`);
      return;
    }
    const state = this.#recent.find(checkpoint.upTo);
    if (this.#hasDiffered || (!state && checkpoint.upTo < this.#recent.since)) return;
    this.#compared += 1;
    if (isSame(checkpoint, state)) {
      if (isGood && checkpoint.upTo > (this.#covered?.upTo ?? 0)) this.#covered = checkpoint;
      return;
    }
    this.#hasDiffered = true;
    this.complain(
      sequence,
      `the events up to ${checkpoint.upTo} are not those of the checkpoint in event ${sequence}: after event ${this.#covered?.upTo ?? 0} some were changed, added or removed`,
    );
  }

  /** Compares the trail with checkpoints that were kept elsewhere and are for this event. */
  #compareKept(): void {
    for (let [next] = this.#kept; next && next.upTo === this.#state.upTo; [next] = this.#kept) {
      this.#kept.shift();
      this.#compared += 1;
      if (!isSame(next, this.#state)) this.#differs(next);
    }
  }

  /** Complains of checkpoints for an event that is not there. */
  #passKept(sequence: number): void {
    for (let [next] = this.#kept; next && next.upTo < sequence; [next] = this.#kept) {
      this.#kept.shift();
      this.#compared += 1;
      this.#differs(next);
    }
  }

  #differs({ upTo, at }: Checkpoint): void {
    this.complain(
      upTo,
      `the events up to ${upTo} are not those of the checkpoint of ${new Date(at).toISOString()}: some were changed, added or removed`,
    );
  }

  /** Checkpoints of events before the start cannot be compared, except for the last of these events. */
  #dropOlder(): void {
    for (; this.#kept[0] && this.#kept[0].upTo < this.#start.upTo; this.#kept.shift()) this.#uncompared += 1;
    this.#compareKept();
  }

  /** Adds a problem. */
  complain(event: number | null, sentence: string): false {
    this.#wrong += 1;
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ event, sentence });
    return false;
  }
}

/** True if a checkpoint matches a trail. */
export function isSame(checkpoint: TrailState, state: TrailState | null): boolean {
  return state !== null && checkpoint.digest === state.digest && checkpoint.events === state.events;
}

function events(number: number): string {
  return number === 1 ? '1 event is' : `${number} events are`;
}
