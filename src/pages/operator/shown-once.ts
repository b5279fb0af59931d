/** A one-time link or a secret, which an operator sees once: its block, and the page that has nothing else. */
import { type Html, type HtmlValue, html } from '../html/html.ts';
import { isolated } from '../html/isolated-text.ts';
import { copyScriptTag } from '../layout/copy-script.ts';
import type { PageContext } from '../layout/layout.ts';
import { type ConsolePage, listAbove } from './frame.ts';

/** A text that is shown once. */
export type ShownOnce = {
  /** Says what to do with the text. */
  readonly heading: HtmlValue;
  readonly text: string;
  /** The sentences to send with a link; null for a secret. */
  readonly message: HtmlValue | null;
  /** Names the right channels, and how a wrong reader is noticed. */
  readonly channels: HtmlValue;
};

/**
 * The block of such a text, whose page has the script of copy buttons. One click selects the whole text, and another one the
 * message. No label of a button holds the text.
 */
export function shownOnce({ heading, text, message, channels }: ShownOnce): Html {
  return html`<section class="once"><h2>${heading}</h2>
<div class="secret copyable" data-label="${message === null ? 'the secret' : 'the link'}"><code>${text}</code></div>
<p class="fine">A click selects all of it. It is shown only once: it is gone when you load this page again.</p>
${message === null ? html`<h3>How to pass it on</h3><p>${channels}</p>` : html`<div class="halves"><div><h3>Words to send with it</h3><div class="copyable" data-label="the words"><p class="message">${message}</p></div></div><div><h3>How to send it</h3><p>${channels}</p></div></div>`}</section>`;
}

/** The way on from such a text, beside which it is no main thing. */
export function wayOn(once: ShownOnce | null, { href, noun }: Omit<NextPage, 'name'>): Html {
  const done = once === null ? 'Go' : once.message === null ? 'I have stored it: go' : 'I have sent it: go';
  return html`<p class="part"><a class="button secondary" href="${href}">${done} to ${noun}</a></p>`;
}

/** The page that follows, its noun ("the app") and its name, which the breadcrumbs show. */
type NextPage = { readonly href: string; readonly noun: string; readonly name: string };

/** Data of the page. */
export type ShownOnceData = {
  readonly heading: string;
  /** True if the heading names the next page, too: "The new secret of Notes". */
  readonly isOf?: boolean;
  readonly lead?: HtmlValue;
  /** Null if an earlier answer showed it. */
  readonly once: ShownOnce | null;
  readonly next: NextPage;
};

/** The page of a text that is shown once. */
export function shownOncePage(context: PageContext, data: ShownOnceData): ConsolePage {
  const { heading, isOf = false, lead, once, next } = data;
  const list = listAbove(next.href);
  return {
    frame: {
      title: isOf ? `${heading} of ${next.name}` : heading,
      ...(list && { section: list[1], parents: [list, [next.href, next.name]] }),
      here: heading,
      ...(once !== null && { script: copyScriptTag(context) }),
    },
    main: html`<h1>${heading}${isOf && html` of ${isolated(next.name)}`}</h1>
${lead !== undefined && html`<p class="lead">${lead}</p>`}
${once !== null && shownOnce(once)}
${wayOn(once, next)}`,
  };
}
