/** Addresses of this origin that a page leads on to. */
import { withoutParameter } from '../../../request/decoding.ts';

/** Any origin with a special scheme resolves paths alike (WHATWG URL §4.4). */
const ORIGIN = 'http://localhost';

/**
 * Returns a path and query of this origin without the name of an act (`done-act.ts`): a page of ours that leads on to it would
 * count as our own post. Every other text gives the start page.
 */
export function ownAddress(text: string): string {
  const address = withoutParameter(text, 'done');
  // The address is judged as it is sent: a browser must find nothing in it to resolve, such as a host or dot segments.
  const url = URL.parse(address, ORIGIN);
  return url?.origin === ORIGIN && url.pathname + url.search === address ? address : '/';
}

/** Returns the page to go on to after a sign-in or confirmation, or the start page for any other text. */
export function continueTo(text = '/'): string {
  const address = ownAddress(text);
  // A page that leads to sign-in would lead in a circle.
  return /^\/(sign-in|sign-out|enroll|confirm)\b/.test(address) ? '/' : address;
}
