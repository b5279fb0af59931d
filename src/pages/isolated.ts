import { displayName } from './display-name.ts';
import { type Html, html } from './html.ts';

/** A name or sentence that someone else wrote, shown so that its direction can't disturb the text around it; a dash if nothing of it is visible. */
export function isolated(text: string, limit = 100): Html {
  return html`<bdi>${displayName(text, limit) || '—'}</bdi>`;
}

/** A host, e-mail address, URL or request id: always read from left to right, and never cut where a real one still fits. */
export function isolatedAddress(text: string): Html {
  return html`<bdi class="address" dir="ltr">${displayName(text, 320) || '—'}</bdi>`;
}

/** A word of the protocol, such as a scope or an error code. */
export function isolatedCode(text: string): Html {
  return html`<code><bdi dir="ltr">${displayName(text) || '—'}</bdi></code>`;
}
