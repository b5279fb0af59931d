/** The audit trail as a whole: verifies, checkpoints, shortens and exports it. */
import { type Actor, auditEvent } from '../oauth/audit.ts';
import { type ChainedAuditEvent, EMPTY_TRAIL, type TrailRow, trailDigest } from '../oauth/audit-chain.ts';
import {
  type Checkpoint,
  checkpointPublicKey,
  findCheckpoints,
  isSigned,
  signCheckpoint,
  type TrailState,
} from '../oauth/audit-checkpoint.ts';
import { OperatorError } from '../oauth/error.ts';
import type { Keyring } from '../oauth/keyring.ts';
import type { AuditStore } from '../oauth/store.ts';
import { type NewerTrail, readNewerTrail } from './newer-trail.ts';
import { type TrailReport, verifyTrail } from './trail-verification.ts';

/** What the trail works with. `now` returns ms since the epoch. */
export type AuditTrailParts = {
  readonly store: AuditStore;
  readonly keyring: Keyring;
  /** The id of the installation, in hexadecimal. */
  readonly installation: string;
  readonly now: () => number;
};

/** What a verification found, with a checkpoint of what is there now; the checkpoint is null when something is wrong. */
export type VerifiedTrail = TrailReport & { readonly checkpoint: string | null; readonly publicKey: string };

const WINDOW = 500;

/** The audit trail of an installation. */
export class AuditTrail {
  readonly #parts: AuditTrailParts;
  /** The last event that this process saw in the trail. */
  #seen = 0;

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
    const { store, keyring, installation, now } = this.#parts;
    for (const checkpoint of checkpoints) this.#requireOwn(checkpoint);
    const found = await verifyTrail({ store, keyring, installation, checkpoints, report });
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
    const { store, keyring, installation } = this.#parts;
    for (const checkpoint of checkpoints) this.#requireOwn(checkpoint);
    const newer = await readNewerTrail(lines, store);
    const parts = { keyring, installation, checkpoints, report: () => {}, foreign: newer.foreign };
    return { ...newer, report: await verifyTrail({ store: newer.whole, ...parts }) };
  }

  /**
   * Records a checkpoint of the whole trail, and returns its text. Null when nothing happened since the last one, or more
   * than `most` events did. Throws an `OperatorError` when the last checkpoint is not of this installation, so that no
   * forged one is continued, and when the trail ends before an event that this process saw.
   */
  async recordCheckpoint(actor: Actor, most = Number.POSITIVE_INFINITY): Promise<string | null> {
    const { store } = this.#parts;
    const upTo = await store.lastAuditSequence();
    if (upTo < this.#seen)
      throw new OperatorError(
        `the audit trail ends at event ${upTo}, and had event ${this.#seen} before: its end was cut off`,
      );
    this.#seen = upTo;
    let state = await this.#lastState();
    const { events } = state;
    let isNews = false;
    while (state.upTo < upTo) {
      const rows = await store.listTrailRows(state.upTo, upTo, WINDOW);
      isNews ||= rows.some(({ action }) => action !== 'audit_checkpoint');
      state = rows.reduce(advanced, state);
      if (state.events - events > most) return null;
      if (rows.length < WINDOW) break;
    }
    return isNews ? this.#record(state, actor) : null;
  }

  /**
   * Takes away the events that were recorded before a time (ms), up to the last checkpoint of then. First an event records
   * what the trail was there, so that what is left can be verified. If a call is interrupted, the next one makes up for it.
   */
  async shorten(before: number, actor: Actor): Promise<void> {
    const { store, keyring, installation, now } = this.#parts;
    const row = await store.findCheckpoint(before);
    const [end] = findCheckpoints(row?.detail ?? '');
    if (!end) return;
    this.#requireOwn(end);
    const start = await this.#start();
    if (start < end.upTo) {
      const { text } = signCheckpoint(keyring, installation, end, now());
      await store.recordOfTrail(auditEvent('audit_shortened', actor, now(), { detail: text }));
    }
    while (await store.deleteTrailRows(Math.max(start, end.upTo), WINDOW));
  }

  /** The last event that was taken away; 0 when none was. */
  async #start(): Promise<number> {
    const shortening = await this.#parts.store.findShortening();
    return findCheckpoints(shortening?.detail ?? '')[0]?.upTo ?? 0;
  }

  /**
   * Verifies the whole trail, and records a checkpoint under the current root key, which proves the trail from then on. So
   * an earlier key can go. Throws an `OperatorError` when something is wrong, unless that is `accepted`.
   */
  async prove(actor: Actor, accepted: boolean): Promise<void> {
    const { state, problems } = await this.verify([]);
    const [first] = problems;
    if (first && !accepted)
      throw new OperatorError(
        `the audit trail is not what was recorded (${first.sentence}): look at "audit verify", and keep a copy of the database; --accept-trail retires the key all the same`,
      );
    await this.#record(state, actor);
  }

  async #record(state: TrailState, actor: Actor): Promise<string> {
    const { store, keyring, installation, now } = this.#parts;
    const { text } = signCheckpoint(keyring, installation, state, now());
    await store.recordOfTrail(auditEvent('audit_checkpoint', actor, now(), { detail: text }));
    return text;
  }

  /**
   * The events after a place up to now, in their order. An event whose transaction has not ended is never left out: it comes
   * with a later call, and so do all after it. Throws an `OperatorError` when the trail has no such place, and `TrailHeldUp`
   * while an event has not ended.
   */
  async *eventsAfter(place: number): AsyncGenerator<readonly ChainedAuditEvent[]> {
    const { store } = this.#parts;
    const upTo = await store.lastAuditSequence();
    if (place > upTo)
      throw new OperatorError(
        `the trail ends at event ${upTo}, before event ${place}: this is another installation, or an older copy of it`,
      );
    const start = await this.#start();
    if (place > 0 && place < start)
      throw new OperatorError(
        `the events up to ${start} were taken away by the retention: begin with --after ${start}`,
      );
    for (let after = place; ; ) {
      const events = await store.listChainedEvents(after, upTo, WINDOW);
      if (events.length > 0) yield events;
      const last = events.at(-1);
      if (!last || events.length < WINDOW) return;
      after = last.sequence;
    }
  }

  /** What the trail was at its last checkpoint. */
  async #lastState(): Promise<TrailState> {
    const row = (await this.#parts.store.findCheckpoint()) ?? (await this.#parts.store.findShortening());
    if (!row) return { upTo: 0, events: 0, digest: EMPTY_TRAIL };
    const [last] = findCheckpoints(row.detail ?? '');
    if (!last) throw new OperatorError(`event ${row.sequence} holds no checkpoint: look at "audit verify"`);
    this.#requireOwn(last);
    return last;
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

function advanced({ events, digest }: TrailState, row: TrailRow): TrailState {
  return { upTo: row.sequence, events: events + 1, digest: trailDigest(digest, row) };
}
