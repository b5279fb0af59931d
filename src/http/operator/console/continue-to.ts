/** Addresses of this origin that a sign-in or confirmation goes on to. */
import { withoutDone } from './done.ts';

/** Returns the page to go on to: an address of ours as `guard.ts` writes it, or the start page. Never another host. */
export function continueTo(text: string | undefined): string {
  // Two slashes, or a backslash that browsers read as one, would name a host.
  if (text === undefined || !/^\/(?![/\\])[\x21\x22\x24-\x5b\x5d-\x7e]*$/.test(text)) return '/';
  // A page that leads to sign-in would lead in a circle.
  return /^\/(sign-in|sign-out|enrol|confirm)\b/.test(text) ? '/' : withoutDone(text);
}
