import { type Html, html } from '../html/html.ts';

/** A section of the developers' page; `isStep` sets it below the previous one. */
export type Section = { id: string; heading: string; body: Html; isStep?: boolean };

/** A block of code or of an answer, which scrolls by itself if it is too wide. */
export function codeBlock(label: string, text: string): Html {
  const block = html`<pre class="code" dir="ltr" tabindex="0" role="region" aria-label="${label}"><code>${text}</code></pre>`;
  return html`<div class="copyable" dir="ltr" data-label="${label}">${block}</div>`;
}

/** A list of terms with their descriptions. */
export function termList(...items: readonly Html[]): Html {
  return html`<dl class="rows">\n${items}</dl>`;
}

/** One row of `rows`; `note` is small text beside the term, such as a status or a standard's number; `id` is its anchor. */
export function termRow(term: Html | string, description: Html | string, note = '', id = ''): Html {
  return html`<div${id && html` id="${id}"`}><dt>${term}${note && html` <bdi class="status">${note}</bdi>`}</dt><dd>${description}</dd></div>\n`;
}

/** An address to copy. */
export function copyableAddress(address: string): Html {
  return html`<span class="copyable inline"><code class="address" dir="ltr">${address}</code></span>`;
}

/** Rules, each with a point. */
export function ruleList(...rules: readonly Html[]): Html {
  return html`<ul>\n${rules.map((rule) => html`<li>${rule}</li>\n`)}</ul>`;
}
