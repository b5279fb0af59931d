/** The plot of an activity over time: drawn without a script or a style, with its numbers in a table. */
import type { AppTally, Counter, Span } from '../../oauth/activity/app-tally.ts';
import { type Html, html } from '../html/html.ts';
import { Formats } from '../messages/formats.ts';

/** The tally of an hour or a day that began at `bucket` (ms). */
export type PlottedTally = { readonly bucket: number } & AppTally;

/** An activity by hour or by day. Hours and days without a tally are empty. */
export type Plotted = {
  readonly span: Span;
  /** The hours or days in which these times (ms) lie are the first and the last one. */
  readonly from: number;
  readonly to: number;
  /** Time of the registration of the app (ms), at which a long enough plot begins. Null if the activity is of all apps. */
  readonly registeredAt: number | null;
  readonly tallies: readonly PlottedTally[];
};

const WORKED = [
  ['allowed', 'Allowed'],
  ['denied', 'Denied'],
  ['exchanges', 'Code exchanges'],
  ['refreshes', 'Refreshes'],
  ['retries', 'Retried refreshes'],
  ['checks', 'Token checks'],
  ['introspections', 'Introspections'],
] as const;
const FAILED = [
  ['invalidClient', 'Invalid client'],
  ['invalidGrant', 'Invalid grant'],
  ['invalidRequest', 'Invalid request'],
  ['limited', 'Rate limit'],
  ['other', 'Other causes'],
] as const;

type Series = readonly (readonly [counter: Counter, name: string])[];
/** A row of bars: its name, its series, and its heights in the order of time. */
type Band = {
  readonly name: 'Succeeded' | 'Refused';
  readonly look: 'worked' | 'failed';
  readonly series: Series;
  readonly heights: readonly number[];
};
/** The part of a plot that all its bands share. */
type Axes = { readonly first: number; readonly span: Span; readonly tallies: readonly PlottedTally[] };
/** A period of the table, which sums up its tallies. */
type Period = { readonly name: string; readonly tallies: readonly PlottedTally[] };

/** Milliseconds of a span. */
const MS: Readonly<Record<Span, number>> = { hour: 3_600_000, day: 86_400_000 };
/** Maximum number of days that the table lists one by one; more are summed up by month. */
const MAX_DAYS = 60;
/** Number of hours or days that a plot has at least, so that the bars of a new app are no walls. */
const MIN_LENGTH = 14;
/** Height of the tallest bar, and of one that is hardly there. */
const FULL = 100;
const LEAST = 3;
/** A space at which no line ends. */
const UNBROKEN = '\u00a0';
/** Two bands have one scale, unless the highest bar of one would be lower than this part of the other's. */
const LEAST_PART = 0.2;

const formats = new Formats('en-GB');

/** The numbers of requests that succeeded and that were refused. */
export function countsOf(tallies: readonly AppTally[]): { readonly succeeded: number; readonly refused: number } {
  const count = (series: Series) => tallies.reduce((sum, tally) => sum + sumOf(tally, series), 0);
  return { succeeded: count(WORKED), refused: count(FAILED) };
}

/** Draws what succeeded and what was refused: on one scale, or on two if a few refusals would not show beside many checks. */
export function plot(activity: Plotted): Html {
  const { span, to, registeredAt } = activity;
  const first = firstOf(activity);
  const last = startOf(to, span);
  const tallies = activity.tallies.filter(({ bucket }) => bucket >= first && bucket <= last);
  if (tallies.length === 0) return html`<p class="plot-none">Nothing was counted in this time.</p>`;
  const length = Math.round((last - first) / MS[span]) + 1;
  const heights = (series: Series) => {
    const sums = new Array<number>(length).fill(0);
    for (const tally of tallies) sums[Math.round((tally.bucket - first) / MS[span])] = sumOf(tally, series);
    return sums;
  };
  const bands: readonly Band[] = [
    { name: 'Succeeded', look: 'worked', series: WORKED, heights: heights(WORKED) },
    { name: 'Refused', look: 'failed', series: FAILED, heights: heights(FAILED) },
  ];
  const peaks = bands.map(({ heights }) => Math.max(...heights));
  const lower = Math.min(...peaks);
  const higher = Math.max(...peaks);
  const scale = lower === 0 || lower >= higher * LEAST_PART ? higher : null;
  const times = [first, first + Math.floor((length - 1) / 2) * MS[span], last];
  const axes = { first, span, tallies };
  return html`<figure class="plot">${bands.map((each) => band(each, scale, axes))}
<p class="times" aria-hidden="true">${times.map((time) => html`<span>${timeOf(time, span)}</span>`)}</p>
${registeredAt !== null && registeredAt > activity.from && html`<p><small>The app was registered on ${timeOf(registeredAt, span)}.</small></p>`}
<details><summary>Show the numbers</summary>${numbers(tallies, span, length)}</details></figure>`;
}

