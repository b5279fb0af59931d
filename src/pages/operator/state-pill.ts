/** The state of an app, a product, a person or an operator. */
import { type Html, html } from '../html/html.ts';

const PILLS = {
  active: html`<span class="effect">Active</span>`,
  failing: html`<span class="effect sensitive">Failing</span>`,
  paused: html`<span class="effect warning">Paused</span>`,
  disabled: html`<span class="effect warning">Disabled</span>`,
} as const;

/** Returns the pill of a state. */
export function statePill(state: keyof typeof PILLS): Html {
  return PILLS[state];
}
