import { displayName } from './display-name.ts';
import { type Html, html } from './html.ts';

/**
 * A foreign name or sentence, isolated so that its direction cannot disturb the text around it; a dash if nothing
 * visible is left.
 */
export function isolated(text: string, limit = 100): Html {
  return html`<bdi>${displayName(text, limit) || '—'}</bdi>`;
}

/** A host, email address, URL or request id: always left to right, and long enough for any real one. */
export function isolatedAddress(text: string): Html {
  return html`<bdi class="address" dir="ltr">${displayName(text, 320) || '—'}</bdi>`;
}

/** A term of the protocol, such as a scope or an error code. */
export function isolatedCode(text: string): Html {
  return html`<code><bdi dir="ltr">${displayName(text) || '—'}</bdi></code>`;
}
