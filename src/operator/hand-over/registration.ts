/** The registration of an app, API or product that is handed over at once. */
import type { Actor, AuditEvent } from '../../oauth/trail/audit.ts';
import { type HandOverSubject, handOverMade, makeHandOver, type NewHandOver } from './hand-over.ts';
import type { HandOverStore } from './hand-over-store.ts';

/**
 * Registers a subject with its first hand-over in one write, so that a lost connection or operator leaves no app whose address
 * nobody has. Returns null if the id exists already.
 */
export async function registerHandedOver(
  store: Pick<HandOverStore, 'registerHandedOver'>,
  subject: HandOverSubject,
  registered: AuditEvent,
): Promise<NewHandOver | null> {
  // The conditions of the request are asked once, with the registration.
  const { conditions: _asked, ...actor }: Actor = registered.actor;
  const { kind, row } = subject;
  const made = makeHandOver({ kind, id: row.id }, actor.id, registered.at);
  const isNew = await store.registerHandedOver(made.handOver, subject, registered, handOverMade(made.handOver, actor));
  return isNew ? made : null;
}
