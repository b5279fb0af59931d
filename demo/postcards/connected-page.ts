import { type Html, html } from '../../src/pages/html/html.ts';
import { callList } from '../call-list.ts';
import { shortened } from '../shortened.ts';
import type { AccountsPlace } from './accounts-place.ts';
import { journey } from './journey.ts';
import { connectButton, layout } from './layout.ts';
import { identityOf, type Outcome, outcomeOf } from './outcome.ts';
import type { Visit } from './visit.ts';

/** Data of the page behind the connection. */
export type ConnectedData = {
  readonly visit: Visit;
  /** The address that Postcards sent the browser to. */
  readonly authorizationUrl: string;
  readonly accounts: AccountsPlace;
};

/** The page behind the connection: the tokens, what they are good for, and every call so far. */
export function connectedPage({ visit, authorizationUrl, accounts }: ConnectedData): Html {
  const lastCall = visit.calls.at(-1);
  const outcome = lastCall && outcomeOf(lastCall);
  const identity = identityOf(visit.calls);
  const isConnected = identity !== null && outcome?.isGood === true;
  const lastAnswer = visit.calls.findLast(({ purpose }) => purpose === 'check')?.exchange.response;
  return layout(
    isConnected ? 'Connected' : 'Not connected',
    html`<div class="greeting">
<h1>${isConnected ? `${identity.name.split(' ')[0]}, you’re connected` : 'You’re not connected'}</h1>
${isConnected && html`<p class="lead">Postcards holds two tokens for you. It never saw your password.</p>`}
</div>
${outcome && notice(outcome)}
<div class="columns">
<section class="letter">
${visit.token && tokens(visit.token.token, isConnected)}
${isConnected ? takeBack(accounts) : connectButton('Connect again')}
</section>
${lastAnswer && html`<section class="letter answer"><h2>What Valetkey answered to <code>/v2/me</code></h2><pre>${lastAnswer.body}</pre></section>`}
</div>
${journey(authorizationUrl, visit, accounts.name)}
${callList('Every call so far', visit.calls)}`,
  );
}

function notice({ isGood, heading, text, code }: Outcome): Html {
  return html`<div class="notice ${isGood ? 'good' : 'bad'}" role="status"><p><strong>${heading}</strong>${code !== null && html` <code>${code}</code>`}</p><p>${text}</p></div>`;
}

function tokens(pair: Readonly<Record<string, unknown>>, isConnected: boolean): Html {
  return html`<h2>The two tokens</h2>
<dl class="tokens">
<div><dt>Access token</dt><dd><code>${shortened(String(pair['access_token']))}</code> ${isConnected && 'goes along with every call.'}</dd></div>
<div><dt>Refresh token</dt><dd><code>${shortened(String(pair['refresh_token']))}</code> ${isConnected && 'gets the next two tokens, once.'}</dd></div>
</dl>
<div class="actions">
<form method="post" action="/check"><button ${isConnected && html`class="primary"`}>Check the token again</button></form>
<form method="post" action="/refresh"><button>Refresh the tokens</button></form>
</div>`;
}

function takeBack({ name, appsUrl }: AccountsPlace): Html {
  return html`<p class="take-back"><a href="${appsUrl}" target="_blank" rel="noopener">Take the access back at ${name}</a> (in a new tab), then come back and check again.</p>`;
}
