/** The consent page's part of the stylesheet. */
export const consentRules = `
.decision main { max-inline-size: 36rem; padding: 1.5rem 1.75rem 1.25rem; }
.decision .foot { padding-block: 1rem; }
.decision h1 { font-size: 1.3125rem; }
.who:not(.asking) > * + * { margin-block-start: 0.875rem; }
.decision main > * + *, .decision .consent > * + * { margin-block-start: 0.875rem; }
.decision .consent > [type="hidden"] + h2 { margin-block-start: 0; }
.decision .aside { font-size: 0.8125rem; }
.asking { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: 0.75rem 1rem; align-items: start; }
.asking .monogram { inline-size: 3rem; block-size: 3rem; font-size: 1.375rem; border-radius: 0.875rem; }
.asking .lead { font-size: 0.9375rem; }
.asking .profile ~ .lead { margin-block-start: 0.375rem; }
.account { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 0.75rem; padding: 0.625rem 0.75rem; background: var(--sunken); border-radius: 0.75rem; font-size: 0.875rem; line-height: 1.4; }
.account p { flex: 1 1 7rem; min-inline-size: 0; }
.account form { margin-block: -0.625rem; margin-inline: auto -0.375rem; }
.account strong { display: block; font-weight: 600; }
.account .address { color: var(--muted); }
.account .monogram { background: var(--surface); }
.device { padding: 0.75rem 1rem 0.875rem; border: 1px solid var(--brand-edge); border-radius: 0.75rem; background: var(--wash); }
.device h2 { display: flex; gap: 0.5rem; align-items: center; }
.device p { margin-block-start: 0.375rem; font-size: 0.9375rem; line-height: 1.45; }
.device .user-code { margin-block-start: 0.5rem; font-size: 1.625rem; line-height: 1.3; font-weight: 650; letter-spacing: 0.12em; text-align: center; }
.device .user-code code { font-size: 1em; }
.decision .permissions { gap: 0.3125rem; font-size: 0.9375rem; line-height: 1.45; }
.decision h2 + .permissions { margin-block-start: 0.4375rem; }
.decision .permissions .icon { margin-block-start: 0.0625rem; }
.decision .permissions small { font-size: 0.8125rem; }
.options { min-inline-size: 0; margin: 0; padding: 0; border: 0; }
.options legend { margin-block-end: 0.28125rem; }
.options legend, .already h3 { padding: 0; font-size: 0.875rem; font-weight: 550; color: var(--muted); letter-spacing: 0; }
.options label { display: flex; gap: 0.75rem; padding: 0.15625rem 0.75rem; font-size: 0.9375rem; line-height: 1.45; margin-inline: -0.75rem; border-radius: 0.625rem; cursor: pointer; }
.options label:hover { background: var(--sunken); }
.options input { flex: none; appearance: none; inline-size: 1.25rem; block-size: 1.25rem; margin: 0.0625rem 0 0; background: var(--surface); border: 1.5px solid var(--edge); border-radius: 0.3125rem; cursor: pointer; }
.options label:hover input { border-color: var(--brand-text); }
.options input:checked { background: var(--brand-text); border-color: var(--brand-text); }
.options input:checked::before { content: ""; display: block; block-size: 100%; background: var(--surface); clip-path: polygon(14% 50%, 26% 38%, 42% 56%, 74% 22%, 86% 34%, 42% 80%); }
.already h3 { margin-block-end: 0.375rem; }
.already .icon { color: var(--muted); }
.verdict .facts { margin-block-end: 0.625rem; }
.verdict { position: relative; margin-inline: -1.75rem; padding: 0.75rem 1.75rem 0; background: var(--surface); border-block-start: 1px solid var(--line); }
.facts { display: grid; gap: 0.25rem; font-size: 0.8125rem; color: var(--muted); }
.facts li { display: flex; gap: 0.625rem; text-wrap: pretty; }
.facts a { white-space: nowrap; }
.facts .icon { inline-size: 1.125rem; block-size: 1.125rem; margin-block-start: 0.1rem; }
.choice { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0.625rem 0.75rem; padding-block-end: 0.75rem; }
.choice button { padding-inline: 0.75rem; }
.destination { grid-column: 1 / -1; font-size: 0.9375rem; }
.choice .notice, .caution { grid-column: 1 / -1; }
.choice .notice, .choice .caution { font-size: 0.875rem; padding: 0.5rem 0.75rem; }
.caution { display: flex; gap: 0.625rem; color: var(--ink); background: var(--caution-wash); border: 1px solid color-mix(in srgb, var(--caution) 35%, transparent); border-radius: 0.625rem; }
.caution .icon { color: var(--caution); }
.destination .address { font-weight: 600; }
.below { display: none; position: absolute; inset-block-end: calc(100% + 1px); inset-inline: 0; padding: 1.75rem 0.75rem 0.5rem; text-align: center; font-size: 0.8125rem; background: linear-gradient(transparent, var(--surface) 85%); pointer-events: none; }
.below span { display: inline-block; padding: 0.125rem 0.75rem; border: 1px solid var(--edge); border-radius: 1rem; background: var(--surface); font-weight: 550; }
@keyframes passed { from { visibility: visible; } to { visibility: hidden; } }
@media (max-width: 30rem), (pointer: coarse) { .options label { min-block-size: 2.75rem; padding-block: 0.625rem; } }
@media (max-width: 30rem) {
  .decision main { padding: 1.25rem; }
  .verdict { margin-inline: -1.25rem; padding-inline: 1.25rem; }
  .account > .monogram { display: none; }
  .account p { flex-basis: auto; }
}
@media (forced-colors: active) { .below { padding-block-start: 0.5rem; background: Canvas; } .options input { appearance: auto; } }
/* Who asks stands beside what it asks, so that both are in sight with Allow and Deny on a laptop's screen. */
@media (min-width: 60rem) {
  .decision main { max-inline-size: 66rem; display: grid; grid-template: auto 1fr / minmax(0, 5fr) minmax(0, 7fr); column-gap: 3.75rem; min-block-size: 25rem; padding-block: 1.75rem 1rem; }
  .decision .aside { grid-area: 2 / 1; align-content: start; }
  .decision main > .answer { grid-area: 1 / 2 / 3; position: relative; margin: 0; }
  .answer::before { content: ""; position: absolute; inset-block: 0 1rem; inset-inline-start: -1.875rem; border-inline-start: 1px solid var(--line); }
  .verdict { margin-inline: -0.75rem; padding-inline: 0.75rem; }
}
/* A list that is longer than the screen leaves them in sight, and says that it goes on. Below that width whoever sees Allow has passed all that is asked, as always where a device asks (RFC 8628 §5.4). */
@media (min-width: 60rem) and (min-height: 32rem) {
  html:has(.verdict) { scroll-padding-block-end: 10rem; }
  .verdict:not(.of-device) { position: sticky; inset-block-end: 0; }
  @supports not (animation-timeline: view()) { .verdict:not(.of-device) { box-shadow: 0 -0.75rem 1rem -0.875rem var(--edge); } }
  @supports (animation-timeline: view()) {
    .consent { view-timeline: --consent block 0px; }
    .below { display: block; visibility: hidden; animation: passed linear both; animation-timeline: --consent; animation-range: entry-crossing 0% entry-crossing calc(100% - 1.5rem); }
  }
}
`;
