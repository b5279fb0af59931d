/** The audit trail as a whole: verifies, checkpoints, shortens and exports it. */

import { OperatorError } from '../../oauth/error.ts';
import type { Keyring } from '../../oauth/keys/keyring.ts';
import { type Actor, auditEvent } from '../../oauth/trail/audit.ts';
import { type ChainedAuditEvent, type TrailRow, trailDigest } from '../../oauth/trail/audit-chain.ts';
import {
  type Checkpoint,
  checkpointPublicKey,
  findCheckpoints,
  isSigned,
  readShortening,
  signCheckpoint,
  signShortening,
  type TrailState,
} from '../../oauth/trail/audit-checkpoint.ts';
import type { AuditStore } from '../../oauth/trail/audit-store.ts';
import { type NewerTrail, readNewerTrail } from './newer-trail.ts';
import {
  BEGINNING,
  type ChainHeads,
  isSame,
  type TrailReport,
  type VerificationParts,
  verifySince,
  verifyTrail,
  whyNotOwn,
} from './trail-verification.ts';

/** The parts of the trail's operations. `now` returns ms since the epoch. */
export type AuditTrailParts = {
  readonly store: AuditStore;
  readonly keyring: Keyring;
  /** The id of the installation, in hexadecimal. */
  readonly installation: string;
  readonly now: () => number;
};

/** A place in the trail, with the MAC of the event there where it is known: the same number may be another event elsewhere. */
export type TrailPlace = { readonly sequence: number; readonly mac: Buffer | null };

/** The result of a verification, with a checkpoint of the present state; the checkpoint is null if something is wrong. */
export type VerifiedTrail = TrailReport & { readonly checkpoint: string | null; readonly publicKey: string };

const WINDOW = 500;

/** The audit trail of an installation. */
export class AuditTrail {
  readonly #parts: AuditTrailParts;
  /** The last checkpoint that this process recorded itself, and how far the chains were then; null before. */
  #own: { readonly checkpoint: Checkpoint; readonly heads: ChainHeads } | null = null;

  constructor(parts: AuditTrailParts) {
    this.#parts = parts;
  }

