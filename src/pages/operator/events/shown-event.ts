/** An event of the audit trail, as pages show one. */
import type { AuditAction } from '../../../oauth/trail/audit.ts';
import { type Html, html } from '../../html/html.ts';
import { isolated, isolatedAddress, shortened, shortenedAddress } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { type Noun, phraseOf } from './actions.ts';
import type { ShownPart } from './details.ts';

/** A thing of the installation. That of a deleted one may be known: `name` is null if not. */
export type Thing = {
  readonly kind: 'app' | 'API' | 'product' | 'operator' | 'person';
  readonly id: string;
  readonly name: string | null;
  readonly isDeleted: boolean;
};

/** The actor: a thing, this service itself, somebody unknown, or a user of the system who ran a command. */
export type Doer =
  | Thing
  | { readonly kind: 'service' }
  | { readonly kind: 'visitor' }
  | { readonly kind: 'command'; readonly id: string };

/** An event; `at` in ms. Another release may have written it, so that its action is none of those that this one knows. */
export type ShownEvent = {
  readonly sequence: number;
  readonly at: number;
  readonly action: AuditAction;
  readonly by: Doer;
  readonly source: string | null;
  readonly requestId: string | null;
  /** The ID of the operator’s key, or kind and begin of the session. */
  readonly means: string | null;
  /** The app, API, product or operator that it is about. */
  readonly about: Thing | null;
  readonly person: Thing | null;
  readonly grantId: string | null;
  readonly detail: readonly ShownPart[];
};

const PATHS = { app: '/apps', API: '/apis', product: '/products', operator: '/operators', person: '/people' } as const;

/** A link to a thing, or the name of one that is gone; null without one. */
export function thingLink(thing: Thing | null): Html | null {
  if (thing === null) return null;
  const { kind, id, name, isDeleted } = thing;
  if (isDeleted)
    return html`${name !== null && html`${isolated(name)}, `}<code>${isolatedAddress(id)}</code> (deleted)`;
  return html`<a href="${PATHS[kind]}/${encodeURIComponent(id)}">${name === null ? isolatedAddress(id) : isolated(name)}</a>`;
}

/** Returns the actor with a link. */
export function doerLink(by: Doer): Html | string {
  if (by.kind === 'service') return 'This service';
  if (by.kind === 'visitor') return 'Somebody unknown';
  if (by.kind === 'command') return html`${isolated(by.id)}, the system user who ran a command`;
  return html`${thingLink(by)} (${by.kind})`;
}

/** Returns who caused an event and when, with a link to it. */
export function doneBy({ messages }: PageContext, { sequence, at, by }: ShownEvent): Html {
  return html`By ${doerLink(by)}, ${messages.minute(at)}. <a href="/events/${sequence}">See the event</a>`;
}

/** Returns an event as a sentence with the names of its things, cut where they are long, without links and without a full stop. */
export function eventSentence({ action, by, about, person, detail }: ShownEvent): Html {
  const wordsOf = (before: string, noun: Noun): Html | string => {
    const thing = noun === 'a person' ? person : about;
    const isActor = thing !== null && isSame(thing, by);
    if (before !== '' && (thing === null || isActor)) return '';
    if (thing === null) return noun;
    if (isActor) return 'themselves';
    // The phrase of a deletion has said so already.
    const isGone = thing.isDeleted && !action.endsWith('_deleted');
    return html`${before}${nameOf(thing)}${isGone && ' (deleted)'}`;
  };
  const words = phraseOf(
    action,
    wordsOf,
    detail.some((part) => part.kind === 'sentence' && part.member === 'invited'),
  );
  return html`${doerName(by)} ${words}`;
}

/** True if a thing is the actor. */
export function isSame(thing: Thing, by: Doer): boolean {
  return 'id' in by && thing.kind === by.kind && thing.id === by.id;
}

function doerName(by: Doer): Html | string {
  if (by.kind === 'service') return 'This service';
  if (by.kind === 'visitor') return 'Somebody unknown';
  if (by.kind === 'command') return html`${isolated(by.id)} (by command)`;
  return html`${nameOf(by)}${by.isDeleted && ' (deleted)'}`;
}

function nameOf({ id, name }: Thing): Html {
  return name === null ? shortenedAddress(id) : shortened(name);
}

/** Returns the address of a request's page. */
export function requestHref(id: string): string {
  return `/requests/${encodeURIComponent(id)}`;
}
