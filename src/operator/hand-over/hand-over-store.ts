/** The port to where hand-overs are kept. Rules are as for every port (`oauth/store.ts`). */
import type { StoredSecret } from '../../oauth/keys/secret.ts';
import type { AuditEvent } from '../../oauth/trail/audit.ts';
import type { HandOver, HandOverName, HandOverSubject } from './hand-over.ts';

/** Hand-overs. Changing the secrets of a registration, pausing it and deleting it end its open hand-over as well. */
export type HandOverStore = {
  /** Finds a hand-over by the digest of its token. */
  findHandOver(digest: Buffer): Promise<HandOver | null>;
  /** Finds the newest hand-over of a registration. */
  findNewestHandOver(subject: HandOverName): Promise<HandOver | null>;
  /**
   * Adds a hand-over, and ends the open one before it, if the subject is active and proves itself as it was read; false
   * otherwise. Of several at the same time, the last one stays open.
   */
  addHandOver(handOver: HandOver, subject: HandOverSubject, event: AuditEvent): Promise<boolean>;
  /**
   * Registers a subject with its first hand-over, each with its event; false, and neither of the two, if the id exists
   * already.
   */
  registerHandedOver(
    handOver: HandOver,
    subject: HandOverSubject,
    registered: AuditEvent,
    made: AuditEvent,
  ): Promise<boolean>;
  /**
   * Uses a hand-over as of the event's time, and adds a secret to the subject, if there is one. False if the hand-over was
   * used, ended or has expired, or the subject is not active or proves itself otherwise than it was read: of all who try
   * at most one gets true.
   */
  useHandOver(
    handOver: HandOver,
    subject: HandOverSubject,
    use: { readonly secret: StoredSecret | null; readonly from: string },
    event: AuditEvent,
  ): Promise<boolean>;
};
