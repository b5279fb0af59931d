import { type Html, html } from './html.ts';
import { icons } from './icons.ts';

/** The notice of a problem above a form, read out at once; fields refer to it with `aria-describedby="problem"`. */
export function problemNotice({ heading, text }: { heading: string; text: string }): Html {
  return html`<div class="notice problem" role="alert" id="problem">${icons.alert}<div><strong>${heading}</strong> ${text}</div></div>`;
}
