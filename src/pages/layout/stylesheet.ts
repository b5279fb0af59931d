import { distance, mix, readableTone, textOn } from './color.ts';
import { consentRules } from './consent-style.ts';

const light = {
  canvas: '#f7f7f5',
  surface: '#ffffff',
  sunken: '#f3f3f0',
  ink: '#1c1c1f',
  muted: '#5b5b64',
  line: '#e3e3df',
  edge: '#8b8b93',
  problem: '#a1241b',
  'problem-wash': '#fdf0ee',
  caution: '#7a4a00',
  'caution-wash': '#fdf3df',
  success: '#17663a',
  'success-wash': '#eaf6ee',
  shadow: 'rgb(20 20 30 / 7%)',
};
const dark: typeof light = {
  canvas: '#121315',
  surface: '#1b1c1f',
  sunken: '#232428',
  ink: '#f1f1f3',
  muted: '#a8a9b2',
  line: '#323338',
  edge: '#777882',
  problem: '#ffb4ab',
  'problem-wash': '#351d1b',
  caution: '#f2c46d',
  'caution-wash': '#33280f',
  success: '#95dbae',
  'success-wash': '#17291e',
  shadow: 'rgb(0 0 0 / 35%)',
};

function tokens(palette: typeof light, color: string): string {
  // A white brand on white would not show which button is the main one.
  const fill = distance(color, palette.surface) < 48 ? palette.ink : color;
  const onBrand = textOn(fill);
  const wash = mix(palette.surface, color, 0.09);
  const backgrounds = [palette.canvas, palette.surface, palette.sunken, wash];
  const values = {
    ...palette,
    brand: fill,
    'on-brand': onBrand,
    // Away from the text's color, so that hovering never lowers the contrast.
    'brand-hover': mix(fill, onBrand === '#ffffff' ? '#000000' : '#ffffff', 0.14),
    'brand-edge': readableTone(fill, backgrounds, 3),
    'brand-text': readableTone(color, backgrounds, 4.5),
    wash,
  };
  return Object.entries(values)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(' ');
}

/**
 * The only stylesheet of all pages, made from the brand's color (`#rrggbb`). With any color, texts have a contrast of
 * 4.5 and edges of 3.
 */
export function stylesheet(color: string): string {
  return `:root { color-scheme: light dark; ${tokens(light, color)} }
@media (prefers-color-scheme: dark) { :root { ${tokens(dark, color)} } }
${rules}${consentRules}`;
}

