/** The pages that register an app, and change one: one form. */
import { type Html, html } from '../../html.ts';
import { icons } from '../../icons.ts';
import { isolated, isolatedCode } from '../../isolated.ts';
import type { PageContext } from '../../layout.ts';
import { actProblem, passkeyNeeded } from '../act.ts';
import { consoleLayout, type ShownOperator } from '../frame.ts';
import {
  type AppForm,
  type AppFormValues,
  type Choice,
  flagField,
  needsALook,
  radioField,
  someField,
  textField,
} from './app-form-fields.ts';
import { type OfferedScope, scopeFields } from './app-form-scopes.ts';
import { APPS, appHref } from './app-page.ts';

/** Data of both pages. */
type AppFormData = {
  readonly operator: ShownOperator;
  readonly form: AppForm;
  readonly scopes: readonly OfferedScope[];
};

/** Data of the page for a new app; `once` names the form, so that it registers one app however often it is sent. */
export type NewAppData = AppFormData & {
  readonly once: string;
  /** True if the operator has a passkey. */
  readonly hasPasskey: boolean;
};

/** The page that registers an app. */
export function newAppPage(context: PageContext, { operator, form, scopes, once, hasPasskey }: NewAppData): Html {
  const title = 'Register an app';
  return consoleLayout(
    context,
    operator,
    { title, isProblem: form.problem !== null, section: 'Apps', parents: [APPS] },
    html`<h1>${title}</h1>
<p class="lead">Its developer gets a client ID, a secret and the addresses to use.</p>
${form.problem === null && !hasPasskey && html`<div class="notice advice">${icons.key}<div>${passkeyNeeded(hasPasskey, 'registering an app with a secret')}</div></div>`}
${problemOf(form)}
<form method="post" action="/apps/new" class="settings">
<input type="hidden" name="once" value="${once}">
<section class="part"><h2>The app</h2><div class="stack">
${nameField(form)}
${redirectField(form)}
${radioField(form, 'type', 'Kind', KINDS)}
</div></section>
<section class="part secret-choice"><h2>The secret</h2>
<p>You need your passkey for this.</p><div class="stack">
${radioField(form, 'hand_over', 'How the developer gets the secret', WAYS)}
</div></section>
${shared(form, scopes)}
<div class="submit"><button class="primary">Register the app</button><a class="button secondary" href="/apps">Cancel</a></div>
</form>`,
  );
}

/** Data of the page of an app that is there; `tag` is of the app as the form shows it. */
export type EditAppData = AppFormData & {
  readonly id: string;
  /** The present name. */
  readonly name: string;
  /** How the app proves to be itself. */
  readonly proof: 'secret' | 'keys' | 'none';
  /** True for an app that was registered from its metadata document, which has its redirect URIs. */
  readonly hasDocument: boolean;
  readonly tag: string;
  /** The values that the form began with, in JSON: after another's change they tell what was typed. */
  readonly shown: string;
};

/** The page that changes an app. */
export function editAppPage(context: PageContext, data: EditAppData): Html {
  const { operator, form, scopes, id, name, proof, hasDocument, tag, shown } = data;
  const path = appHref(id);
  const title = `Change ${name}`;
  return consoleLayout(
    context,
    operator,
    { title, isProblem: form.problem !== null, section: 'Apps', parents: [APPS, [path, name]], here: 'Settings' },
    html`<h1>Change ${isolated(name)}</h1>
<p class="lead">${PROOFS[proof]} ${isolatedCode(id)}</p>
${problemOf(form)}
<form method="post" action="${path}/edit" class="settings">
<input type="hidden" name="tag" value="${tag}"><input type="hidden" name="shown" value="${shown}">
<section class="part"><h2>The app</h2><div class="stack">
${nameField(form)}
${hasDocument ? textField(form, 'redirect_uris', 'Redirect URIs', DOCUMENT_URIS) : redirectField(form)}
</div></section>
${shared(form, scopes)}
<div class="submit"><button class="primary">Save the changes</button><a class="button secondary" href="${path}">Cancel</a></div>
</form>`,
  );
}

