import { type Html, html } from './html.ts';
import { isolatedAddress } from './isolated.ts';
import { layout, type PageContext, supportLink } from './layout.ts';
import type { Messages } from './messages/messages.ts';

/** What went wrong, as far as a person needs to know. */
export type ErrorKind = keyof Messages['errors']['kinds'];

/** What the error page shows; `retryAfterSeconds` matters for `too_many_requests` and `unavailable`. */
export type ErrorData = { kind: ErrorKind; requestId: string; retryAfterSeconds?: number };

/** The page that says what happened and what to do now. It shows nothing of the request but its id. */
export function errorPage(context: PageContext, { kind, requestId, retryAfterSeconds }: ErrorData): Html {
  const texts = context.messages.errors;
  const { heading, text, now, developer } = texts.kinds[kind];
  const help = supportLink(context);
  const next = retryAfterSeconds === undefined ? now : texts.waitAndRetry(retryAfterSeconds);
  return layout(
    context,
    { title: heading, shape: 'card' },
    html`<h1>${heading}</h1>
<p>${text}</p>
<p>${next}</p>
<div class="stack"><a class="button secondary" href="${context.paths.home}">${texts.goHome}</a></div>
<dl class="detail">
<div><dt>${texts.developers}</dt><dd>${developer}</dd></div>
<div><dt>${texts.requestId}</dt><dd>${isolatedAddress(requestId)} ${help && html`<span class="quote">${texts.quote} ${help}</span>`}</dd></div>
</dl>`,
  );
}
