import { type Html, html } from './html.ts';

function icon(shape: Html): Html {
  return html`<svg class="icon" viewBox="0 0 20 20" width="20" height="20" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">${shape}</svg>`;
}

/** Small line drawings, 20 by 20 pixels, in the text's color; decoration only. */
export const icons = {
  away: icon(html`<path d="M7 3.5h9.5V13M16 4 4 16"/>`),
  alert: icon(html`<circle cx="10" cy="10" r="7.5"/><path d="M10 6.5v4.2M10 13.6v.1"/>`),
  check: icon(html`<path d="m4.5 10.5 3.6 3.6 7.4-8"/>`),
  clock: icon(html`<circle cx="10" cy="10" r="7.5"/><path d="M10 5.8V10l2.8 1.8"/>`),
  device: icon(html`<rect x="2.5" y="4" width="15" height="9.5" rx="1.5"/><path d="M7 16.5h6"/>`),
  key: icon(html`<circle cx="6.8" cy="13.2" r="3.6"/><path d="m9.4 10.6 6.8-6.8M13 7l2.6 2.6"/>`),
  lock: icon(html`<rect x="4.5" y="9" width="11" height="8" rx="2"/><path d="M7 9V6.4a3 3 0 0 1 6 0V9"/>`),
  shield: icon(html`<path d="M10 2.8 4 5v4.6c0 3.6 2.5 6.4 6 7.6 3.5-1.2 6-4 6-7.6V5zM7.2 9.9l2 2 3.6-3.8"/>`),
  warning: icon(html`<path d="M10 3.2 2.4 16.5h15.2zM10 8v4M10 14.2v.1"/>`),
  undo: icon(html`<path d="M7.5 4 4 7.5 7.5 11M4.5 7.5h7a4.25 4.25 0 0 1 0 8.5H8"/>`),
};
