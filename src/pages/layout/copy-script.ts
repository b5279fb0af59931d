/** The copy buttons of pages with values to copy. */
import { type Html, html } from '../html/html.ts';
import type { PageContext } from './layout.ts';

/** Returns the script of a page with values to copy. Follows the stylesheet; with `defer` it runs after the page is parsed. */
export function copyScriptTag({ messages: { developers }, copyScriptHref }: PageContext): Html {
  return html`<script src="${copyScriptHref}" data-copy="${developers.copy}" data-copied="${developers.copied}" defer></script>\n`;
}

/** A value to copy. The label of its button names the value, and never holds it. */
export function copyable(label: string, text: string): Html {
  return html`<span class="copyable inline" data-label="${label}"><code class="address" dir="ltr">${text}</code></span>`;
}

/**
 * The script: a button beside each text that people copy, which is the first thing in its place. Without scripts, or if the
 * browser forbids copying (on plain http), there are no buttons.
 */
export const copyScript = `'use strict';
const { copy, copied } = document.currentScript.dataset;
const status = document.createElement('p');
status.className = 'unseen';
status.setAttribute('role', 'status');
document.body.append(status);
for (const place of navigator.clipboard ? document.querySelectorAll('.copyable') : []) {
  const text = place.firstElementChild.textContent;
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = copy;
  button.setAttribute('aria-label', copy + ': ' + (place.dataset.label || text));
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(text);
    button.textContent = status.textContent = copied;
    setTimeout(() => {
      button.textContent = copy;
      status.textContent = '';
    }, 2000);
  });
  place.append(button);
}
`;