/** The reason of a refusal, with the way to its field. */
function problemOf({ problem, values }: AppForm): Html | null {
  if (problem === null) return null;
  const { field = null } = problem;
  const way = field !== null && field in values && html`<p class="fine"><a href="#${field}">Go to the field</a></p>`;
  return html`${actProblem(problem)}${way}`;
}

/** The parts that both pages have. */
function shared(form: AppForm, scopes: readonly OfferedScope[]): Html {
  return html`<section class="part"><h2>What the app may see and do</h2><div class="stack">
${someField(form, 'person_fields', 'Profile fields', PERSON, 'The app sees these of every user who allows it, whatever the scopes. Without any, it sees only an ID.')}
${scopeFields(form, scopes)}
</div></section>
<section class="part"><h2>Its publisher</h2>
<p>Users see this before they allow the app.</p><div class="stack">
${textField(form, 'publisher', 'Publisher', { isOptional: true, hint: 'The company or person who makes the app.' })}
${textField(form, 'contact', 'Contact for users', { isOptional: true, hint: 'Where users ask for help: an email address, or an https address. The developer’s own address is not kept here.' })}
${textField(form, 'homepage', 'Homepage', HTTPS)}
${textField(form, 'privacy_page', 'Privacy page', HTTPS)}
</div></section>
<details class="part further"${needsALook(form, FURTHER) && html` open`}><summary>Further settings</summary><div class="stack">
${radioField(form, 'consent', 'Consent', CONSENTS)}
${flagField(form, 'is_checked', 'You checked the publisher', 'Users see the check mark. A later change of the name, of what is said of its publisher, or of a redirect URI’s host removes the check mark. You need your passkey for this.')}
${flagField(form, 'require_pkce', 'Require PKCE', 'Refuses authorization requests without a code challenge. An app without a secret always needs PKCE.')}
${flagField(form, 'device_flow', 'Device flow', 'For devices without a browser: the user types a code on another device. Such an app needs no redirect URI.')}
${textField(form, 'default_resource', 'Default resource', { isOptional: true, hint: 'The API that tokens are for when the app names none. An API is registered with this address.' })}
</div></details>`;
}

const FURTHER: readonly (keyof AppFormValues)[] = [
  'consent',
  'is_checked',
  'require_pkce',
  'device_flow',
  'default_resource',
];

const nameField = (form: AppForm) =>
  textField(form, 'name', 'Name', {
    hint: 'Users see the name before they allow the app.',
    attributes: html` required maxlength="100"`,
  });

const redirectField = (form: AppForm) =>
  textField(form, 'redirect_uris', 'Redirect URIs', {
    hint: 'One per line, exactly as the app sends it: https, or http on loopback such as 127.0.0.1.',
    isLong: true,
  });

const DOCUMENT_URIS = {
  hint: 'They come from the app’s metadata document.',
  isLong: true,
  attributes: html` readonly`,
};

const HTTPS = { isOptional: true, hint: 'An https address.', attributes: html` inputmode="url" spellcheck="false"` };

const PROOFS = {
  secret: 'A server with a secret.',
  keys: 'An app that proves itself by keys of its own.',
  none: 'An app without a secret.',
};

const KINDS: readonly Choice[] = [
  ['confidential', 'A server with a secret', 'A web app whose server keeps the secret.'],
  [
    'public',
    'An app without a secret',
    'On a device or in a browser, where nobody can keep a secret. It uses PKCE. An app that proves itself by keys of its own is registered by API or command.',
  ],
];

const WAYS: readonly Choice[] = [
  [
    'link',
    'Give a one-time link (recommended)',
    'You get a link for the developer. The secret is made when the developer opens it, so nobody else sees the secret.',
  ],
  ['secret', 'Show me the secret once', 'You pass the secret on yourself.'],
];

const CONSENTS: readonly Choice[] = [
  ['ask', 'Ask the user each time'],
  ['remember', 'Remember what a user allowed', 'Asks again only for more. You need your passkey for this.'],
  ['skip', 'Never ask', 'For your own apps only. You need your passkey for this.'],
];

const PERSON: readonly Choice[] = [
  ['name', 'Name'],
  ['username', 'User name'],
  ['email', 'Email address'],
  ['avatar_url', 'Picture'],
];
