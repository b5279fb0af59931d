import { type Html, html } from './html/html.ts';
import { isolatedAddress } from './html/isolated-text.ts';
import { layout, type PageContext, supportLink } from './layout/layout.ts';
import type { Messages } from './messages/messages.ts';

/** Kind of error, as far as a user needs to know. */
export type ErrorKind = keyof Messages['errors']['kinds'];

/**
 * Details of some kinds: `retryAfterSeconds` for `too_many_requests` and `unavailable`; `received` is a value of the
 * refused request, which may come from an attacker. `meant` is the address that a request to an unknown one probably
 * meant.
 */
export type ErrorDetails = {
  retryAfterSeconds?: number | undefined;
  received?: string | undefined;
  meant?: string | undefined;
};

/** Data of the error page. */
export type ErrorData = ErrorDetails & { kind: ErrorKind; requestId: string };

/** Errors that a developer meets when trying requests: the page links to the developers' page. */
const ABOUT_REQUESTS: readonly ErrorKind[] = [
  'missing_client_id',
  'unknown_client',
  'unadmitted_client',
  'missing_redirect_uri',
  'bad_redirect_uri',
  'bad_request_uri',
  'bad_request',
  'not_found',
];

/**
 * The page that says what happened and what to do now. Of the request it shows only its ID, and the refused value as
 * text.
 */
export function errorPage(
  context: PageContext,
  { kind, requestId, retryAfterSeconds, received, meant }: ErrorData,
): Html {
  const texts = context.messages.errors;
  const { heading, text, now, developer } = texts.kinds[kind];
  const help = supportLink(context);
  const next = retryAfterSeconds === undefined ? now : texts.waitAndRetry(retryAfterSeconds);
  return layout(
    context,
    { title: heading, shape: 'card', hasHelp: true },
    html`<h1>${heading}</h1>
<p>${text}</p>
<p>${next}</p>
<div class="stack"><a class="button secondary" href="${context.paths.home}">${texts.goHome}</a></div>
<dl class="detail">
<div><dt>${texts.developers}</dt><dd>${developer}${meant !== undefined && html` ${texts.meant(isolatedAddress(meant))}`}${ABOUT_REQUESTS.includes(kind) && html` ${texts.developersPage(context.paths.developers)}`}</dd></div>
${received !== undefined && html`<div><dt>${texts.received}</dt><dd><code>${isolatedAddress(received)}</code></dd></div>\n`}<div><dt>${texts.requestId}</dt><dd>${isolatedAddress(requestId)} ${help && html`<span class="quote">${texts.quote} ${help}</span>`}</dd></div>
</dl>`,
  );
}
