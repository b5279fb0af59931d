/** Tables of the operators' pages. On a narrow screen each row becomes a block, with the columns' names in it. */
import { type Html, type HtmlValue, html } from '../html/html.ts';

/** A column: its name, and its cell in a row. */
export type Column<Row> = readonly [name: string, cell: (row: Row) => HtmlValue];

/** Returns a table; the first column names the row. `caption` is read by screen readers alone. */
export function dataTable<Row>(caption: string, columns: readonly Column<Row>[], rows: readonly Row[]): Html {
  // The roles keep it a table for screen readers where the style shows blocks.
  return html`<table class="data" role="table"><caption class="unseen">${caption}</caption>
<thead role="rowgroup"><tr role="row">${columns.map(([name]) => html`<th scope="col" role="columnheader">${name}</th>`)}</tr></thead>
<tbody role="rowgroup">${rows.map((row) => tableRow(columns, row))}</tbody></table>`;
}

function tableRow<Row>(columns: readonly Column<Row>[], row: Row): Html {
  const cells = columns.map(([name, cell], at) =>
    at === 0
      ? html`<th scope="row" role="rowheader">${cell(row)}</th>`
      : html`<td role="cell" data-column="${name}">${cell(row)}</td>`,
  );
  return html`<tr role="row">${cells}</tr>
`;
}

/** Facts: each with its name. */
export type Facts = readonly (readonly [name: Html | string, value: HtmlValue])[];

/** A list of facts. Facts without a value are left out; `look` is `strip` for a few short ones side by side. */
export function facts(list: Facts, look: 'rows' | 'strip' = 'rows'): Html {
  const some = list.filter(([, value]) => value !== null && value !== undefined && value !== false);
  return html`<dl class="${look}">${some.map(
    ([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>
`,
  )}</dl>`;
}
