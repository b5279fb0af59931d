import { type Html, html } from '../../src/pages/html/html.ts';
import { shownParameters } from '../shortened.ts';
import type { Visit } from './visit.ts';

/** The way of the code in five steps, with what was really sent. */
export function journey(authorizationUrl: string, { callbackUrl, calls }: Visit, accountsAt: string): Html {
  const exchange = calls.find(({ purpose }) => purpose === 'exchange')?.exchange;
  const check = calls.find(({ purpose }) => purpose === 'check')?.exchange;
  return html`<section class="journey">
<h2>How you got here</h2>
<ol>
${step('Your browser', 'went to Valetkey', html`<p>Postcards gave it a request to carry, with a <code>state</code> that nobody can guess.</p>${carried(authorizationUrl)}`)}
${yourStep(accountsAt)}
${step('Your browser', 'came back with a code', html`<p>And with the same <code>state</code>, so this is the answer to Postcards’ own question.</p>${callbackUrl !== null && carried(callbackUrl)}`)}
${exchange && step('Postcards’ server', 'gave the code for two tokens', html`<p>Straight to Valetkey, together with its secret. The browser never sees either token.</p><pre><b>POST ${exchange.request.url}</b>\n${exchange.request.body}</pre><pre class="came"><b>${exchange.response?.status}</b>\n${exchange.response?.body}</pre>`)}
${check && step('Postcards’ server', 'asked whose token it is', html`<p>The answer holds your name. It stands in full above.</p><pre><b>GET ${check.request.url}</b>\nauthorization: ${check.request.headers['authorization']}</pre><pre class="came"><b>${check.response?.status}</b></pre>`)}
</ol>
</section>`;
}

function yourStep(accountsAt: string): Html {
  if (accountsAt === 'Valetkey')
    return step('You', 'signed in and chose Allow', html`<p>On Valetkey’s own pages. Postcards saw nothing of it.</p>`);
  return step(
    'You',
    `signed in at ${accountsAt} and chose Allow`,
    html`<p>${accountsAt}’s server told Valetkey who you are, and Valetkey asked you. Postcards saw nothing of it.</p>`,
  );
}

function step(who: string, what: string, more: Html): Html {
  return html`<li><h3><span>${who}</span> ${what}</h3>${more}</li>
`;
}

function carried(url: string): Html {
  const { origin, pathname, searchParams } = new URL(url);
  return html`<pre><b>${origin}${pathname}</b>\n${shownParameters(searchParams)}</pre>`;
}
