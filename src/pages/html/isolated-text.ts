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
export function isolatedAddress(text: string, limit = 320): Html {
  return html`<bdi class="address" dir="ltr">${displayName(text, limit) || '—'}</bdi>`;
}

/** An address that breaks behind its signs in a narrow column, and inside a word only where that is not enough. */
export function breakableAddress(text: string, limit = 320): Html {
  const parts = (displayName(text, limit) || '—').split(/(?<=[/.@?&=])(?=[^/.@?&=]{3})/);
  return html`<bdi class="address" dir="ltr">${parts.map((part, at) => html`${at > 0 && html`<wbr>`}${part}`)}</bdi>`;
}

/** A term of the protocol, such as a scope or an error code. */
export function isolatedCode(text: string): Html {
  return html`<code><bdi dir="ltr">${displayName(text) || '—'}</bdi></code>`;
}

/** Maximum characters of a text in a list, and bytes of its markup: 40 rows with two such texts each stay below 50 KB. */
const SHORT = 60;
const SHORT_BYTES = 300;

/** A foreign name in a row of a long list: cut at 60 characters, or before where they are large. It is whole on its own page. */
export function shortened(text: string): Html {
  return cut((limit) => isolated(text, limit));
}

/** An address or ID in such a row, cut likewise. */
export function shortenedAddress(text: string): Html {
  return cut((limit) => isolatedAddress(text, limit));
}

function cut(shown: (limit: number) => Html): Html {
  for (let limit = SHORT; ; limit = Math.floor(limit / 2)) {
    const short = shown(limit);
    if (limit === 1 || Buffer.byteLength(String(short)) <= SHORT_BYTES) return short;
  }
}
