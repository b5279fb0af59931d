import { type Html, html } from './html.ts';

/** The hidden fields of a form that changes something: its token, and the path to continue to, if given. */
export function hiddenFields(formToken: string, continueTo: string | null = null): Html {
  const next = continueTo !== null && html`<input type="hidden" name="continue" value="${continueTo}">`;
  return html`<input type="hidden" name="form_token" value="${formToken}">${next}`;
}
