/** An event of the audit trail, as pages show one. */
import type { AuditAction } from '../../../oauth/trail/audit.ts';
import { type Html, html } from '../../html.ts';
import { isolated, isolatedAddress } from '../../isolated.ts';

/** A thing of the installation; `name` is null if it was deleted. */
export type Thing = {
  readonly kind: 'app' | 'API' | 'product' | 'operator' | 'person';
  readonly id: string;
  readonly name: string | null;
};

/** The actor: a thing, this service itself, somebody unknown, or an operator on the command line. */
export type Doer =
  | Thing
  | { readonly kind: 'service' }
  | { readonly kind: 'visitor' }
  | { readonly kind: 'command'; readonly id: string };

/** An event; `at` in ms. */
export type ShownEvent = {
  readonly sequence: number;
  readonly at: number;
  readonly action: AuditAction;
  readonly by: Doer;
  readonly source: string | null;
  readonly requestId: string | null;
  /** The app, API, product or operator that it is about. */
  readonly about: Thing | null;
  readonly person: Thing | null;
  readonly grantId: string | null;
  readonly detail: string | null;
};

const PATHS = { app: '/apps', API: '/apis', product: '/products', operator: '/operators', person: '/people' } as const;

/** A link to a thing, or the id of one that is gone; null without one. */
export function thingLink(thing: Thing | null): Html | null {
  if (thing === null) return null;
  const { kind, id, name } = thing;
  if (name === null) return html`<code>${isolatedAddress(id)}</code>`;
  return html`<a href="${PATHS[kind]}/${encodeURIComponent(id)}">${isolated(name)}</a>`;
}

/** Returns the actor in words. */
export function doerWords(by: Doer): Html | string {
  if (by.kind === 'service') return 'This service';
  if (by.kind === 'visitor') return 'Somebody unknown';
  if (by.kind === 'command') return html`${isolated(by.id)} (a command)`;
  return html`${thingLink(by)} (${by.kind})`;
}
