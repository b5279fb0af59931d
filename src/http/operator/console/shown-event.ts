/** Events of the audit trail, as pages show them. */
import { accountLabel } from '../../../accounts/people/account.ts';
import { isProviderId } from '../../../accounts/people/identity-provider.ts';
import type { NamedAuditEvent } from '../../../oauth/trail/audit-store.ts';
import { readMembers, textIn } from '../../../oauth/trail/event-members.ts';
import { eventParts } from '../../../operator/trail/event-words.ts';
import type { Doer, ShownEvent, Thing } from '../../../pages/operator/events/shown-event.ts';

/** Returns an event as pages show it. */
export function shownEvent(event: NamedAuditEvent): ShownEvent {
  const { sequence, at, action, actor, clientId, resourceOwnerId, resourceOwner, grantId } = event;
  const nameThen = textIn(readMembers(event.detail), 'name');
  const about = clientId === null ? null : thing(kindOf(clientId), clientId, event.clientName, nameThen);
  const person =
    resourceOwnerId === null ? null : thing('person', resourceOwnerId, resourceOwner && accountLabel(resourceOwner));
  return {
    sequence,
    at,
    action,
    about,
    person,
    grantId,
    detail: eventParts(event),
    by: doerOf(event, [about, person]),
    source: actor.source,
    requestId: actor.requestId,
    means: actor.by,
  };
}

/** A thing has a name as long as it is there; events keep the former name of some. */
function thing(kind: Thing['kind'], id: string, name: string | null, before: string | null = null): Thing {
  return { kind, id, name: name ?? before, isDeleted: name === null };
}

/** An event names the app, API, product or operator by its id alone, and each kind of ids has a form of its own. */
function kindOf(id: string): Exclude<Thing['kind'], 'person'> {
  if (id.startsWith('opr_')) return 'operator';
  if (id.startsWith('rs_')) return 'API';
  return isProviderId(id) ? 'product' : 'app';
}

function doerOf({ actor: { kind, id, source }, actorName }: NamedAuditEvent, things: readonly (Thing | null)[]): Doer {
  const known = (of: Thing['kind']) =>
    things.find((each) => each?.kind === of && each.id === id) ?? thing(of, id, actorName);
  switch (kind) {
    case 'operator':
      return source === null ? { kind: 'command', id } : known('operator');
    case 'user':
      return known('person');
    case 'client':
      return known('app');
    case 'provider':
      return known('product');
    default:
      return { kind };
  }
}