const rules = `
*, ::before, ::after { box-sizing: border-box; }
html {
  background: var(--canvas); color: var(--ink); accent-color: var(--brand-text);
  font: 100%/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Noto Sans Arabic", Ubuntu, Cantarell, Arial, sans-serif;
  -webkit-text-size-adjust: 100%; text-size-adjust: 100%; -webkit-font-smoothing: antialiased;
}
html:lang(ar) { line-height: 1.7; }
body { margin: 0; min-block-size: 100vh; min-block-size: 100dvh; display: flex; flex-direction: column; overflow-wrap: anywhere; }
h1, h2, h3, p, ul, dl, dd, pre { margin: 0; }
h1, h2, h3 { line-height: 1.25; font-weight: 650; text-wrap: balance; letter-spacing: -0.012em; }
h1 { font-size: 1.5rem; }
h2 { font-size: 1rem; }
h3 { font-size: 0.875rem; }
p { text-wrap: pretty; }
small { display: block; font-size: 0.875rem; color: var(--muted); }
ul { padding: 0; list-style: none; }
a { color: var(--brand-text); text-decoration-thickness: 1px; text-underline-offset: 0.2em; }
a:hover { text-decoration-thickness: 2px; }
a[target] { white-space: nowrap; }
a[target] > .icon { display: inline; inline-size: 0.625em; block-size: 0.625em; margin: 0; margin-inline-start: 0.25em; vertical-align: 0; }
[dir="rtl"] a > .icon { transform: scaleX(-1); }
code, pre, .field .user-code { font-family: ui-monospace, SFMono-Regular, "SF Mono", Menlo, Consolas, "Liberation Mono", monospace; }
code, pre { font-size: 0.875em; }
code { direction: ltr; unicode-bidi: isolate; }
:focus-visible { outline: 2px solid var(--brand-text); outline-offset: 2px; border-radius: 0.25rem; }
.unseen { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.icon { flex: none; display: block; }
[hidden] { display: none !important; }

.bar { display: flex; align-items: center; justify-content: space-between; gap: 0.5rem 1.5rem; flex-wrap: wrap; padding: 1.25rem 1.5rem; }
.brand { display: inline-flex; align-items: center; gap: 0.625rem; color: inherit; text-decoration: none; font-weight: 650; border-radius: 0.5rem; }
.logo { display: block; flex: none; block-size: 2rem; inline-size: auto; max-inline-size: 12rem; object-fit: contain; }
@media (prefers-color-scheme: dark) { .on-white { box-sizing: content-box; padding: 0.25rem 0.5rem; background: #fff; border-radius: 0.375rem; } }
.foot { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; padding: 1.5rem; margin-block-start: auto; font-size: 0.8125rem; color: var(--muted); }
.foot a { color: inherit; }
main { inline-size: 100%; margin-inline: auto; }

.monogram {
  flex: none; display: inline-grid; place-items: center; inline-size: 2.25rem; block-size: 2.25rem; border-radius: 0.625rem; overflow: hidden;
  border: 1px solid var(--line); background: var(--sunken); color: var(--ink); font-size: 1rem; line-height: 1; font-weight: 650;
}
.monogram.product { border-color: var(--brand-edge); background: var(--brand); color: var(--on-brand); }
.brand .monogram { inline-size: 1.75rem; block-size: 1.75rem; border-radius: 0.5rem; font-size: 0.875rem; }
.monogram.person { border-radius: 50%; }

.card .bar { justify-content: center; padding-block: clamp(0.75rem, calc(12vh - 4rem), 4rem) 0.875rem; }
.card main { max-inline-size: 28.5rem; padding: 2.25rem; background: var(--surface); border: 1px solid var(--line); border-radius: 1rem; box-shadow: 0 1px 2px var(--shadow), 0 12px 32px var(--shadow); }
.card .foot { justify-content: center; }
.card main > * + *, .consent > * + * { margin-block-start: 1rem; }
.card main > h1 + p, .card .who h1 + p { margin-block-start: 0.5rem; }
.lead { color: var(--muted); }
.stack { display: grid; gap: 1rem; }
.field + .primary { margin-block-start: 0.5rem; }
.card main > .stack, .card main > form, .card:not(.decision) main > .answer { margin-block-start: 1.75rem; }
.answer > * + * { margin-block-start: 1rem; }
.stack > .button + .button, .stack > .primary + .button { margin-block-start: -0.25rem; }
.or { text-align: center; color: var(--muted); }
.aside { font-size: 0.875rem; color: var(--muted); }
.other-ways { display: grid; gap: 0.5rem; }
.card main > .other-ways { margin-block-start: 1.5rem; }
.other-ways:empty { display: none; }
.fine { font-size: 0.8125rem; color: var(--muted); }

.field { display: grid; gap: 0.375rem; }
.field label { font-size: 0.875rem; font-weight: 550; }
.field .hint { font-size: 0.8125rem; color: var(--muted); }
.field input {
  inline-size: 100%; min-block-size: 2.875rem; padding: 0.5rem 0.875rem; font: inherit; color: var(--ink);
  background: var(--surface); border: 1px solid var(--edge); border-radius: 0.625rem;
}
.field input:focus-visible { outline-offset: -1px; border-color: var(--brand-text); border-radius: 0.625rem; }
.field input[aria-invalid="true"] { border-color: var(--problem); }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; min-block-size: 2.875rem; padding: 0.5rem 1.25rem; font: inherit; font-weight: 600;
  text-align: center; text-decoration: none; border: 1px solid transparent; border-radius: 0.625rem; cursor: pointer; transition: background-color 120ms, border-color 120ms;
}
button:focus-visible, .button:focus-visible { border-radius: 0.625rem; }
.primary { background: var(--brand); color: var(--on-brand); border-color: var(--brand-edge); }
.primary:hover { background: var(--brand-hover); }
.secondary { background: var(--surface); color: var(--ink); border-color: var(--edge); }
.secondary:hover { background: var(--sunken); border-color: var(--muted); }
.quiet { min-block-size: 2.25rem; padding: 0.25rem 0.625rem; background: transparent; color: var(--brand-text); font-size: 0.875rem; }
.session .quiet { margin-inline: -0.625rem; }
.quiet:hover { background: var(--wash); }
.danger { min-block-size: 2.25rem; padding: 0.25rem 0.875rem; font-size: 0.875rem; color: var(--problem); }
.danger:hover { background: var(--problem-wash); border-color: var(--problem); }
button:active, .button:active { transform: translateY(1px); }

.notice { display: flex; gap: 0.625rem; padding: 0.75rem 0.875rem; font-size: 0.9375rem; border: 1px solid; border-radius: 0.625rem; }
.notice .icon { margin-block-start: 0.1rem; }
.notice strong { display: block; font-weight: 600; }
.problem .icon, .problem strong { color: var(--problem); }
.problem { background: var(--problem-wash); border-color: color-mix(in srgb, var(--problem) 35%, transparent); }
.success { color: var(--success); background: var(--success-wash); border-color: color-mix(in srgb, currentColor 30%, transparent); }

main > .monogram.app { inline-size: 3rem; block-size: 3rem; font-size: 1.375rem; border-radius: 0.875rem; }
.profile { display: flex; flex-wrap: wrap; gap: 0 0.875rem; margin-block-start: 0.25rem; font-size: 0.8125rem; color: var(--muted); }
.profile .checked { display: flex; align-items: center; gap: 0.25rem; color: var(--success); font-weight: 550; }
.profile .unchecked { display: flex; align-items: center; gap: 0.25rem; padding-inline: 0.4375rem; border-radius: 1rem; color: var(--caution); background: var(--caution-wash); font-weight: 550; }
.profile .icon { inline-size: 1rem; block-size: 1rem; }
.permissions { display: grid; gap: 0.75rem; }
.permissions li { display: flex; gap: 0.75rem; }
.permissions li > span, .options label > :last-child { min-inline-size: 0; }
.permissions .icon { margin-block-start: 0.125rem; color: var(--brand-text); }
.permissions .sensitive .icon { color: var(--problem); }
.card h2 + .permissions { margin-block-start: 0.875rem; }
.effect { display: inline-block; padding: 0 0.4375rem; border: 1px solid var(--line); border-radius: 1rem; font-size: 0.75rem; font-style: normal; font-weight: 550; line-height: 1.5; color: var(--muted); white-space: nowrap; }
.effect.sensitive { color: var(--problem); background: var(--problem-wash); border-color: color-mix(in srgb, var(--problem) 35%, transparent); }
.field .user-code { min-block-size: 3.5rem; font-size: 1.5rem; letter-spacing: 0.12em; text-align: center; text-transform: uppercase; }
.done { display: grid; place-items: center; inline-size: 3rem; block-size: 3rem; border-radius: 50%; color: var(--success); background: var(--success-wash); }
.column .bar, .column main, .column .foot { max-inline-size: 46rem; inline-size: 100%; margin-inline: auto; }
.column .foot { margin-block-start: auto; }
.column main { padding: clamp(1rem, 4vw, 2.5rem) 1.5rem 1rem; }
.column h1, .guide h1 { font-size: clamp(1.625rem, 1.3rem + 1.4vw, 2rem); letter-spacing: -0.02em; }
.column .lead { margin-block-start: 0.75rem; max-inline-size: 36rem; }
.column .notice { margin-block-start: 1.5rem; }
.column .fine { margin-block-start: 1rem; }
.picked-up { margin-block-start: 1.5rem; }
.pages { display: flex; flex-wrap: wrap; align-items: center; gap: 0.75rem 1rem; margin-block-start: 1.5rem; color: var(--muted); }
.remove-all { margin-block-start: 1.5rem; font-size: 0.875rem; }
.remove-all summary { inline-size: fit-content; padding-block: 0.75rem; color: var(--problem); font-weight: 550; cursor: pointer; }
.remove-all form { display: grid; gap: 0.75rem; justify-items: start; max-inline-size: 36rem; }
.session { display: flex; align-items: center; gap: 0.25rem 1.5rem; flex-wrap: wrap; font-size: 0.875rem; color: var(--muted); }
.column main:has(> .tabs) { padding-block-start: 0.25rem; }
.tabs ul { display: flex; flex-wrap: wrap; gap: 0 1.25rem; margin-block-end: 1.5rem; border-block-end: 1px solid var(--line); }
.tabs a { display: block; padding-block: 0.625rem; margin-block-end: -1px; color: var(--muted); font-size: 0.9375rem; font-weight: 550; text-decoration: none; border-block-end: 2px solid transparent; }
.tabs .back { margin-inline-start: auto; }
.tabs a:hover, .tabs [aria-current] { color: var(--ink); }
.tabs [aria-current] { border-color: var(--brand-text); }
.panel { display: grid; gap: 0.75rem; margin-block-start: 1.25rem; padding: 1.125rem 1.25rem; background: var(--surface); border: 1px solid var(--line); border-radius: 1rem; box-shadow: 0 1px 2px var(--shadow); }
.panel .fine { margin: 0; }
.names { display: flex; flex-wrap: wrap; gap: 0.375rem; }
.names li { padding: 0.125rem 0.75rem; font-size: 0.9375rem; }
.names li:has(a) { border: 1px solid var(--line); border-radius: 1rem; }
.sessions { display: grid; gap: 0.5rem; }
.sessions li { display: flex; align-items: start; gap: 0.25rem 0.625rem; font-size: 0.9375rem; }
.sessions .icon { color: var(--muted); }
.sessions li > span:first-of-type { flex: 0 1 auto; min-inline-size: 0; }
.apps { display: grid; gap: 0.5rem; margin-block-start: 1.5rem; }
.app-card { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: start; padding: 0.5rem 1rem; background: var(--surface); border: 1px solid var(--line); border-radius: 0.875rem; box-shadow: 0 1px 2px var(--shadow); }
.app-card > details { grid-column: 1 / -1; grid-row: 1; min-inline-size: 0; }
.app-card > form { grid-column: 2; grid-row: 1; z-index: 1; padding-block: 0.3125rem; }
.app-card > details > summary { display: grid; grid-template-columns: auto minmax(0, 1fr); align-items: center; gap: 0.75rem; padding-inline-end: 10rem; list-style: none; cursor: pointer; border-radius: 0.625rem; }
.app-card > details > summary::-webkit-details-marker { display: none; }
.app-card > details > summary:hover .app-name { text-decoration: underline; text-underline-offset: 0.2em; }
.app-head { display: block; min-inline-size: 0; line-height: 1.4; }
.app-name { display: flex; align-items: center; gap: 0.5rem; font-weight: 650; }
.app-name::after { content: ""; flex: none; inline-size: 0.375rem; block-size: 0.375rem; border: solid var(--muted); border-width: 0 1.5px 1.5px 0; transform: translateY(-0.125rem) rotate(45deg); }
details[open] > summary .app-name::after { transform: translateY(0.0625rem) rotate(225deg); }
.summary { display: flex; flex-wrap: wrap; align-items: center; gap: 0 0.75rem; font-size: 0.875rem; color: var(--muted); }
.app-body { padding-block: 0.25rem 0.375rem; padding-inline-start: 3rem; }
.app-body > * + h3 { margin-block-start: 0.875rem; }
.lines { display: grid; }
.lines > li { display: flex; justify-content: space-between; align-items: start; gap: 0.75rem; padding-block: 0.625rem; border-block-start: 1px solid var(--line); }
.lines > li > div { min-inline-size: 0; }
.lines form { flex: none; }
.more { font-size: 0.875rem; }
.more > summary { inline-size: fit-content; padding-block: 0.375rem; color: var(--brand-text); cursor: pointer; }
.find { display: flex; flex-wrap: wrap; align-items: end; gap: 0.75rem; margin-block-start: 1.25rem; }
.find .field { flex: 1 1 14rem; max-inline-size: 22rem; }
.find + .fine { margin-block-start: 0.5rem; }
.dates { display: flex; flex-wrap: wrap; gap: 0 1rem; font-size: 0.875rem; color: var(--muted); }
.app-body > .profile + .permissions, .app-body > .permissions + .dates { margin-block-start: 0.75rem; }
.kinds { display: flex; flex-wrap: wrap; gap: 0 1rem; font-size: 0.875rem; font-weight: 550; }
.kinds span { display: flex; align-items: center; gap: 0.375rem; }
.kinds .icon { inline-size: 1.125rem; block-size: 1.125rem; color: var(--brand-text); }
.app-card h3 { margin-block: 0.625rem 0.375rem; font-weight: 550; color: var(--muted); letter-spacing: 0; }
.app-card .permissions { gap: 0.375rem; font-size: 0.9375rem; }
.empty { display: grid; justify-items: center; gap: 0.5rem; margin-block-start: 2rem; padding: 3rem 1.5rem; text-align: center; border: 1px dashed var(--edge); border-radius: 1rem; }
.empty .icon { inline-size: 2rem; block-size: 2rem; color: var(--brand-text); }
.empty p { max-inline-size: 26rem; color: var(--muted); }

.card main > .detail { display: grid; gap: 0.75rem; margin-block-start: 1.75rem; padding-block-start: 1.25rem; border-block-start: 1px solid var(--line); font-size: 0.8125rem; color: var(--muted); }
.detail dt { font-weight: 600; }
.quote { display: block; }

.guide .bar, .guide main, .guide .foot { max-inline-size: 68rem; inline-size: 100%; margin-inline: auto; }
.guide .foot { margin-block-start: auto; }
.guide main { display: grid; gap: 2rem 2.5rem; padding: clamp(1rem, 4vw, 2.5rem) 1.5rem 3rem; grid-template-columns: minmax(0, 1fr); }
.guide .lead { margin-block-start: 0.75rem; max-inline-size: 40rem; font-size: 1.0625rem; }
.contents { display: none; font-size: 0.875rem; }
.contents ul { display: grid; gap: 0.125rem; }
.contents a { display: block; padding-block: 0.25rem; color: var(--muted); text-decoration: none; }
.contents a:hover { color: var(--brand-text); text-decoration: underline; }
.chapters { align-self: start; min-inline-size: 0; }
.chapters > details { border-block-end: 1px solid var(--line); }
.chapters > details > summary { padding-block: 0.75rem; cursor: pointer; }
.chapters > details > summary:hover h2 { text-decoration: underline; text-underline-offset: 0.2em; }
.chapter { scroll-margin-block-start: 4rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; padding-block: 0.5rem 2rem; }
.chapters h2 { display: inline; font-size: 1.25rem; }
.chapters .step h2 { font-size: 1.0625rem; }
.chapters > .step > summary { padding-inline-start: 0.875rem; }
.chapters > .aside { margin-block-start: 2rem; }
.contents .step { padding-inline-start: 0.875rem; }
.ways { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 16rem), 1fr)); gap: 1rem; max-inline-size: 46rem; margin-block: 1.75rem 1rem; }
.ways li { position: relative; padding: 1.125rem 1.25rem; background: var(--surface); border: 1px solid var(--line); border-radius: 1rem; box-shadow: 0 1px 2px var(--shadow); }
.ways li:hover { border-color: var(--brand-edge); }
.ways a { font-weight: 650; text-decoration: none; }
.ways a::after { content: ""; position: absolute; inset: 0; border-radius: inherit; }
.ways p { margin-block-start: 0.25rem; font-size: 0.9375rem; color: var(--muted); }
.chapters h3 { margin-block-start: 0.75rem; }
.chapters ul { display: grid; gap: 0.75rem; padding-inline-start: 1.125rem; list-style: disc; }
.chapters li::marker { color: var(--muted); }
.chapters p code, .chapters li code, .chapters dd code:not(.address), .chapters h3 code { padding: 0.1em 0.3em; background: var(--sunken); border-radius: 0.3em; overflow-wrap: anywhere; }
.code { overflow-x: auto; padding: 1rem 1.125rem; line-height: 1.6; border-radius: 0.75rem; overflow-wrap: normal; }
.copyable { display: grid; grid-template-columns: minmax(0, 1fr) auto; align-items: start; }
.copyable:not(.inline) { background: var(--surface); border: 1px solid var(--line); border-radius: 0.75rem; }
.copyable.inline { display: flex; flex-wrap: wrap; align-items: baseline; gap: 0.25rem 0.625rem; }
.copyable + .copyable:not(.inline) { margin-block-start: -0.5rem; background: var(--sunken); }
.copy { inline-size: auto; min-block-size: 0; padding: 0.1875rem 0.625rem; font-size: 0.8125rem; font-weight: 550; color: var(--ink); background: var(--surface); border: 1px solid var(--line); border-radius: 0.5rem; box-shadow: none; }
.copy:hover { background: var(--sunken); border-color: var(--edge); }
.copyable:not(.inline) .copy { margin: 0.5rem; }
.programs { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.5rem; }
.programs details { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0.75rem; }
.programs summary { padding-block: 0.5rem; font-weight: 550; cursor: pointer; }
.programs .copyable { margin-block-end: 0.75rem; }
@media (max-width: 30rem) {
  .copy { min-block-size: 2.75rem; padding-inline: 0.875rem; }
  .programs summary { padding-block: 0.75rem; }
  .copyable:not(.inline) { grid-template-columns: minmax(0, 1fr); }
  .copyable:not(.inline) .copy { order: -1; justify-self: end; margin-block-end: 0; }
}
.rows { border-block-start: 1px solid var(--line); }
.rows > div { display: grid; gap: 0.125rem 1.5rem; padding-block: 0.75rem; border-block-end: 1px solid var(--line); font-size: 0.9375rem; }
.rows > [id] { scroll-margin-block-start: 1.5rem; }
.rows > :target { background: var(--wash); box-shadow: 0 0 0 0.75rem var(--wash); clip-path: inset(0 -0.75rem); }
.rows dt { font-weight: 550; }
.status { font-weight: 400; font-size: 0.8125rem; color: var(--muted); white-space: nowrap; }
.rows dd { color: var(--muted); min-inline-size: 0; }
.acts dt { color: var(--muted); font-weight: inherit; }
.acts dd { color: inherit; }

html:lang(ar) :is(h1, h2, h3) { line-height: 1.45; letter-spacing: 0; }

@media (min-width: 44rem) { .rows > div { grid-template-columns: 14rem minmax(0, 1fr); } }
@media (min-width: 60rem) {
  .guide main { grid-template-columns: minmax(0, 1fr) 15rem; }
  .intro { grid-column: 1 / -1; }
  .contents { display: block; grid-column: 2; grid-row: 2; position: sticky; inset-block-start: 2rem; align-self: start; padding-inline-start: 1.25rem; border-inline-start: 1px solid var(--line); }
  .chapters { grid-column: 1; grid-row: 2; }
}
@media (max-width: 30rem) {
  .app-card > form { grid-column: 1 / -1; grid-row: 2; display: grid; padding-block: 0.5rem 0; }
  .app-card > details > summary { padding-inline-end: 0; min-block-size: 2.75rem; }
  .app-body { padding-inline-start: 0; }
  .lines > li { flex-direction: column; align-items: stretch; }
  .lines form { display: grid; }
  .more > summary { padding-block: 0.75rem; }
  .remove-all form { justify-items: stretch; }
  .danger, .quiet { min-block-size: 2.75rem; }
  .card { background: var(--surface); }
  .card .bar { padding: 1.5rem 1.25rem 0; justify-content: start; }
  .card main { padding: 1.75rem 1.25rem; border: 0; border-radius: 0; box-shadow: none; background: transparent; }
  .card .foot { justify-content: start; padding-inline: 1.25rem; }
}
@media (prefers-reduced-motion: reduce) { * { transition: none !important; } button:active, .button:active { transform: none; } }
@media (forced-colors: active) {
  .monogram, .account, button, .button, .copyable:not(.inline) { border: 1px solid; }
  .primary { border-width: 3px; }
  .session .quiet { margin-inline: 0; }
}
@media print {
  :root { --canvas: #ffffff; --shadow: transparent; }
  form, .contents, .button { display: none !important; }
  .code { white-space: pre-wrap; overflow-wrap: anywhere; }
}
`;
