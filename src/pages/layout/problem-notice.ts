import { type Html, html } from '../html/html.ts';
import { icons } from '../html/icons.ts';

/**
 * A notice of a problem above a form; screen readers read it at once. Fields refer to it with
 * `aria-describedby="problem"`.
 */
export function problemNotice({ heading, text }: { heading: string; text: string }): Html {
  return html`<div class="notice problem" role="alert" id="problem">${icons.alert}<div><strong>${heading}</strong> ${text}</div></div>`;
}
