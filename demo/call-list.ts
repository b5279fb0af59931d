import { type Html, html } from '../src/pages/html/html.ts';
import type { Exchange } from './exchange.ts';

/** A call that a server made, without its secrets. */
export type ShownCall = { readonly at: Date; readonly exchange: Exchange };

/** Every call that a server made for this browser, in order; each opens to what was sent and what came back. */
export function callList(heading: string, calls: readonly ShownCall[]): Html {
  return html`<section class="calls">
<h2>${heading}</h2>
<p class="aside">As it went over the wire, but for the secrets: of those only the two ends are shown.</p>
<ol>
${calls.map(callItem)}</ol>
</section>`;
}

function callItem({ at, exchange: { request, response } }: ShownCall): Html {
  const tone = response && response.status < 300 ? 'good' : 'bad';
  return html`<li><details>
<summary><span class="call"><time datetime="${at.toISOString()}">${at.toISOString().slice(11, 19)}</time> <b>${request.method}</b> <span class="url">${request.url}</span></span> <span class="status ${tone}">${response?.status ?? 'no answer'}</span></summary>
<div class="wire">
<div><h3>Sent</h3><pre>${message(request)}</pre></div>
<div><h3>Came back</h3><pre>${response ? message(response) : 'nothing'}</pre></div>
</div>
</details></li>
`;
}

function message({ headers, body }: Pick<Exchange['request'], 'headers' | 'body'>): string {
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  return [...fields, ...(body === '' ? [] : ['', body])].join('\n');
}
