/** The plot of an activity over time: drawn without a script or a style, with its numbers in a table. */
import type { AppTally, Counter, Span } from '../../oauth/activity/app-tally.ts';
import { type Html, html } from '../html.ts';
import { Formats } from '../messages/formats.ts';

/** The tally of an hour or a day that began at `bucket` (ms). */
export type PlottedTally = { readonly bucket: number } & AppTally;

/** An activity by hour or by day. Hours and days without a tally are empty. */
export type Plotted = {
  readonly span: Span;
  /** The hours or days in which these times (ms) lie are the first and the last one. */
  readonly from: number;
  readonly to: number;
  readonly tallies: readonly PlottedTally[];
};

const WORKED = [
  ['allowed', 'Allowed'],
  ['denied', 'Denied'],
  ['exchanges', 'Exchanges'],
  ['refreshes', 'Refreshes'],
  ['retries', 'Retries'],
  ['checks', 'Checks'],
  ['introspections', 'Introspections'],
] as const;
const FAILED = [
  ['invalidClient', 'Refused: invalid client'],
  ['invalidGrant', 'Refused: invalid grant'],
  ['invalidRequest', 'Refused: invalid request'],
  ['limited', 'Refused: rate limit'],
  ['other', 'Refused: other causes'],
] as const;

type Series = readonly (readonly [counter: Counter, name: string])[];
/** A row of bars: its name, what it counts (empty: nothing), and its heights in the order of time. */
type Band = {
  readonly name: string;
  readonly look: 'worked' | 'failed';
  readonly of: string;
  readonly heights: readonly number[];
};
/** A period of the table, which sums up its tallies. */
type Period = { readonly name: string; readonly tallies: readonly PlottedTally[] };

/** Milliseconds of a span. */
const MS: Readonly<Record<Span, number>> = { hour: 3_600_000, day: 86_400_000 };
/** Maximum number of days that the table lists one by one; more are summed up by month. */
const MAX_DAYS = 60;
/** Height of the tallest bar, and of one that is hardly there. */
const [FULL, LEAST] = [100, 3];

const formats = new Formats('en-GB');

/** The numbers of requests that succeeded and that were refused. */
export function countsOf(tallies: readonly AppTally[]): { readonly succeeded: number; readonly refused: number } {
  const count = (series: Series) => tallies.reduce((sum, tally) => sum + sumOf(tally, series), 0);
  return { succeeded: count(WORKED), refused: count(FAILED) };
}

/** Draws what succeeded and what was refused, each on a scale of its own: a few failures show beside many checks. */
export function plot(activity: Plotted): Html {
  const { span, from, to, tallies } = activity;
  const [first, last] = [startOf(from, span), startOf(to, span)];
  const within = tallies.filter(({ bucket }) => bucket >= first && bucket <= last);
  if (within.length === 0) return html`<p class="plot-none">Nothing was counted in this time.</p>`;
  const length = Math.round((last - first) / MS[span]) + 1;
  const heights = (series: Series) => {
    const sums = new Array<number>(length).fill(0);
    for (const tally of within) sums[Math.round((tally.bucket - first) / MS[span])] = sumOf(tally, series);
    return sums;
  };
  const of = 'decisions of people, token requests and token checks';
  const worked: Band = { name: 'Succeeded', look: 'worked', of, heights: heights(WORKED) };
  const failed: Band = { name: 'Refused', look: 'failed', of: causesOf(within), heights: heights(FAILED) };
  const times = [first, first + Math.floor((length - 1) / 2) * MS[span], last];
  return html`<figure class="plot">${[worked, failed].map((each) => band(each, first, span))}
<p class="times" aria-hidden="true">${times.map((time) => html`<span>${timeOf(time, span)}</span>`)}</p>
<details><summary>Show the numbers</summary>${numbers(within, span, length)}</details></figure>`;
}

function band({ name, look, of, heights }: Band, first: number, span: Span): Html {
  const most = Math.max(...heights);
  const total = formats.number(heights.reduce((sum, height) => sum + height, 0));
  const peak =
    most > 0 &&
    `at most ${formats.number(most)} in ${span === 'hour' ? 'an hour' : 'a day'}, ${timeOf(first + heights.indexOf(most) * MS[span], span)}`;
  // A whole row is one path, and a unit of its width is an hour or a day: 400 bars stay small, and fill any width.
  const bars = heights.map((height, at) => {
    if (height === 0) return '';
    return `M${at} ${FULL}V${FULL - Math.max(LEAST, Math.round((height / most) * FULL))}`;
  });
  return html`<p><span class="${look}">${name}</span> <strong>${total}</strong>${of !== '' && html` <small>${of}</small>`}${most > 0 && html` <small>at most ${formats.number(most)} ${span === 'hour' ? 'an hour' : 'a day'}</small>`}</p>
<svg class="bars ${look}" viewBox="-0.5 0 ${heights.length} ${FULL}" preserveAspectRatio="none" role="img" aria-label="${name} by ${span}: ${total}${peak && `, ${peak}`}"><path d="${bars.join('')}"/></svg>`;
}

/** The table has the series and periods in which anything was counted. A wide one scrolls by itself. */
function numbers(tallies: readonly PlottedTally[], span: Span, length: number): Html {
  const series = [...WORKED, ...FAILED].filter(([counter]) => tallies.some((tally) => tally[counter] > 0));
  const byMonth = span === 'day' && length > MAX_DAYS;
  const periods = periodsOf(tallies, byMonth ? monthOf : (time) => timeOf(time, span));
  const row = ({ name, tallies }: Period) =>
    html`<tr><th scope="row">${name}</th>${series.map(([counter]) => html`<td>${formats.number(tallies.reduce((sum, tally) => sum + tally[counter], 0))}</td>`)}</tr>
`;
  const period = byMonth ? 'Month' : span === 'day' ? 'Day' : 'Hour from';
  return html`<div class="wide" tabindex="0" role="region" aria-label="The numbers"><table><thead><tr><th scope="col">${period}</th>${series.map(([, name]) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${periods.map(row)}</tbody><tfoot>${row({ name: 'Total', tallies })}</tfoot></table></div>`;
}

function periodsOf(tallies: readonly PlottedTally[], nameOf: (time: number) => string): Period[] {
  const newestFirst = tallies.toSorted((one, other) => other.bucket - one.bucket);
  const byName = Map.groupBy(newestFirst, ({ bucket }) => nameOf(bucket));
  return [...byName].map(([name, tallies]) => ({ name, tallies }));
}

/** The causes of the failures, the most frequent one first: "310 invalid grant, 12 rate limit". */
function causesOf(tallies: readonly PlottedTally[]): string {
  return FAILED.map(([counter, name]) => ({
    count: tallies.reduce((sum, tally) => sum + tally[counter], 0),
    cause: name.replace('Refused: ', ''),
  }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count)
    .map(({ count, cause }) => `${formats.number(count)} ${cause}`)
    .join(', ');
}

function sumOf(tally: AppTally, series: Series): number {
  return series.reduce((sum, [counter]) => sum + tally[counter], 0);
}

function startOf(time: number, span: Span): number {
  return time - (time % MS[span]);
}

function timeOf(time: number, span: Span): string {
  return span === 'hour' ? formats.minute(time) : formats.day(time);
}

function monthOf(time: number): string {
  return formats.day(time).replace(/^\d+ /, '');
}
