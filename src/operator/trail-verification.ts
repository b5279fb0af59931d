/** Verifies the audit trail in one walk over all events in their order; the memory that it takes does not grow with them. */
import {
  type ChainLink,
  chainKey,
  EMPTY_TRAIL,
  linkMac,
  NO_MAC,
  readChainId,
  type TrailRow,
  trailDigest,
} from '../oauth/audit-chain.ts';
import { type Checkpoint, findCheckpoints, isSigned, type TrailState } from '../oauth/audit-checkpoint.ts';
import type { HmacKey } from '../oauth/hmac.ts';
import type { Keyring } from '../oauth/keyring.ts';
import { readRootKeyName, rootKeyName } from '../oauth/root-key.ts';
import type { AuditStore } from '../oauth/store.ts';
import { RecentStates } from './recent-states.ts';
import { RegisteredChains } from './registered-chains.ts';

/** Something that is wrong: the event that shows it (null when no event does), and a sentence. */
export type TrailProblem = { readonly event: number | null; readonly sentence: string };

/** What was found. `problems` has the first hundred of all that is `wrong`. */
export type TrailReport = {
  /** What a checkpoint of the trail says. */
  readonly state: TrailState;
  /** The number of events that were read: fewer than `state.events` once the trail was shortened. */
  readonly seen: number;
  readonly chains: number;
  /** The number of checkpoints that the trail was compared with. */
  readonly checkpoints: number;
  readonly wrong: number;
  readonly problems: readonly TrailProblem[];
};

/** What a verification works with. `checkpoints` are those that were kept elsewhere. */
export type VerificationParts = {
  readonly store: Pick<AuditStore, 'lastAuditSequence' | 'listTrailRows' | 'findShortening' | 'listChainRegistrations'>;
  /** Events that come from elsewhere, without the registrations of their chains. */
  readonly foreign?: ReadonlySet<number>;
  readonly keyring: Keyring;
  readonly installation: string;
  readonly checkpoints: readonly Checkpoint[];
  /** Called after each window of events with the place that was reached, and the last one. */
  readonly report: (place: number, of: number) => void;
};

const WINDOW = 1000;
const MAX_PROBLEMS = 100;
/** Maximum number of chains whose keys are kept. */
const KEPT_KEYS = 1000;

/** Verifies the trail up to the newest event. Throws `StoreUnavailable`. */
export async function verifyTrail(parts: VerificationParts): Promise<TrailReport> {
  const { store, report } = parts;
  const shortening = await store.findShortening();
  const [start = null] = findCheckpoints(shortening?.detail ?? '');
  const walk = new TrailWalk(parts, start);
  await walk.readRegistrations();
  const last = await store.lastAuditSequence();
  await walk.readRegistrations();
  for (let place = 0; place < last; ) {
    const rows = await store.listTrailRows(place, last, WINDOW);
    for (const row of rows) await walk.step(row);
    place = rows.at(-1)?.sequence ?? last;
    report(place, last);
  }
  return walk.end();
}

/** How far a chain was followed. */
type Followed = {
  number: number;
  mac: Buffer;
  sequence: number;
  /** Whether its MAC is right, as far as that can be verified. */
  isSure: boolean;
};

class TrailWalk {
  readonly #parts: VerificationParts;
  /** The checkpoint of the event up to which the retention took events away; null when it took none. */
  readonly #start: Checkpoint | null;
  readonly #chains = new Map<string, Followed>();
  readonly #registered: RegisteredChains;
  readonly #keys = new Map<string, HmacKey | null>();
  readonly #recent: RecentStates;
  readonly #retiredKeys = new Set<number>();
  readonly #kept: Checkpoint[];
  readonly #problems: TrailProblem[] = [];
  #wrong = 0;
  #seen = 0;
  #compared = 0;
  #state: TrailState;
  /** The last event whose root key is not here, and the last event that a signed checkpoint proves. */
  #unproven: { readonly sequence: number; readonly keyId: number } | null = null;
  #proven = 0;
  /** Once a checkpoint differs, all later ones do. */
  #hasDiffered = false;