  /**
   * Verifies the whole trail, also against checkpoints that were kept elsewhere. `report` gets how far it is. Throws an
   * `OperatorError` for a checkpoint that is not of this installation.
   */
  async verify(
    checkpoints: readonly Checkpoint[],
    report: (place: number, of: number) => void = () => {},
  ): Promise<VerifiedTrail> {
    const { keyring, installation, now } = this.#parts;
    for (const checkpoint of checkpoints) this.#requireOwn(checkpoint);
    const found = await verifyTrail(this.#verification(checkpoints, report));
    const checkpoint = found.wrong === 0 ? signCheckpoint(keyring, installation, found.state, now()).text : null;
    return { ...found, checkpoint, publicKey: checkpointPublicKey(keyring) };
  }

  /**
   * Reads the events of a newer database, from the lines of `audit export`, and verifies them with the trail here as one
   * trail. Throws an `OperatorError` for lines that do not continue this trail, and for a checkpoint that is not of this
   * installation.
   */
  async readNewer(
    lines: AsyncIterable<string>,
    checkpoints: readonly Checkpoint[],
  ): Promise<NewerTrail & { readonly report: TrailReport }> {
    for (const checkpoint of checkpoints) this.#requireOwn(checkpoint);
    const newer = await readNewerTrail(lines, this.#parts.store);
    return { ...newer, report: await verifyTrail({ ...this.#verification(checkpoints), store: newer.whole }) };
  }

  /**
   * Verifies the events since the last checkpoint, records a checkpoint of the whole trail, and returns its text. Null if
   * there are no new events, or more than `most`. Throws an `OperatorError` if the last checkpoint or a later event fails its
   * verification, or if the trail lacks the checkpoint that this process signed last: nothing unverified is ever signed.
   */
  async recordCheckpoint(actor: Actor, most = Number.POSITIVE_INFINITY): Promise<string | null> {
    const start = await this.#lastState();
    const upTo = await this.#parts.store.lastAuditSequence();
    const own = this.#own;
    const heads = own?.checkpoint.upTo === start.upTo ? own.heads : null;
    const found = await verifySince(this.#verification(own ? [own.checkpoint] : []), start, upTo, most, heads);
    if (!found) return null;
    const [first] = found.problems;
    if (first) throw notAsRecorded(first.sentence);
    return found.isNews ? this.#record(found, actor) : null;
  }

  /**
   * Deletes the events before a time (ms), up to the last checkpoint before it. Deletes nothing if a key that is no longer
   * present signed that checkpoint; a later checkpoint then becomes the end. First an event records the state of the trail
   * there, so that the remaining events can be verified. If a call is interrupted, the next one completes it. Throws an
   * `OperatorError` if the events do not match the checkpoint.
   */
  async shorten(before: number, actor: Actor): Promise<void> {
    const { store, keyring, installation, now } = this.#parts;
    const start = await this.#start();
    const end = await this.#endBefore(before);
    if (end && start.upTo < end.upTo) {
      await this.#requireSame(start, end);
      const { text } = signShortening(keyring, installation, end, now());
      await store.recordOfTrail(auditEvent('audit_shortened', actor, now(), {}, text));
    }
    while (await store.deleteTrailRows(Math.max(start.upTo, end?.upTo ?? 0), WINDOW));
  }

  /** The newest genuine checkpoint from before a time. Its row may lie about the time: what was signed counts. */
  async #endBefore(before: number): Promise<Checkpoint | null> {
    const row = await this.#parts.store.findCheckpoint(before);
    if (!row) return null;
    const [end = null] = findCheckpoints(row.detail ?? '');
    if (end && isSigned(this.#parts.keyring, end) === null) return null;
    const why = end && end.at >= before ? 'its time was changed' : whyNotOwn(this.#parts, end, row.sequence);
    if (why !== null) throw notAsRecorded(`event ${row.sequence} holds no checkpoint of this installation: ${why}`);
    return end;
  }

  /** Requires that the events between two states are those that were signed. */
  async #requireSame(start: TrailState, end: Checkpoint): Promise<void> {
    const { store } = this.#parts;
    let state = start;
    while (state.upTo < end.upTo) {
      const rows = await store.listTrailRows(state.upTo, end.upTo, WINDOW);
      state = rows.reduce(advanced, state);
      if (rows.length < WINDOW) break;
    }
    if (!isSame(end, state))
      throw notAsRecorded(
        `the events up to ${end.upTo} are not those of the checkpoint of ${new Date(end.at).toISOString()}`,
      );
  }

  /** The state of the trail up to the last event that was taken away. */
  async #start(): Promise<TrailState> {
    const row = await this.#parts.store.findShortening();
    if (!row) return BEGINNING;
    const start = readShortening(row.detail);
    const why = whyNotOwn(this.#parts, start, row.sequence);
    if (why !== null) throw notAsRecorded(`event ${row.sequence} holds no shortening of this installation: ${why}`);
    return start as TrailState;
  }

  /**
   * Verifies the whole trail, and records a checkpoint under the current root key, which proves the trail from then on, and
   * where the trail was shortened, that too. So an earlier key can go. Throws an `OperatorError` when something is wrong,
   * unless that is `accepted`; a shortening that is not genuine is not signed even then.
   */
  async prove(accepted: boolean, actor: Actor): Promise<void> {
    const { store, keyring, installation, now } = this.#parts;
    const found = await this.verify([]);
    const [first] = found.problems;
    if (first && !accepted)
      throw new OperatorError(
        `the audit trail failed its verification (${first.sentence}): keep a copy of the database, and run "audit verify"; --accept-trail retires the key all the same`,
      );
    const row = await store.findShortening();
    const shortening = row && readShortening(row.detail);
    const isOwn = row && whyNotOwn(this.#parts, shortening, row.sequence) === null;
    if (shortening && isOwn && shortening.keyId !== keyring.currentKeyId) {
      const { text } = signShortening(keyring, installation, shortening, now());
      await store.recordOfTrail(auditEvent('audit_shortened', actor, now(), {}, text));
    }
    await this.#record(found, actor);
  }

  async #record({ state, heads }: TrailReport, actor: Actor): Promise<string> {
    const { store, keyring, installation, now } = this.#parts;
    const checkpoint = signCheckpoint(keyring, installation, state, now());
    const { text } = checkpoint;
    await store.recordOfTrail(auditEvent('audit_checkpoint', actor, now(), {}, text));
    this.#own = { checkpoint, heads };
    return text;
  }

  /**
   * The events after a cursor, in order. An event whose transaction has not ended is never skipped: it comes with a later
   * call, and so do all events after it. Throws an `OperatorError` if the trail lacks the cursor's event or has another one
   * there, and `TrailHeldUp` while a transaction has not ended.
   */
  async *eventsAfter({ sequence, mac }: TrailPlace): AsyncGenerator<readonly ChainedAuditEvent[]> {
    const { store } = this.#parts;
    const upTo = await store.lastAuditSequence();
    if (sequence > upTo)
      throw new OperatorError(
        `the trail ends at event ${upTo}, before event ${sequence}: this is another installation, or a restored copy of this one; ${await this.#whereToBegin()}`,
      );
    const { upTo: start } = await this.#start();
    if (sequence > 0 && sequence < start)
      throw new OperatorError(
        `the events up to ${start} are past the retention, and were deleted: begin with --after ${start}`,
      );
    const [taken] = mac && sequence > start ? await store.listTrailRows(sequence - 1, sequence, 1) : [];
    if (mac && sequence > start && !taken?.chain.mac.equals(mac))
      throw new OperatorError(
        `event ${sequence} is not the event that you have: this is another installation, or a restored copy of this one; ${await this.#whereToBegin()}`,
      );
    for (let after = sequence; ; ) {
      const events = await store.listChainedEvents(after, upTo, WINDOW);
      if (events.length > 0) yield events;
      const last = events.at(-1);
      if (!last || events.length < WINDOW) return;
      after = last.sequence;
    }
  }

  /** Says where to begin if the events that were taken are not here. */
  async #whereToBegin(): Promise<string> {
    const [restore] = await this.#parts.store.listAuditEvents({ action: 'database_restored', limit: 1 });
    return restore
      ? `it was restored in event ${restore.sequence}: begin with --after ${restore.sequence - 1}, and keep the events that you have apart`
      : 'check VALETKEY_DATABASE_URL, or begin with --after 0';
  }

  /** Returns the state of the trail at its last checkpoint. */
  async #lastState(): Promise<TrailState> {
    const row = await this.#parts.store.findCheckpoint();
    if (!row) return this.#start();
    const [last = null] = findCheckpoints(row.detail ?? '');
    const why = whyNotOwn(this.#parts, last, row.sequence);
    if (why !== null) throw notAsRecorded(`event ${row.sequence} holds no checkpoint of this installation: ${why}`);
    return last as TrailState;
  }

  #verification(checkpoints: readonly Checkpoint[], report: VerificationParts['report'] = () => {}): VerificationParts {
    const { store, keyring, installation } = this.#parts;
    return { store, keyring, installation, checkpoints, report };
  }

  #requireOwn(checkpoint: Checkpoint): void {
    const { keyring, installation } = this.#parts;
    if (checkpoint.installation !== installation)
      throw new OperatorError('the checkpoint is of another installation: check VALETKEY_DATABASE_URL');
    if (isSigned(keyring, checkpoint) === false)
      throw new OperatorError(
        `the checkpoint of ${new Date(checkpoint.at).toISOString()} was not signed by this installation: somebody wrote or changed it`,
      );
  }
}

function notAsRecorded(sentence: string): OperatorError {
  return new OperatorError(
    `the audit trail failed its verification (${sentence}): keep a copy of the database, and run "audit verify"`,
  );
}

function advanced({ events, digest }: TrailState, row: TrailRow): TrailState {
  return { upTo: row.sequence, events: events + 1, digest: trailDigest(digest, row) };
}
