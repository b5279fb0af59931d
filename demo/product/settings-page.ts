import { type Html, html } from '../../src/pages/html/html.ts';
import { callList, type ShownCall } from '../call-list.ts';
import { layout } from './layout.ts';
import type { Notice, Person } from './people.ts';
import type { Connection } from './valetkey.ts';

/** Data of the settings page. */
export type SettingsData = {
  readonly person: Person;
  /** Null where Valetkey did not say. */
  readonly connections: readonly Connection[] | null;
  readonly notice: Notice | null;
  readonly calls: readonly ShownCall[];
};

/** The settings: who somebody is, and which apps they connected, as Valetkey says. */
export function settingsPage({ person, connections, notice, calls }: SettingsData): Html {
  return layout({
    title: 'Settings',
    person,
    main: html`<div class="heading"><h1>Settings</h1></div>
${notice && NOTICES[notice]}
<div class="columns">
<section class="card" aria-labelledby="apps">
<h2 id="apps">Connected apps</h2>
<p class="lead">Apps of others that may act for you here. Disconnect one, and its next request is refused.</p>
${connections === null ? html`<p class="notice bad">Your apps can’t be shown right now. Look again in a minute.</p>` : appList(connections)}
</section>
<section class="card" aria-labelledby="account">
<h2 id="account">Account</h2>
<dl>
<div><dt>Name</dt><dd>${person.name}</dd></div>
<div><dt>Email</dt><dd>${person.email}</dd></div>
<div><dt>Account number</dt><dd><code>${person.subject}</code>, by which Valetkey knows you</dd></div>
</dl>
</section>
</div>
${callList('What Tintype’s server asked Valetkey', calls)}`,
  });
}

const NOTICES: Readonly<Record<Notice, Html | null>> = {
  disconnected: html`<p class="notice good" role="status">The app is disconnected. Go back to it, and check its token again.</p>`,
  not_disconnected: html`<p class="notice bad" role="alert">The app could not be disconnected. Try again in a minute.</p>`,
  wrong_password: null,
};

function appList(connections: readonly Connection[]): Html {
  if (connections.length === 0) return html`<p class="empty">No app is connected.</p>`;
  return html`<ul class="apps">
${connections.map(appItem)}</ul>`;
}

function appItem(connection: Connection): Html {
  const { connection_id, name, publisher, is_checked, permissions, granted_at, last_used_at } = connection;
  return html`<li>
<div><h3>${name}</h3>
<p class="aside">${publisher === null ? 'Publisher not stated' : html`By ${publisher}`}${is_checked && ', checked'}. ${connection.redirect_hosts.join(', ')}</p>
<ul class="rights">${permissions.map((right) => html`<li>${right.sentence ?? right.name}</li>`)}</ul>
<p class="aside">Since ${time(granted_at)}, last used ${last_used_at === null ? 'never' : time(last_used_at)}; until ${time(connection.expires_at_the_latest)} at the latest</p></div>
<form method="post" action="/settings/apps"><input type="hidden" name="connection_id" value="${connection_id}"><button>Disconnect<span class="unseen"> ${name}</span></button></form>
</li>
`;
}

function time(iso: string): Html {
  return html`<time datetime="${iso}">${iso.slice(0, 10)}, ${iso.slice(11, 16)} UTC</time>`;
}
