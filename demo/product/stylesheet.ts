/** The look of Tintype: a light room, indigo, round corners; its own, so that nobody takes it for Valetkey or Postcards. */
export const stylesheet = `
:root {
  color-scheme: light dark;
  --room: #f4f4f8; --card: #ffffff; --tint: #ecedf5; --ink: #1b1c2b; --muted: #5a5c72; --rule: #dcdde8; --edge: #85879c;
  --brand: #3b3f9a; --brand-down: #2b2f7c; --on-brand: #ffffff; --good: #17653f; --good-tint: #e5f3ec; --bad: #a12323; --bad-tint: #fbeaea;
  --shadow: 0 1px 2px rgb(27 28 43 / 8%), 0 12px 32px -16px rgb(27 28 43 / 28%);
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "Liberation Sans", "DejaVu Sans", sans-serif;
  --mono: ui-monospace, "SF Mono", Menlo, Consolas, "Liberation Mono", "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) { :root {
  --room: #14151f; --card: #1e1f2d; --tint: #272939; --ink: #ededf4; --muted: #a9abc0; --rule: #34364a; --edge: #73758d;
  --brand: #aab0ff; --brand-down: #c6caff; --on-brand: #14163f; --good: #8fd8b0; --good-tint: #182d25; --bad: #ffaca6; --bad-tint: #3a2023; --shadow: none;
} }
*, ::before, ::after { box-sizing: border-box; }
html { background: var(--room); color: var(--ink); font: 100%/1.55 var(--sans); -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; flex-direction: column; overflow-wrap: anywhere; }
h1, h2, h3, p, ul, ol, dl, dd, pre, figure { margin: 0; padding: 0; }
ul, ol { list-style: none; }
h1, h2, h3 { line-height: 1.2; font-weight: 650; text-wrap: balance; }
h1 { font-size: clamp(1.6rem, 1.3rem + 1.4vw, 2.1rem); letter-spacing: -0.02em; }
h2 { font-size: 1.2rem; letter-spacing: -0.01em; }
h3 { font-size: 1.05rem; }
p { text-wrap: pretty; }
a { color: var(--brand); text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
:focus-visible { outline: 3px solid var(--brand); outline-offset: 2px; }
code, pre { font: 0.8125rem/1.6 var(--mono); }
pre { padding: 0.75rem 0.875rem; background: var(--tint); border-radius: 0.5rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }

header, main, footer { width: 100%; max-width: 62rem; margin-inline: auto; padding-inline: clamp(1rem, 4vw, 2rem); }
header { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.875rem; padding-block: 1rem; }
header nav, header .quiet { font-size: 0.9375rem; }
header .quiet { padding-inline: 0; }
.name { display: inline-flex; align-items: center; gap: 0.625rem; margin-right: auto; color: inherit; text-decoration: none; font-size: 1.15rem; font-weight: 700; letter-spacing: -0.02em; }
.name img { display: block; border-radius: 9px; }
nav { display: flex; gap: 0.875rem; }
nav a { color: inherit; text-decoration: none; padding-block: 0.625rem; }
nav a:hover { text-decoration: underline; text-decoration-thickness: 2px; }
main { flex: 1; padding-block: clamp(0.5rem, 3vw, 2rem) 4rem; display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; align-content: start; }
footer { padding-block: 1.25rem; font-size: 0.875rem; color: var(--muted); }
.lead { margin-top: 0.5rem; color: var(--muted); }
.lead strong { color: var(--ink); }
.aside { font-size: 0.875rem; color: var(--muted); }

button, .button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 2.75rem; padding: 0.5rem 1.125rem; font: 600 1rem/1.3 var(--sans); text-align: center; text-decoration: none;
  color: var(--ink); background: var(--card); border: 1px solid var(--edge); border-radius: 0.625rem; cursor: pointer;
}
button:hover, .button:hover { background: var(--tint); }
.primary { color: var(--on-brand); background: var(--brand); border-color: var(--brand); }
.primary:hover { background: var(--brand-down); border-color: var(--brand-down); }
.quiet { border-color: transparent; background: none; font-weight: 500; color: var(--muted); }
.who { display: none; margin-left: 1rem; color: var(--muted); }

.card { padding: clamp(1.25rem, 4vw, 2rem); background: var(--card); border-radius: 1rem; box-shadow: var(--shadow); border: 1px solid var(--rule); }
main > .card { max-width: 44rem; }
.card > p + p, .card > .button { margin-top: 1.25rem; }
.notice { padding: 0.75rem 1rem; border-radius: 0.625rem; font-weight: 550; }
.card .notice { margin-top: 1.25rem; }
.good { color: var(--good); } .bad { color: var(--bad); }
.notice.good { background: var(--good-tint); } .notice.bad { background: var(--bad-tint); }

.entrance { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; align-items: stretch; }
.entrance .photo { display: block; width: 100%; height: 9rem; border-radius: 1rem; }
.entrance form { display: grid; gap: 1rem; margin-top: 1.25rem; }
label { display: grid; gap: 0.375rem; font-weight: 600; }
input { font: inherit; min-height: 2.75rem; width: 100%; padding: 0.5rem 0.75rem; color: inherit; background: var(--card); border: 1px solid var(--edge); border-radius: 0.625rem; }
.entrance form + form { margin-top: 0.5rem; }
.entrance .aside { margin-top: 1rem; }
.columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1.5rem; align-items: start; }

.album { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 15rem), 1fr)); gap: 1.25rem; }
.album .photo { display: block; width: 100%; aspect-ratio: 4 / 3; border-radius: 0.75rem; }
figcaption { margin-top: 0.5rem; font-size: 0.9rem; color: var(--muted); }

.apps { margin-top: 1.25rem; border-top: 1px solid var(--rule); }
.apps > li { display: flex; flex-wrap: wrap; align-items: flex-start; justify-content: space-between; gap: 1rem; padding-top: 1.25rem; }
.apps > li + li { margin-top: 1.25rem; border-top: 1px solid var(--rule); }
.apps > li > div { flex: 1 1 18rem; }
.rights { margin-block: 0.5rem; }
.rights li { padding-left: 1.25rem; position: relative; }
.rights li::before { content: ""; position: absolute; left: 0.125rem; top: 0.6em; width: 0.375rem; height: 0.375rem; border-radius: 50%; background: var(--brand); }
.apps time { white-space: nowrap; }
.empty { margin-top: 1.25rem; padding: 1.5rem; text-align: center; color: var(--muted); background: var(--tint); border-radius: 0.75rem; }
dl { margin-top: 1rem; display: grid; gap: 0.75rem; }
dl > div { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 1rem; }
dt { font-size: 0.875rem; color: var(--muted); }
dl code { font-size: 1em; }

.calls { margin-top: 1rem; }
.calls > .aside { margin-top: 0.375rem; }
.calls ol { margin-top: 1rem; border-top: 1px solid var(--rule); }
.calls ol > li { border-bottom: 1px solid var(--rule); }
summary { display: flex; align-items: baseline; justify-content: space-between; gap: 1rem; padding: 0.75rem 0.25rem; cursor: pointer; font: 0.8125rem/1.6 var(--mono); }
summary::-webkit-details-marker { display: none; }
.call::before { content: "+"; display: inline-block; width: 1.25rem; font-weight: 700; color: var(--brand); }
[open] .call::before { content: "\\2212"; }
summary:hover .url { text-decoration: underline; text-underline-offset: 0.2em; }
summary time { color: var(--muted); }
.status { flex: none; font-weight: 700; }
.wire { display: grid; grid-template-columns: minmax(0, 1fr); gap: 1rem; padding: 0.25rem 0.25rem 1.25rem; }
.wire h3 { font-size: 0.9rem; }
.wire pre { margin-top: 0.5rem; }

@media (min-width: 46rem) {
  .entrance { grid-template-columns: 1.1fr 1fr; }
  .entrance .photo { height: 100%; min-height: 32rem; }
  header, nav { column-gap: 1.25rem; }
  .who { display: inline; }
  .columns { grid-template-columns: minmax(0, 1.5fr) minmax(0, 1fr); }
  .wire { grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); }
}
@media (forced-colors: active) { .card, .notice { border: 1px solid; } }
`;
