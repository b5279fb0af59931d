/** Events of the audit trail, as pages show them. */
import { accountLabel } from '../../../../accounts/people/account.ts';
import { isProviderId } from '../../../../accounts/people/identity-provider.ts';
import type { NamedAuditEvent } from '../../../../oauth/trail/audit-store.ts';
import type { Operator } from '../../../../operator/access/operator.ts';
import type { Doer, ShownEvent, Thing } from '../../../../pages/operator/events/shown-event.ts';

/** Returns an event as pages show it; `known` are the operators, whom an event names by id alone. */
export function shownEvent(event: NamedAuditEvent, known: readonly Operator[]): ShownEvent {
  const { sequence, at, action, actor, clientId, resourceOwnerId, resourceOwner, grantId, detail } = event;
  const operatorCalled = (id: string) => known.find((operator) => operator.id === id)?.name ?? null;
  const kind = clientId === null ? null : kindOf(clientId);
  const name = kind === 'operator' ? operatorCalled(clientId ?? '') : event.clientName;
  const about: Thing | null = kind && { kind, id: clientId ?? '', name };
  const person: Thing | null =
    resourceOwnerId === null
      ? null
      : { kind: 'person', id: resourceOwnerId, name: resourceOwner && accountLabel(resourceOwner) };
  return {
    ...{ sequence, at, action, about, person, grantId, detail },
    by: doerOf(event, { about, person, operatorCalled }),
    source: actor.source,
    requestId: actor.requestId,
  };
}

/** An event names the app, API, product or operator by its id alone, and each kind of ids has a form of its own. */
function kindOf(id: string): Exclude<Thing['kind'], 'person'> {
  if (id.startsWith('opr_')) return 'operator';
  if (id.startsWith('rs_')) return 'API';
  return isProviderId(id) ? 'product' : 'app';
}

function doerOf(
  { actor: { kind, id, source } }: NamedAuditEvent,
  {
    about,
    person,
    operatorCalled,
  }: Pick<ShownEvent, 'about' | 'person'> & {
    operatorCalled: (id: string) => string | null;
  },
): Doer {
  const nameIn = (thing: Thing | null) => (thing?.id === id ? thing.name : null);
  switch (kind) {
    case 'operator':
      return source === null ? { kind: 'command', id } : { kind, id, name: operatorCalled(id) };
    case 'user':
      return { kind: 'person', id, name: nameIn(person) };
    case 'client':
      return { kind: 'app', id, name: nameIn(about) };
    case 'provider':
      return { kind: 'product', id, name: nameIn(about) ?? id };
    default:
      return { kind };
  }
}
