/** The checkpoints that a running service records in the audit trail and writes to its log. */
import type { Actor } from '../../oauth/trail/audit.ts';
import type { AuditTrail } from './audit-trail.ts';

/** Time between two checkpoints (ms): events since the last one can be cut off unseen. */
const CHECKPOINT_EVERY_MS = 300_000;
/** Maximum number of events that are read for the checkpoint of a stop, which must not take long. */
const MAX_AT_STOP = 100_000;

/** The parts of the checkpoints. */
export type TrailCheckpointParts = {
  readonly trail: AuditTrail;
  readonly actor: Actor;
  /** How long events are kept (ms); null for ever. */
  readonly retention: number | null;
  /** The time by which old events are deleted (ms), which no jump of the clock moves ahead. */
  readonly cleanUpTime: () => Promise<number>;
  readonly now: () => number;
  /** Acts after a time (ms), and returns how to cancel that. */
  readonly later: (act: () => void, ms: number) => () => void;
  /** Gets the text of each checkpoint. */
  readonly told: (checkpoint: string) => void;
  /** Gets the error when a checkpoint could not be made. */
  readonly failed: (error: Error) => void;
};

/** Records a checkpoint every five minutes in which something happened, and at the stop. */
export class TrailCheckpoints {
  readonly #parts: TrailCheckpointParts;
  #cancel: () => void;
  #underWay: Promise<void> | null = null;
  /** When the trail was last verified up to its end, or this began (ms): long ago means that no checkpoint can be made. */
  verifiedAt: number;

  constructor(parts: TrailCheckpointParts) {
    this.#parts = parts;
    this.verifiedAt = parts.now();
    this.#cancel = this.#next();
  }

  /** Records a last checkpoint, and stops. */
  async stop(): Promise<void> {
    this.#cancel();
    await this.#underWay;
    await this.#record(MAX_AT_STOP);
  }

  #next(): () => void {
    return this.#parts.later(() => {
      this.#underWay = this.#record(Number.POSITIVE_INFINITY).then(() => {
        this.#underWay = null;
      });
      this.#cancel = this.#next();
    }, CHECKPOINT_EVERY_MS);
  }

  async #record(most: number): Promise<void> {
    const { trail, actor, retention, cleanUpTime, now, told, failed } = this.#parts;
    try {
      const checkpoint = await trail.recordCheckpoint(actor, most);
      this.verifiedAt = now();
      if (checkpoint !== null) told(checkpoint);
      if (retention !== null && most > MAX_AT_STOP) await trail.shorten((await cleanUpTime()) - retention, actor);
    } catch (error) {
      failed(error as Error);
    }
  }
}
