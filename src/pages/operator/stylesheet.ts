import { stylesheet } from '../stylesheet.ts';

/** Returns the stylesheet of the operators' pages: that of all pages, and a few rules. */
export function consoleStylesheet(colour: string): string {
  return stylesheet(colour) + rules;
}

const rules = `
noscript { display: block; }
.advice { background: var(--wash); border-color: var(--line); }
.advice .icon { color: var(--brand-text); }
.console { display: flex; flex-wrap: wrap; gap: 0.25rem 1.25rem; margin-block-end: 1.5rem; padding-block-end: 0.75rem; border-block-end: 1px solid var(--line); font-weight: 550; }
.console a { padding-block: 0.375rem; color: var(--muted); text-decoration: none; }
.console [aria-current] { color: var(--ink); box-shadow: 0 2px 0 var(--brand-edge); }
.console a:hover { color: var(--brand-text); text-decoration: underline; }
.things { display: grid; gap: 0.75rem; margin-block-start: 1rem; }
.things > li { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: 0.5rem 1.25rem; padding: 0.875rem 1.125rem; background: var(--surface); border: 1px solid var(--line); border-radius: 0.75rem; }
.things :is(h2, h3) { font-size: 1rem; }
.things p { font-size: 0.875rem; color: var(--muted); }
.part { margin-block-start: 2.25rem; }
.part > h2 { font-size: 1.125rem; }
.part > p { margin-block-start: 0.375rem; color: var(--muted); }
.part > .button, .part > form, .part > .notice { margin-block-start: 1rem; }
.narrow { max-inline-size: 28rem; justify-items: start; }
.narrow > .field { inline-size: 100%; }
.field select { inline-size: 100%; min-block-size: 2.875rem; padding: 0.5rem 0.875rem; font: inherit; color: var(--ink); background: var(--surface); border: 1px solid var(--edge); border-radius: 0.625rem; }
.acts { display: grid; gap: 0.25rem; margin-block-start: 1rem; }
.act summary { inline-size: fit-content; padding-block: 0.75rem; color: var(--brand-text); font-weight: 550; cursor: pointer; }
.act form { display: grid; gap: 0.75rem; justify-items: start; max-inline-size: 36rem; margin-block-end: 0.75rem; }
.rights { inline-size: 100%; margin: 0; padding: 0.25rem 1rem 0.5rem; border: 1px solid var(--line); border-radius: 0.625rem; font-size: 0.875rem; }
.rights legend { padding-inline: 0.375rem; font-weight: 550; }
.rights p { margin-block-start: 0.625rem; color: var(--muted); }
.rights label { display: inline-flex; gap: 0.375rem; align-items: center; min-block-size: 2rem; margin-inline-end: 1rem; }
.secret { margin-block: 1.25rem; padding: 1rem 1.125rem; background: var(--sunken); border-radius: 0.75rem; overflow-wrap: anywhere; }
button[aria-disabled="true"] { opacity: 0.6; cursor: progress; }
`;