  constructor(parts: VerificationParts, start: Checkpoint | null) {
    this.#parts = parts;
    this.#start = start;
    this.#registered = new RegisteredChains({
      start: start?.upTo ?? 0,
      store: parts.store,
      keyOf: (id) => this.#keyOf(id),
      complain: (event, sentence) => this.#complain(event, sentence),
    });
    this.#state = start ?? { upTo: 0, events: 0, digest: EMPTY_TRAIL };
    this.#kept = [...parts.checkpoints].sort((one, other) => one.upTo - other.upTo);
    this.#recent = new RecentStates(start?.upTo ?? 0);
    if (start) this.#remember();
    this.#dropOlder();
  }

  /**
   * Called twice: before the last event is looked up, so that the first events of these chains are there, and after it, so
   * that the registrations of all events are.
   */
  readRegistrations(): Promise<void> {
    return this.#registered.read();
  }

  async step(row: TrailRow): Promise<void> {
    const { sequence } = row;
    this.#seen += 1;
    if (this.#start && sequence <= this.#start.upTo) {
      await this.#follow(row); // The retention was interrupted, and takes this event away later.
      return;
    }
    this.#passKept(sequence);
    this.#state = { upTo: sequence, events: this.#state.events + 1, digest: trailDigest(this.#state.digest, row) };
    this.#remember();
    this.#compareKept();
    const isGenuine = await this.#follow(row);
    if (!isGenuine) return;
    if (row.action === 'root_key_retired') this.#retiredKeys.add(readRootKeyName(row.detail ?? '') ?? -1);
    if (row.action === 'audit_checkpoint') this.#compareRecorded(row);
  }

  end(): TrailReport {
    const { upTo } = this.#state;
    this.#registered.end(upTo);
    this.#compared += this.#kept.length;
    for (const { upTo: missing, at } of this.#kept)
      this.#complain(
        null,
        `the trail ends at event ${upTo}, and had event ${missing} at the checkpoint of ${new Date(at).toISOString()}: its end was cut off, or this is an older database`,
      );
    const unproven = this.#unproven;
    if (unproven && unproven.sequence > this.#proven)
      this.#complain(
        unproven.sequence,
        `event ${unproven.sequence} cannot be verified: root key ${rootKeyName(unproven.keyId)} is not among the keys here, and no checkpoint proves it`,
      );
    return {
      ...{ state: this.#state, seen: this.#seen, chains: this.#chains.size, checkpoints: this.#compared },
      ...{ wrong: this.#wrong, problems: this.#problems },
    };
  }

  /** Whether an event is the next in its chain, and as it was recorded. */
  async #follow({ sequence, chain, text }: TrailRow): Promise<boolean> {
    const followed = this.#chains.get(chain.id);
    const keyId = readChainId(chain.id)?.keyId;
    if (keyId === undefined)
      return this.#complain(sequence, `event ${sequence} is of no chain: it was changed or added`);
    if (this.#retiredKeys.has(keyId))
      return this.#complain(
        sequence,
        `event ${sequence} was added under root key ${rootKeyName(keyId)} after that was retired`,
      );
    if (followed && chain.number <= followed.number)
      return this.#complain(
        sequence,
        `event ${sequence} stands after event ${followed.sequence}, which came after it: it was moved or added`,
      );
    const key = this.#keyOf(chain.id);
    const before = await this.#before(sequence, chain, followed);
    if (!key) this.#unproven = { sequence, keyId };
    const isRight = !key || before === null || linkMac(key, before, text).equals(chain.mac);
    // The event after one whose MAC was changed does not fit, and need not be wrong itself.
    if (!isRight && (followed?.isSure ?? true))
      this.#complain(sequence, `event ${sequence} is not as it was recorded: it was changed, moved or added`);
    this.#chains.set(chain.id, { number: chain.number, mac: chain.mac, sequence, isSure: isRight });
    return isRight;
  }

  /**
   * The key of a chain; null when its root key is not here. Only some are kept: a key is large, and there may be many
   * chains.
   */
  #keyOf(id: string): HmacKey | null {
    const known = this.#keys.get(id);
    if (known !== undefined) return known;
    if (this.#keys.size === KEPT_KEYS) this.#keys.clear();
    const key = chainKey(this.#parts.keyring, id);
    this.#keys.set(id, key);
    return key;
  }

  /** The MAC that an event covers, or null when it is not known. Complains of events that are missing before it. */
  async #before(sequence: number, chain: ChainLink, followed: Followed | undefined): Promise<Buffer | null> {
    if (followed) {
      const missing = chain.number - followed.number - 1;
      if (missing === 0) return followed.mac;
      this.#complain(
        sequence,
        `${events(missing)} missing between event ${followed.sequence} and event ${sequence}, which cannot be verified itself`,
      );
      return null;
    }
    if (chain.number === 1 && !this.#parts.foreign?.has(sequence)) this.#registered.meet(sequence, chain.id);
    const isShortened = this.#start !== null;
    if (chain.number > 1) {
      if (!isShortened)
        this.#complain(
          sequence,
          `${events(chain.number - 1)} missing before event ${sequence}, which cannot be verified itself`,
        );
      return null;
    }
    const { after } = readChainId(chain.id) as { after: number };
    if (after === 0) return NO_MAC;
    const [root] = await this.#parts.store.listTrailRows(after - 1, after, 1);
    if (root) return root.chain.mac;
    if (after > (this.#start?.upTo ?? 0))
      this.#complain(after, `event ${after} is missing, after which a chain began with event ${sequence}`);
    return null;
  }

  /** Compares the trail with a checkpoint that it holds itself. */
  #compareRecorded({ sequence, detail }: TrailRow): void {
    const [checkpoint] = findCheckpoints(detail ?? '');
    const isGood = checkpoint && isSigned(this.#parts.keyring, checkpoint);
    if (!checkpoint || isGood === false || checkpoint.installation !== this.#parts.installation) {
      this.#complain(sequence, `event ${sequence} holds no checkpoint of this installation`);
      return;
    }
    const state = this.#recent.find(checkpoint.upTo);
    if (this.#hasDiffered || (!state && checkpoint.upTo < this.#recent.since)) return;
    this.#compared += 1;
    if (isSame(checkpoint, state)) {
      if (isGood) this.#proven = Math.max(this.#proven, checkpoint.upTo);
      return;
    }
    this.#hasDiffered = true;
    this.#complain(
      sequence,
      `the events up to ${checkpoint.upTo} are not those of the checkpoint in event ${sequence}: after event ${this.#proven} some were changed, added or removed`,
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
    this.#complain(
      upTo,
      `the events up to ${upTo} are not those of the checkpoint of ${new Date(at).toISOString()}: some were changed, added or removed`,
    );
  }

  /** Checkpoints of events that were taken away cannot be compared, except for the last of these events. */
  #dropOlder(): void {
    while (this.#start && this.#kept[0] && this.#kept[0].upTo < this.#start.upTo) this.#kept.shift();
    this.#compareKept();
  }

  #remember(): void {
    this.#recent.add(this.#state);
  }

  #complain(event: number | null, sentence: string): false {
    this.#wrong += 1;
    if (this.#problems.length < MAX_PROBLEMS) this.#problems.push({ event, sentence });
    return false;
  }
}

function isSame(checkpoint: TrailState, state: TrailState | null): boolean {
  return state !== null && checkpoint.digest === state.digest && checkpoint.events === state.events;
}

function events(number: number): string {
  return number === 1 ? '1 event is' : `${number} events are`;
}
