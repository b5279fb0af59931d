import type { Brand } from './brand.ts';
import { textOn } from './colour.ts';
import { type Html, html } from './html.ts';
import { icons } from './icons.ts';
import { isolated } from './isolated.ts';
import { brandMark, iconHref } from './mark.ts';
import { directionOf, type Language, type Messages } from './messages/messages.ts';
import type { PagePaths } from './page-paths.ts';

/**
 * What every page needs besides its own data; `stylesheetHref` is the address that serves `stylesheet(brand.colour)`, and
 * `copyScriptHref` that of `copyScript`.
 */
export type PageContext = {
  messages: Messages;
  language: Language;
  brand: Brand;
  paths: PagePaths;
  stylesheetHref: string;
  copyScriptHref: string;
};

/** The frame's part of a page: its title, its width, and what stands at the end of the bar at the top. */
export type Frame = {
  /** Plain text, without the product's name. */
  title: string;
  /** `card`: one thing to decide. `column`: a list. `guide`: long reading. */
  shape: 'card' | 'column' | 'guide';
  bar?: Html;
  /** Whether it is a card with a lot to read before the decision: then it is wider and closer, and its buttons stay in sight. */
  isDecision?: boolean;
  /** Whether the main part has the link to help, which then is not at the foot as well. */
  hasHelp?: boolean;
  /** Stands at the end of the head. */
  script?: Html;
};

const HTTPS = /^https:\/\/[^\s]+$/;
const EMAIL = /^[^\s@:/?#&%]+@[^\s@:/?#&%]+$/;

/** The whole document of one page around the content of its main part, which must hold the one `h1`. */
export function layout(
  context: PageContext,
  { title, shape, bar, script, isDecision = false, hasHelp = false }: Frame,
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
<link rel="icon" href="${iconHref(brand, textOn(brand.colour))}">
<link rel="stylesheet" href="${stylesheetHref}">
${script}</head>
<body class="${shape}${isDecision && ' decision'}">
<header class="bar"><a class="brand" href="${paths.home}">${brandMark(brand)}<span class="unseen">${messages.layout.home}</span></a>${bar}</header>
<main>
${main}
</main>
<footer class="foot"><span>${isolated(brand.productName)}</span>${!hasHelp && supportLink(context)}</footer>
</body>
</html>
`;
}

/** A link to the people who can help, or nothing if the operator named none. */
export function supportLink({ brand, messages }: PageContext): Html | null {
  return elsewhere(messages, brand.supportAddress, messages.layout.support);
}

/**
 * A link to somebody's https or e-mail address; null for every other text. Our page stays open: another site opens in another
 * tab, and an e-mail address in the mail program.
 */
export function elsewhere(messages: Messages, address: string | null, text: string): Html | null {
  if (address === null) return null;
  if (EMAIL.test(address)) return html`<a href="mailto:${address}">${text}</a>`;
  if (!HTTPS.test(address)) return null;
  return html`<a href="${address}" target="_blank" rel="noopener noreferrer">${text}${newTab(messages)}</a>`;
}

/** The end of a link that opens another tab: a sign, and the words for who hears it. Links leave a decision's page open, and other sites are never opened in place of a page. */
export function newTab({ layout: { newTab } }: Messages): Html {
  return html`${icons.away}<span class="unseen"> ${newTab}</span>`;
}
