import { stylesheet } from '../layout/stylesheet.ts';

/** Returns the stylesheet of the operators' pages: that of all pages, and a few rules. */
export function consoleStylesheet(color: string): string {
  return stylesheet(color) + rules;
}

const rules = `
noscript { display: block; }
.sided .bar { max-inline-size: none; padding: 0.625rem max(1.5rem, calc(50% - 38rem)); row-gap: 0; background: var(--surface); border-block-end: 1px solid var(--line); }
.sided .session a { padding-block: 0.375rem; }
.find { display: flex; flex: 1 1 18rem; gap: 0.25rem; max-inline-size: 28rem; margin: 0; }
.find input { flex: 1; min-inline-size: 0; min-block-size: 2.5rem; padding: 0.25rem 0.75rem; font: inherit; font-size: 0.9375rem; color: var(--ink); background: var(--surface); border: 1px solid var(--edge); border-radius: 0.625rem; }
.sided .foot { max-inline-size: none; }
.sided main { max-inline-size: none; padding-block-start: 1.25rem; }
.sided main:focus { outline: 0; }
.skip { position: absolute; inset: 0.5rem auto auto 1.5rem; z-index: 1; padding: 0.5rem 1rem; background: var(--surface); }
.skip:not(:focus) { inline-size: 1px; block-size: 1px; padding: 0; overflow: hidden; clip-path: inset(50%); }
.menu { padding-inline: 1.5rem; border-block-end: 1px solid var(--line); }
.menu summary { padding-block: 0.75rem; color: var(--muted); cursor: pointer; }
.menu strong { margin-inline-start: 0.375rem; font-weight: 600; color: var(--ink); }
.menu details > div { display: grid; grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); gap: 0.75rem 1rem; padding-block-end: 1rem; }
.menu details > div > :first-child { grid-column: 1 / -1; }
.menu p { padding: 0.25rem 0.75rem; font-size: 0.8125rem; color: var(--muted); }
.menu a { display: block; padding: 0.375rem 0.75rem; border-radius: 0.5rem; color: var(--ink); text-decoration: none; font-weight: 550; }
.menu a:hover { background: var(--sunken); }
.menu [aria-current] { color: var(--brand-text); background: var(--wash); box-shadow: inset 3px 0 var(--brand-edge); }
@media (min-width: 60rem) {
  .sided { display: grid; grid-template: auto 1fr auto / minmax(1.5rem, 1fr) 12.5rem minmax(0, 63.5rem) minmax(1.5rem, 1fr); }
  .sided .bar { grid-column: 1 / -1; }
  .sided main, .sided .foot { grid-column: 3; padding-inline: 2.5rem 0; }
  .menu { grid-column: 2; position: sticky; inset-block-start: 0; align-self: start; max-block-size: 100vh; overflow-y: auto; padding: 1.25rem 0; border: 0; }
  .menu details > div { grid-template-columns: minmax(0, 1fr); gap: 1rem; padding: 0; }
  /* A browser without this selector keeps the summary, and opens the menu with it. */
  @supports selector(::details-content) {
    .menu summary { display: none; }
    .menu details::details-content { content-visibility: visible; display: block; }
  }
}
.crumbs { margin-block-end: 0.5rem; font-size: 0.875rem; color: var(--muted); }
.crumbs ol { display: flex; flex-wrap: wrap; gap: 0 0.5rem; margin: 0; padding: 0; list-style: none; }
.crumbs li + li::before { content: "›" / ""; margin-inline-end: 0.5rem; }
.title { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.75rem 1.5rem; }
.filter { display: flex; flex-wrap: wrap; align-items: end; gap: 0.75rem 1rem; margin-block: 1.5rem; }
.filter > .field { flex: 1 1 14rem; max-inline-size: 24rem; }
.filter > .day { flex: 0 1 10rem; }
.things .danger { border-color: var(--line); }
.filter > .more { flex-basis: 100%; }
.more summary { inline-size: fit-content; padding-block: 0.375rem; color: var(--brand-text); font-weight: 550; cursor: pointer; }
.more > .filter { margin-block: 0.5rem 0; }
.part > ul, h1 + .rows { margin-block-start: 1rem; }
.data { inline-size: 100%; margin-block-start: 1rem; border-collapse: separate; border-spacing: 0; overflow: hidden; font-size: 0.9375rem; background: var(--surface); border: 1px solid var(--line); border-radius: 0.75rem; }
.data tbody tr:last-child > * { border-block-end: 0; }
.data :is(th, td) { padding: 0.625rem 0.875rem; text-align: start; vertical-align: top; border-block-end: 1px solid var(--line); }
.data thead th { overflow-wrap: normal; font-size: 0.8125rem; font-weight: 550; color: var(--muted); }
.data tbody th { font-weight: 550; }
.data tbody tr:hover { background: var(--sunken); }
.data small { font-size: 0.8125rem; font-weight: 400; }
.sided small code { font-size: inherit; }
.data .number { text-align: end; font-variant-numeric: tabular-nums; }
.data .whole { white-space: nowrap; }
/* Breaks inside a word only if the word is longer than the limit. */
.data .words { display: inline-block; max-inline-size: min(17rem, 22vw); overflow-wrap: break-word; }
.data .sentence { font-weight: 400; }
.data .sentence bdi { font-weight: 600; }
@media (max-width: 44rem) {
  .sided .session { flex: 1 1 100%; min-inline-size: 0; flex-wrap: nowrap; justify-content: space-between; gap: 0.5rem; font-size: 0.8125rem; white-space: nowrap; }
  .session > span { min-inline-size: 0; overflow: hidden; text-overflow: ellipsis; }
  .data, .data :is(tbody, th) { display: block; }
  .data thead { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); }
  /* A short cell takes half of a line, a longer one a line of its own. */
  .data tr { display: flex; flex-wrap: wrap; gap: 0 1rem; padding: 0.625rem 0.875rem; border-block-end: 1px solid var(--line); }
  .data tr:last-child { border-block-end: 0; }
  .data tbody :is(th, td) { padding: 0.0625rem 0; border: 0; text-align: start; }
  .data tbody th { flex: 0 0 100%; }
  .data td { flex: 0 1 auto; min-inline-size: calc(50% - 0.5rem); font-size: 0.875rem; }
  .data td::before { content: attr(data-column) " "; font-size: 0.8125rem; color: var(--muted); }
  .data .words { max-inline-size: 100%; }
  .filter { gap: 0.625rem 0.75rem; margin-block: 1rem; }
  .filter > .day { flex: 1 1 9rem; min-inline-size: 0; }
  .day input { padding-inline: 0.625rem; }
  .sided .rows > div { grid-template-columns: 8.5rem minmax(0, 1fr); gap: 0 1rem; }
}
.warning { --warning: light-dark(#7a4a00, #f2c46d); background: light-dark(#fdf3df, #2c220d); border-color: color-mix(in srgb, var(--warning) 35%, transparent); }
.effect.warning, .warning .icon, .warning strong { color: var(--warning); }
.advice { background: var(--wash); border-color: var(--line); }
.notice li { list-style: disc; margin-inline-start: 1.125rem; }
.advice .icon { color: var(--brand-text); }
.things { display: grid; gap: 0.75rem; margin-block-start: 1rem; }
.things > li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1.25rem; padding: 0.875rem 1.125rem; background: var(--surface); border: 1px solid var(--line); border-radius: 0.75rem; }
.things li > div { flex: 1 1 18rem; min-inline-size: 0; }
.things :is(h2, h3) { font-size: 1rem; }
.things h4 { margin: 0; font-size: 0.9375rem; font-weight: 600; }
.things + h3, .part > :is(p, .rows) + h3 { margin-block-start: 1.5rem; }
.of-app { display: grid; flex-basis: 100%; gap: 0.625rem; }
.of-app > li { display: flex; flex-wrap: wrap; align-items: start; justify-content: space-between; gap: 0.5rem 1.25rem; }
.of-app > li + li { padding-block-start: 0.625rem; border-block-start: 1px solid var(--line); }
.things p { font-size: 0.875rem; color: var(--muted); }
.part, .data + .rows { margin-block-start: 2.25rem; }
.part > h2 { font-size: 1.125rem; }
.part > p { margin-block-start: 0.375rem; color: var(--muted); }
.title + .rows, .notice + .rows, .part > .rows { margin-block-start: 1rem; }
.part > .data + p { margin-block-start: 0.75rem; }
.part > .button, .part > form, .part > .notice { margin-block-start: 1rem; }
.narrow { max-inline-size: 28rem; justify-items: start; }
.narrow > .field { inline-size: 100%; }
.field select { inline-size: 100%; min-block-size: 2.875rem; padding: 0.5rem 0.875rem; font: inherit; color: var(--ink); background: var(--surface); border: 1px solid var(--edge); border-radius: 0.625rem; }
.field textarea { inline-size: 100%; padding: 0.625rem 0.875rem; font: inherit; color: var(--ink); background: var(--surface); border: 1px solid var(--edge); border-radius: 0.625rem; resize: vertical; }
.field textarea:read-only { color: var(--muted); background: var(--sunken); }
.field [aria-invalid="true"] { border-color: var(--problem); }
.quick { margin-block-start: 0.75rem; font-size: 0.9375rem; }
.quick ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
.quick li { padding-block: 0.25rem; }
.count { margin-block: 0.5rem -0.25rem; font-size: 0.8125rem; color: var(--muted); }
.filter + .hint { margin-block: -1rem 0.5rem; font-size: 0.8125rem; color: var(--muted); }
.further .filter { margin-block: 0.25rem 1.5rem; }
.hint.wrong { display: block; font-size: 0.8125rem; color: var(--problem); }
.settings .stack { align-items: start; }
.settings legend { padding-block-end: 0.25rem; color: var(--ink); }
.settings .hint { display: block; font-size: 0.8125rem; color: var(--muted); }
.settings .wrong { color: var(--problem); }
.short { display: flex; flex-wrap: wrap; gap: 0 2.5rem; }
.short .hint { flex-basis: 100%; }
@media (min-width: 70rem) {
  .settings .stack { grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 1.25rem 2.5rem; }
  .settings .options { display: grid; grid-template-columns: repeat(2, minmax(0, 1fr)); gap: 0 2.5rem; grid-column: 1 / -1; align-items: start; }
  .settings div.options { grid-column: auto; grid-template-columns: minmax(0, 1fr); }
  .settings .short { display: flex; }
  .settings .scopes > div { padding-inline-end: 2rem; }
  .settings .options > .hint { grid-column: 1 / -1; }
}
.part > .stack, .part > .rows { margin-block-start: 1rem; }
.further summary { inline-size: fit-content; padding-block: 0.75rem; color: var(--brand-text); font-weight: 550; cursor: pointer; }
.scopes > div { display: flex; gap: 1.5rem; }
.scopes > div > label:first-child { flex: 1 1 0; min-inline-size: 0; }
.scopes > div:not(:has(> label:first-child > :checked)) > label + label { display: none; }
.settings:has([name="type"][value="public"]:checked) > .secret-choice { display: none; }
.options [type="radio"] { border-radius: 50%; }
.options [type="radio"]:checked::before { clip-path: circle(28%); }
.submit { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-block-start: 2rem; }
.sided .rows > div { padding-block: 0.5rem; }
.sided .rows dt { font-weight: 400; color: var(--muted); }
.sided .rows dd { color: var(--ink); }
.halves { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem 2rem; }
.halves, .stacked { margin-block-start: 0.75rem; }
.halves .rows { margin-block-start: 0.375rem; }
.halves .rows + h3 { margin-block-start: 1.25rem; }
.stacked > div + div { margin-block-start: 1.25rem; }
:is(.halves, .stacked) > div > :is(.plot, .plot-none) { margin-block-start: 0.5rem; }
@media (min-width: 70rem) {
  .halves { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  /* Opened numbers take both columns. */
  .halves > :has(details[open]) { grid-column: 1 / -1; }
  .halves .rows > div { grid-template-columns: 9.5rem minmax(0, 1fr); gap: 0.125rem 1rem; }
}
.strip { display: flex; flex-wrap: wrap; gap: 0.625rem 2.5rem; margin-block-start: 1rem; padding: 0.75rem 1.125rem; background: var(--surface); border: 1px solid var(--line); border-radius: 0.75rem; font-size: 0.9375rem; }
.strip dt { font-size: 0.8125rem; color: var(--muted); }
.sections { display: flex; flex-wrap: wrap; gap: 0 1rem; margin-block-start: 1.25rem; font-size: 0.9375rem; }
.sections > *, .sections a { padding-block: 0.25rem; }
.sections > p { color: var(--muted); }
.sections ul { display: flex; flex-wrap: wrap; gap: 0 1rem; }
.part[id] { scroll-margin-block-start: 1rem; }
:is(code, .address):not(a *, :has(a)) { user-select: all; }
.dangers { margin-block-start: 0.75rem; background: var(--surface); border: 1px solid var(--problem); border-radius: 0.75rem; }
.part > .dangers + p { margin-block-start: 0.75rem; }
.dangers > li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.625rem 1.5rem; padding: 0.875rem 1.125rem; }
.dangers > li + li { border-block-start: 1px solid var(--line); }
/* An opened question keeps the text in its place. */
.dangers > li > p { flex: 1 1 36rem; max-inline-size: 36rem; font-size: 0.9375rem; }
.dangers > li > :last-child { margin-inline-start: auto; }
.dangers > li > code { max-inline-size: 100%; padding: 0.25rem 0.625rem; background: var(--sunken); border-radius: 0.375rem; }
details > .button { list-style: none; }
details:not([open]) > .button > span + span, details[open] > .button > span:first-child { display: none; }
details[open] > .button { color: var(--ink); }
details > .button::-webkit-details-marker { display: none; }
.things details[open] { flex: 1 0 100%; }
/* The effect, the act, and Cancel last. A browser that lays out no details element so shows them below each other. */
details[open]:has(> .button) { display: flex; flex-wrap: wrap; align-items: center; justify-content: end; gap: 0.625rem 0.75rem; }
details[open] > .button { order: 1; }
details[open]:has(> .button)::details-content, details > .button + form { display: contents; }
details > .button + form > p { flex: 1 1 20rem; }
details > .button + form > button { color: var(--surface); background: var(--problem); border-color: var(--problem); }
details > .button + form > button:hover { filter: brightness(0.9); }
.acts { display: grid; gap: 0.25rem; margin-block-start: 1rem; }
.act summary:not(.button) { inline-size: fit-content; padding-block: 0.75rem; color: var(--brand-text); font-weight: 550; cursor: pointer; }
.act > summary:not(.button) + form { display: grid; gap: 0.75rem; justify-items: start; max-inline-size: 36rem; margin-block-end: 0.75rem; }
.plain-act { display: flex; flex-wrap: wrap; align-items: center; gap: 0.5rem 1rem; margin-block-start: 1rem; }
.plain-act p { font-size: 0.9375rem; color: var(--muted); }
.rights { inline-size: 100%; margin: 0; padding: 0.25rem 1rem 0.5rem; border: 1px solid var(--line); border-radius: 0.625rem; font-size: 0.875rem; }
.rights legend { padding-inline: 0.375rem; font-weight: 550; }
.rights p { margin-block-start: 0.625rem; color: var(--muted); }
.rights label { display: inline-flex; gap: 0.375rem; align-items: center; min-block-size: 2rem; margin-inline-end: 1rem; }
.command { padding: 0.0625rem 0.375rem; overflow-wrap: anywhere; color: var(--ink); background: var(--sunken); border-radius: 0.375rem; }
.problem .command { background: color-mix(in srgb, var(--problem) 12%, transparent); }
.checks { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(18rem, 100%), 1fr)); gap: 0.5rem 1.5rem; font-size: 0.9375rem; }
.checks > li { display: flex; gap: 0.5rem; }
.checks .icon { margin-block-start: 0.1rem; color: var(--success); }
.checks small { font-size: 0.8125rem; }
.checks + p { margin-block-start: 1rem; }
.once { margin-block: 1.25rem; padding: 1.25rem 1.375rem 1.375rem; background: var(--surface); border: 2px solid var(--brand-edge); border-radius: 0.75rem; }
.once h2 { font-size: 1.125rem; }
.once .secret { align-items: center; margin-block: 0.75rem 0.5rem; font-size: 1.125rem; }
.once > h3 { margin-block-start: 1.25rem; }
.once > h3 + p { max-inline-size: 42rem; }
.once .halves { margin-block-start: 1.25rem; }
.once h3 + :is(p, .copyable) { margin-block-start: 0.375rem; font-size: 0.9375rem; }
.once .copyable { background: var(--wash); border: 0; border-radius: 0.625rem; }
.once .copyable > :first-child { padding: 0.875rem 1rem; user-select: all; }
.plot { display: grid; grid-template-columns: max-content minmax(0, 1fr); gap: 0 0.5rem; margin: 1rem 0 0; padding: 1rem 1.125rem; background: var(--surface); border: 1px solid var(--line); border-radius: 0.75rem; }
.plot > * { grid-column: 1 / -1; min-inline-size: 0; }
.plot p { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0 0.5rem; font-size: 0.9375rem; }
.plot p > span::before { content: ""; display: inline-block; inline-size: 0.625rem; block-size: 0.625rem; margin-inline-end: 0.5rem; border-radius: 0.125rem; background: var(--bar); }
.plot .worked { --bar: var(--brand-edge); }
.plot .failed { --bar: var(--problem); }
.plot .axis { grid-column: 1; flex-direction: column; flex-wrap: nowrap; align-items: end; justify-content: space-between; margin-block: 0.375rem 0.625rem; font-size: 0.75rem; line-height: 1; color: var(--muted); font-variant-numeric: tabular-nums; }
.plot .axis > span::before { content: none; }
.plot > .bars.failed { margin-block-end: 0; }
.plot > .axis:has(+ .failed) { margin-block-end: -0.375rem; }
.plot .times { grid-column: 2; justify-content: space-between; flex-wrap: nowrap; margin-block-start: 0.375rem; font-size: 0.75rem; color: var(--muted); }
.plot .times + p { margin-block-start: 0.375rem; }
.plot .times > span::before { content: none; }
.plot .times > span:nth-child(2) { text-align: center; }
.plot .times > span:last-child { text-align: end; }
.plot > .bars { grid-column: 2; inline-size: 100%; block-size: 5rem; margin-block: 0.75rem 1rem; border-block: 1px solid var(--line); border-block-end-color: var(--edge); stroke: var(--bar); stroke-width: 0.8; }
.plot summary { inline-size: fit-content; margin-block-start: 0.5rem; padding-block: 0.5rem; color: var(--brand-text); font-size: 0.875rem; font-weight: 550; cursor: pointer; }
.wide { overflow-x: auto; }
.wide table { inline-size: 100%; border-collapse: collapse; font-size: 0.8125rem; overflow-wrap: normal; font-variant-numeric: tabular-nums; }
.wide :is(th, td) { padding: 0.3125rem 0.625rem; text-align: end; border-block-end: 1px solid var(--line); font-weight: 400; }
.wide thead th { vertical-align: bottom; color: var(--muted); }
.wide thead [scope="colgroup"] { border-inline-start: 1px solid var(--line); text-align: center; }
.wide :is([scope="row"], [rowspan]) { padding-inline-start: 0; text-align: start; white-space: nowrap; }
.wide tfoot > tr > * { border: 0; font-weight: 600; }
.plot-none { margin-block-start: 1rem; color: var(--muted); }
.halves:has(> div > .plot-none) { grid-template-columns: minmax(0, 1fr); }
button[aria-disabled="true"] { opacity: 0.6; cursor: progress; }
`;
