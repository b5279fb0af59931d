/** The settings of an app in three groups: who it is, where it runs, and what it may do. */
import { type Html, type HtmlValue, html } from '../../html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { type Facts, facts } from '../table.ts';

/** A scope with its sentence on the consent page, or null. */
export type ShownScope = {
  readonly name: string;
  readonly sentence: string | null;
  readonly isOptional: boolean;
  /** True if the sentence is the app's own, in place of the one that the scope is defined with. */
  readonly isOwn: boolean;
};

/** The settings. Times in ms, durations in seconds; null where the installation's default holds. */
export type AppSettings = {
  readonly type: 'confidential' | 'public';
  readonly publisher: string | null;
  readonly homepage: string | null;
  readonly privacyPage: string | null;
  readonly contact: string | null;
  readonly isChecked: boolean;
  readonly createdAt: number;
  readonly redirectUris: readonly string[];
  readonly defaultResource: string | null;
  readonly keys: readonly { readonly kid: string | null; readonly lastUsedAt: number | null }[];
  readonly jwksUri: string | null;
  readonly jwksFetchedAt: number | null;
  readonly documentSha256: string | null;
  readonly scopes: readonly ShownScope[];
  readonly personFields: readonly ('name' | 'username' | 'email' | 'avatar_url')[];
  readonly consent: 'ask' | 'remember' | 'skip';
  readonly requirePkce: boolean;
  readonly refreshOverlap: number | null;
  readonly refreshRetryWindow: number | null;
  /** The installation's values of these two. */
  readonly defaults: { readonly refreshOverlap: number; readonly refreshRetryWindow: number };
  readonly deviceFlow: boolean;
  readonly seesExternalId: boolean;
  readonly assertionAudience: 'any' | 'issuer';
};

/** The three groups, in two columns where there is room. */
export function appSettings(context: PageContext, app: AppSettings): Html {
  return html`<section class="part" id="settings"><h2>Settings</h2>
<div class="halves"><div><h3>Who it is</h3>
${facts(who(context, app))}
<h3>Where it runs</h3>
${facts(where(context, app))}</div>
<div><h3>What it may do</h3>
${facts(what(context, app))}</div></div></section>`;
}

function who({ messages }: PageContext, app: AppSettings): Facts {
  const { publisher, homepage, privacyPage, contact } = app;
  return [
    ['Publisher', publisher === null ? 'Not named' : isolated(publisher)],
    ['Checked', app.isChecked ? 'Yes: the consent page says so' : 'No'],
    ['Homepage', homepage !== null && isolatedAddress(homepage)],
    ['Privacy page', privacyPage !== null && isolatedAddress(privacyPage)],
    ['Contact', contact !== null && isolatedAddress(contact)],
    ['Registered', messages.day(app.createdAt)],
  ];
}

function where({ messages }: PageContext, app: AppSettings): Facts {
  const { type, redirectUris, defaultResource, keys, jwksUri, jwksFetchedAt, documentSha256 } = app;
  const used = (at: number | null) => (at === null ? 'not used yet' : `last used ${messages.minute(at)}`);
  const key = ({ kid, lastUsedAt }: AppSettings['keys'][number], at: number) =>
    html`${kid === null ? `Key ${at + 1}` : isolatedCode(kid)}, ${used(lastUsedAt)}`;
  return [
    [
      'Type',
      type === 'public'
        ? 'Public: on users’ devices, without a secret'
        : 'Confidential: on a server that can keep a secret',
    ],
    ['Redirect URIs', redirectUris.length === 0 ? 'None' : lines(redirectUris.map((uri) => isolatedAddress(uri)))],
    ['Default resource', defaultResource !== null && isolatedAddress(defaultResource)],
    ['Keys', keys.length > 0 && lines(keys.map(key))],
    [
      'Keys fetched from',
      jwksUri !== null &&
        html`${isolatedAddress(jwksUri)}${jwksFetchedAt !== null && html`, ${messages.minute(jwksFetchedAt)}`}`,
    ],
    [
      'Metadata document',
      documentSha256 !== null && html`At the address that is its ID. SHA-256 ${isolatedCode(documentSha256)}`,
    ],
  ];
}

function what(_context: PageContext, app: AppSettings): Facts {
  const fields = app.personFields.map((field) => FIELDS[field]);
  const seconds = (name: keyof AppSettings['defaults']) =>
    app[name] === null ? `${app.defaults[name]} seconds, the default` : `${app[name]} seconds`;
  return [
    ['Scopes', app.scopes.length === 0 ? 'None: the app sees only the profile fields' : lines(app.scopes.map(scope))],
    ['Profile fields', fields.length === 0 ? 'None, only the user’s ID' : fields.join(', ')],
    ['External ID', app.seesExternalId && 'The app sees the ID that users have at their product'],
    ['Consent', CONSENT[app.consent]],
    ['PKCE', app.requirePkce || app.type === 'public' ? 'Required' : 'Optional'],
    ['Device flow', app.deviceFlow ? 'Allowed' : 'Not allowed'],
    ['Refresh overlap', seconds('refreshOverlap')],
    ['Refresh retry window', seconds('refreshRetryWindow')],
    [
      'Audience of assertions',
      app.keys.length > 0 && (app.assertionAudience === 'any' ? 'Any name of this service' : 'Only the issuer'),
    ],
  ];
}

function scope({ name, sentence, isOptional, isOwn }: ShownScope): Html {
  return html`${isolatedCode(name)} ${sentence === null ? 'has no sentence: users see its name' : isolated(sentence, 200)}${isOwn && ' (text of this app)'}${isOptional && ' (optional)'}`;
}

function lines(items: readonly HtmlValue[]): Html {
  return html`<ul>${items.map((item) => html`<li>${item}</li>`)}</ul>`;
}

const FIELDS = { name: 'name', username: 'user name', email: 'email address', avatar_url: 'picture' } as const;

const CONSENT = {
  ask: 'Asks the user each time',
  remember: 'Asks only for what the user has not allowed yet',
  skip: 'Never asks: one of your own apps',
} as const;
