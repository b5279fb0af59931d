import { type Html, html } from '../html/html.ts';
import { isolatedAddress } from '../html/isolated-text.ts';
import type { PageContext } from '../layout/layout.ts';
import { card, type Parent } from './frame.ts';

/** A problem at the operators' address. */
export type ConsoleProblem = {
  readonly kind: keyof typeof KINDS;
  readonly retryAfterSeconds?: number | undefined;
  /** The list that the missing thing would be in, if it is in one. */
  readonly list?: Parent | null;
};

/** The page that says what happened, and what to do. */
export function problemPage(
  context: PageContext,
  { kind, retryAfterSeconds, list = null }: ConsoleProblem,
  requestId: string,
): Html {
  const [heading, text] = KINDS[kind];
  return card(
    context,
    heading,
    html`<h1>${heading}</h1>
<p>${text}${retryAfterSeconds !== undefined && ` Try again in ${retryAfterSeconds} seconds.`}</p>
<div class="stack">${list && html`<a class="button secondary" href="${list[0]}">Go to ${list[1]}</a>`}<a class="button secondary" href="/">Go to the start page</a></div>
<dl class="detail"><div><dt>Request</dt><dd>${isolatedAddress(requestId)}</dd></div></dl>`,
  );
}

const KINDS = {
  not_found: ['There is nothing here', 'The address is mistyped, or the thing was deleted.'],
  dead_address: [
    'This link no longer works',
    'A one-time link works once: within 24 hours to enroll, within 5 minutes to sign in. A newer one ends it. Ask an admin for a new one.',
  ],
  not_allowed: ['Your role does not allow this', 'Nothing happened. An admin can do it, or change your role.'],
  access_ended: [
    'Your access changed meanwhile',
    'Nothing happened. Sign in again, and check if your role still allows this.',
  ],
  form_refused: [
    'This form was not sent from here',
    'Nothing happened. Open the page at its own address, and try again. If a proxy is in between, VALETKEY_OPERATOR_URL must be the address that your browser shows.',
  ],
  not_a_window: ['Open this page in a window', 'A frame or a script asked for it. Nothing was shown.'],
  bad_request: ['This request cannot be read', 'Nothing happened. Go to the start page, and try again.'],
  another_host: [
    'This is another address',
    'The browser asked for another host than VALETKEY_OPERATOR_URL names. Open that address. If a proxy is in between, it must pass Host on.',
  ],
  plain_http: ['This page needs https', 'The request came over plain http, where others can read it.'],
  too_many_requests: ['Too many requests', 'Nothing happened.'],
  unavailable: ['The database does not answer', 'Nothing happened.'],
  internal: ['Something went wrong', 'The log has the reason, under the number below.'],
} as const satisfies Record<string, readonly [heading: string, text: string]>;
