import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';
import { isolated } from '../html/isolated-text.ts';
import { directionOf, type Language, type Messages } from '../messages/messages.ts';
import type { Brand } from './brand.ts';
import { brandMark, iconHref } from './brand-mark.ts';
import { textOn } from './color.ts';
import type { PagePaths } from './page-paths.ts';

/**
 * Data of every page; `stylesheetHref` is the address that serves `stylesheet(brand.color)`, and `copyScriptHref`
 * that of `copyScript`.
 */
export type PageContext = {
  messages: Messages;
  language: Language;
  brand: Brand;
  paths: PagePaths;
  stylesheetHref: string;
  copyScriptHref: string;
};

/** The frame of a page: its title, its width, and the end of its top bar. */
export type Frame = {
  /** Plain text, without the product's name. */
  title: string;
  /** `card`: a decision. `column`: a list. `guide`: long reading. */
  shape: 'card' | 'column' | 'guide';
  bar?: Html;
  /** The navigation at the side of the main part, or above it on a narrow screen. */
  nav?: Html;
  /** True for a card with a lot to read before the decision: it is wider and closer, and its buttons stay in sight. */
  isDecision?: boolean;
  /** True if the main part has the link to help; then the footer has none. */
  hasHelp?: boolean;
  /** Inserted at the end of the head. */
  script?: Html;
};

const HTTPS = /^https:\/\/[^\s]+$/i;
const HTTP = /^https?:\/\/[^\s]+$/i;
const EMAIL = /^[^\s@:/?#&%]+@[^\s@:/?#&%]+$/;

/** Returns the whole document of a page around its main part, which must hold the one `h1`. */
export function layout(
  context: PageContext,
  { title, shape, bar, nav, script, isDecision = false, hasHelp = false }: Frame,
  main: Html,
): Html {
  const { messages, language, brand, paths, stylesheetHref } = context;
  return html`<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<meta name="color-scheme" content="light dark">
<title>${messages.layout.title(title, brand.productName)}</title>
<link rel="icon" href="${iconHref(brand, textOn(brand.color))}">
<link rel="stylesheet" href="${stylesheetHref}">
${script}</head>
<body class="${shape}${isDecision && ' decision'}${nav && ' sided'}">
<header class="bar"><a class="brand" href="${paths.home}">${brandMark(brand)}<span class="unseen">${messages.layout.home}</span></a>${bar}</header>
${nav}<main${nav && html` id="content" tabindex="-1"`}>
${main}
</main>
<footer class="foot"><span>${isolated(brand.productName)}</span>${!hasHelp && supportLink(context)}</footer>
</body>
</html>
`;
}

/** A link to help, or null if the operator configured none. */
export function supportLink({ brand, messages }: PageContext): Html | null {
  return elsewhere(messages, brand.supportAddress, messages.layout.support);
}

/**
 * A link to an https or email address; null for any other text. Our page stays open: another site opens in another
 * tab, and an email address in the mail program.
 */
export function elsewhere(messages: Messages, address: string | null, text: string): Html | null {
  if (address === null) return null;
  if (EMAIL.test(address)) return html`<a href="mailto:${address}">${text}</a>`;
  if (!HTTPS.test(address)) return null;
  return html`<a href="${address}" target="_blank" rel="noopener noreferrer">${text}${newTab(messages)}</a>`;
}

/**
 * A link back to the product where the user signed in; null for any text but an https or http address. It opens in this tab:
 * the user leaves our pages for good, and they have nothing to keep open.
 */
export function wayBack(address: string | null, text: Html): Html | null {
  return address !== null && HTTP.test(address) ? html`<a href="${address}">${text}</a>` : null;
}

/**
 * The end of a link that opens another tab: a sign, and words for screen readers. Links leave a decision's page open,
 * and other sites never open in place of a page, except by `wayBack`.
 */
export function newTab({ layout: { newTab } }: Messages): Html {
  return html`${icons.away}<span class="unseen"> ${newTab}</span>`;
}