/** The first hour or day: that of the registration, if it is late enough and leaves enough of them. */
function firstOf({ span, from, to, registeredAt }: Plotted): number {
  const begin = startOf(from, span);
  if (registeredAt === null) return begin;
  const latest = startOf(to, span) - (MIN_LENGTH - 1) * MS[span];
  return Math.max(begin, Math.min(startOf(registeredAt, span), latest));
}

/** A band on a scale that ends at `scale`, or at its own highest bar if null. Without a bar it is a line of text. */
function band({ name, look, series, heights }: Band, scale: number | null, { first, span, tallies }: Axes): Html {
  const total = formats.number(heights.reduce((sum, height) => sum + height, 0));
  const peak = Math.max(...heights);
  const isOwn = scale === null && look === 'failed';
  const heading = html`<p><span class="${look}">${name}</span> <strong>${total}</strong> <small>${partsOf(tallies, series)}</small>${isOwn && html` <small>On a scale of its own.</small>`}</p>`;
  if (peak === 0) return heading;
  const top = scale ?? peak;
  // A whole row is one path, and a unit of its width is an hour or a day: 400 bars stay small, and fill any width.
  const bars = heights.map((height, at) => {
    if (height === 0) return '';
    return `M${at} ${FULL}V${FULL - Math.max(LEAST, Math.round((height / top) * FULL))}`;
  });
  const highest = `highest ${formats.number(peak)}, ${timeOf(first + heights.indexOf(peak) * MS[span], span)}`;
  return html`${heading}
<p class="axis" aria-hidden="true"><span>${formats.number(top)} per ${span}</span><span>0</span></p>
<svg class="bars ${look}" viewBox="-0.5 0 ${heights.length} ${FULL}" preserveAspectRatio="none" role="img" aria-label="${name} by ${span}: ${total}, ${highest}"><path d="${bars.join('')}"/></svg>`;
}

/** The series that were counted, each with its number, the most frequent one first: "Invalid grant 310 · Rate limit 12". */
function partsOf(tallies: readonly PlottedTally[], series: Series): string {
  return series
    .map((one) => ({ name: one[1], count: tallies.reduce((sum, tally) => sum + tally[one[0]], 0) }))
    .filter(({ count }) => count > 0)
    .toSorted((one, other) => other.count - one.count)
    .map(({ name, count }) => `${name} ${formats.number(count)}`.replaceAll(' ', UNBROKEN))
    .join(`${UNBROKEN}· `);
}

/** The table has the series and periods in which anything was counted. A wide one scrolls by itself. */
function numbers(tallies: readonly PlottedTally[], span: Span, length: number): Html {
  const counted = (series: Series) => series.filter(([counter]) => tallies.some((tally) => tally[counter] > 0));
  const worked = counted(WORKED);
  const failed = counted(FAILED);
  const series = [...worked, ...failed];
  const byMonth = span === 'day' && length > MAX_DAYS;
  const periods = periodsOf(tallies, byMonth ? monthOf : (time) => timeOf(time, span));
  const row = ({ name, tallies }: Period) =>
    html`<tr><th scope="row">${name}</th>${series.map(([counter]) => html`<td>${formats.number(tallies.reduce((sum, tally) => sum + tally[counter], 0))}</td>`)}</tr>
`;
  const group = (name: Band['name'], { length }: Series) =>
    length > 0 && html`<th scope="colgroup" colspan="${length}">${name}</th>`;
  const period = byMonth ? 'Month' : span === 'day' ? 'Day' : 'Hour from';
  return html`<div class="wide" tabindex="0" role="region" aria-label="The numbers"><table><thead><tr><th scope="col" rowspan="2">${period}</th>${group('Succeeded', worked)}${group('Refused', failed)}</tr>
<tr>${series.map(([, name]) => html`<th scope="col">${name}</th>`)}</tr></thead>
<tbody>${periods.map(row)}</tbody><tfoot>${row({ name: 'Total', tallies })}</tfoot></table></div>`;
}

function periodsOf(tallies: readonly PlottedTally[], nameOf: (time: number) => string): Period[] {
  const newestFirst = tallies.toSorted((one, other) => other.bucket - one.bucket);
  const byName = Map.groupBy(newestFirst, ({ bucket }) => nameOf(bucket));
  return [...byName].map(([name, tallies]) => ({ name, tallies }));
}

function sumOf(tally: AppTally, series: Series): number {
  return series.reduce((sum, [counter]) => sum + tally[counter], 0);
}

function startOf(time: number, span: Span): number {
  return time - (time % MS[span]);
}

function timeOf(time: number, span: Span): string {
  return span === 'hour' ? `${formats.minute(time)} UTC` : formats.day(time);
}

function monthOf(time: number): string {
  return formats.day(time).replace(/^\d+ /, '');
}
