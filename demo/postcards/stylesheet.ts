/** The look of Postcards: paper, ink and airmail stripes; square corners and serifs. */
export const stylesheet = `
:root {
  color-scheme: light dark;
  --desk: #f1e9da; --paper: #fffdf8; --tint: #f8f2e6; --ink: #1d2740; --muted: #525b73; --rule: #d9cdb6; --edge: #8a7f6a;
  --red: #b3261e; --on-red: #ffffff; --red-down: #8f1c16; --blue: #24508f; --good: #1e6138; --bad: #a3221b; --shadow: rgb(61 45 15 / 18%);
  --sky: #bfe0ea; --sun: #ffd98a; --far: #6f93ad; --snow: #ffffff; --near: #3f7d5f; --water: #3f8fa8; --glint: #cdeaf0; --sail: #fffdf8; --hull: #b3261e;
  --serif: "Iowan Old Style", "Palatino Linotype", Palatino, "Book Antiqua", "URW Palladio L", P052, Georgia, "Noto Serif", "DejaVu Serif", serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) { :root {
  --desk: #121725; --paper: #1c2336; --tint: #161c2c; --ink: #f4eddf; --muted: #b3b9ca; --rule: #38425c; --edge: #7a849f;
  --red: #ff9b8f; --on-red: #2b0a07; --red-down: #ffb9b0; --blue: #8fb6f2; --good: #93d8ab; --bad: #ffaaa0; --shadow: rgb(0 0 0 / 45%);
  --sky: #202c52; --sun: #f6ecc9; --far: #33446b; --snow: #8d9bbd; --near: #1f3b3a; --water: #1b3552; --glint: #6e89a8; --sail: #d8d3c6; --hull: #9a3a33;
} }
*, ::before, ::after { box-sizing: border-box; }
html { background: var(--desk); color: var(--ink); font: 106.25%/1.55 var(--serif); -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; overflow-wrap: anywhere; }
body::before { content: ""; flex: none; height: 10px; background: repeating-linear-gradient(-45deg, var(--red) 0 14px, var(--paper) 14px 28px, var(--blue) 28px 42px, var(--paper) 42px 56px); }
h1, h2, h3, p, ol, dl, dd, pre { margin: 0; }
h1, h2, h3 { font-weight: 600; line-height: 1.2; text-wrap: balance; }
h1 { font-size: clamp(1.75rem, 1.35rem + 1.8vw, 2.5rem); letter-spacing: -0.01em; }
h2 { font-size: 1.3rem; }
h3 { font-size: 1.05rem; }
p { text-wrap: pretty; }
ol { padding: 0; list-style: none; }
a { color: var(--blue); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
a:hover { text-decoration-thickness: 2px; }
:focus-visible { outline: 3px solid var(--blue); outline-offset: 3px; }
code, pre { font: 0.8125rem/1.6 var(--mono); }
pre { padding: 0.75rem 0.875rem; background: var(--tint); border-left: 3px solid var(--rule); white-space: pre-wrap; overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

header, main, footer { width: 100%; max-width: 66rem; margin-inline: auto; padding-inline: clamp(1rem, 4vw, 2rem); }
header { padding-block: 1.25rem; }
.name { display: inline-flex; align-items: center; gap: 0.625rem; color: inherit; text-decoration: none; font-size: 1.2rem; font-style: italic; font-weight: 600; }
.sign { width: 2rem; height: 1.5rem; }
.sign-card { fill: var(--paper); stroke: var(--ink); stroke-width: 1.5; }
.sign-lines { stroke: var(--ink); stroke-width: 1.25; }
.sign-stamp { fill: var(--red); }
main { padding-block: clamp(0.5rem, 3vw, 2rem) 4rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: clamp(1.5rem, 4vw, 2.5rem); }
footer { margin-top: auto; padding-block: 1.25rem; font-size: 0.875rem; color: var(--muted); }
.lead { margin-top: 0.75rem; font-size: 1.15rem; color: var(--muted); }
.aside { font-size: 0.9rem; color: var(--muted); }

button, .button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 3rem; padding: 0.5rem 1.125rem; font: 600 1rem/1.3 var(--serif); text-align: center; text-decoration: none;
  color: var(--ink); background: var(--paper); border: 1px solid var(--edge); border-radius: 0; cursor: pointer;
}
button:hover, .button:hover { background: var(--tint); border-color: var(--ink); }
.primary, .primary:hover { color: var(--on-red); background: var(--red); border-color: var(--red); }
.primary:hover { background: var(--red-down); border-color: var(--red-down); }

.postcard, .letter { background: var(--paper); box-shadow: 0 1px 2px var(--shadow), 0 10px 30px -12px var(--shadow); }
.postcard { display: grid; padding: clamp(0.625rem, 1.5vw, 1rem); }
.lake { display: block; width: 100%; height: 100%; max-height: 15rem; }
.sky { fill: var(--sky); } .sun { fill: var(--sun); } .far { fill: var(--far); } .snow { fill: var(--snow); } .near { fill: var(--near); } .water { fill: var(--water); }
.glint { fill: none; stroke: var(--glint); stroke-width: 4; stroke-linecap: round; } .sail { fill: var(--sail); } .hull { fill: var(--hull); }
.reverse { display: flow-root; padding: clamp(1rem, 4vw, 2.5rem); }
.reverse form { margin-block: 1.75rem 1.25rem; }
.stamp { display: block; width: 8.5rem; margin: 0 -0.5rem 1.25rem auto; }
.stamp-paper { fill: var(--tint); stroke: var(--rule); } .stamp-picture { fill: var(--blue); } .stamp-bird { fill: var(--paper); }
.perforation { fill: none; stroke: var(--paper); stroke-width: 5; stroke-linecap: round; stroke-dasharray: 0 8; }
.postmark { fill: none; stroke: var(--ink); stroke-width: 1.5; opacity: 0.55; }
.steps { display: grid; gap: 1.5rem; counter-reset: step; }
.steps li { counter-increment: step; padding-top: 1rem; border-top: 1px solid var(--edge); }
.steps h3::before { content: counter(step) ". "; color: var(--red); }
.steps p { margin-top: 0.375rem; color: var(--muted); }

.letter { padding: clamp(1.25rem, 4vw, 2rem); }
main > .letter { max-width: 42rem; }
.letter form, .letter > p + pre, .letter > p + p { margin-top: 1.5rem; }
.greeting .lead { margin-top: 0.5rem; }
.notice { padding: 0.875rem 1.125rem; background: var(--paper); border: 1px solid; border-left-width: 6px; }
.notice p { color: var(--ink); }
.notice p + p { font-size: 0.95rem; }
.good { color: var(--good); } .bad { color: var(--bad); }
.notice strong, .notice code { color: inherit; }
.notice.good p:first-child { color: var(--good); } .notice.bad p:first-child { color: var(--bad); }
.columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: clamp(1.5rem, 4vw, 2.5rem); align-items: start; }
.tokens { display: grid; gap: 0.875rem; margin-top: 1rem; }
.tokens dt { font-weight: 600; }
.tokens dd { color: var(--muted); }
.tokens code { padding: 0.1rem 0.375rem; color: var(--ink); background: var(--tint); }
.actions { display: flex; flex-wrap: wrap; gap: 0.75rem; margin-top: 1.5rem; }
.letter .actions form { margin: 0; flex: 1 1 auto; display: grid; }
.letter > .take-back { margin-top: 1.25rem; }
.answer pre { margin-top: 1rem; }

.journey li { position: relative; margin-top: 1.5rem; padding-left: 2.75rem; counter-increment: step; }
.journey ol { counter-reset: step; }
.journey li::before { content: counter(step); position: absolute; left: 0; top: -0.15rem; width: 1.75rem; height: 1.75rem; display: grid; place-items: center; border: 1.5px solid var(--red); border-radius: 50%; color: var(--red); font-size: 0.9rem; font-weight: 600; line-height: 1; }
.journey li:not(:last-child)::after { content: ""; position: absolute; left: 0.875rem; top: 2rem; bottom: -1.15rem; border-left: 1.5px dashed var(--edge); }
.journey p { margin-top: 0.25rem; color: var(--muted); }
.journey pre { margin-top: 0.625rem; background: var(--paper); }
.journey .came { margin-top: 0.25rem; border-left-color: var(--good); }
.calls > .aside { margin-top: 0.375rem; }
.calls ol { margin-top: 1rem; border-top: 1px solid var(--edge); }
.calls li { border-bottom: 1px solid var(--rule); }
summary { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; padding: 0.75rem 0.25rem; cursor: pointer; font: 0.8125rem/1.6 var(--mono); }
summary::-webkit-details-marker { display: none; }
.call::before { content: "+"; display: inline-block; width: 1.25rem; font-weight: 700; color: var(--red); }
[open] .call::before { content: "\\2212"; }
summary:hover .url { text-decoration: underline; text-underline-offset: 0.2em; }
summary time { color: var(--muted); }
.status { flex: none; font-weight: 700; }
.wire { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; padding: 0.25rem 0.25rem 1.25rem; }
.wire pre { margin-top: 0.5rem; background: var(--paper); }

@media (min-width: 46rem) {
  .postcard { grid-template-columns: 1fr 1fr; }
  .lake { max-height: none; min-height: 27rem; }
  .steps { grid-template-columns: repeat(3, 1fr); gap: 2rem; }
  .wire { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
}
@media (min-width: 58rem) { .columns { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); } }
@media (forced-colors: active) { .postcard, .letter, .notice { border: 1px solid; } .lake, .stamp { display: none; } }
`;
