/** The pages that register an app, and change one: one form. */
import { type Html, html } from '../../html/html.ts';
import { icons } from '../../html/icons.ts';
import { isolated, isolatedCode } from '../../html/isolated-text.ts';
import { actProblem, passkeyNeeded } from '../act-button.ts';
import type { ConsolePage } from '../frame.ts';
import { type AppForm, choiceField, type FormField, needsALook, settingField } from './app-form-fields.ts';
import { type OfferedScope, scopeFields } from './app-form-scopes.ts';
import { APPS, appHref } from './app-page.ts';

/** Data of both pages. */
type AppFormData = {
  readonly form: AppForm;
  /** The settings in the parts of the form, each with its heading: first the app's own, last the further ones. */
  readonly groups: readonly FormGroup[];
  readonly scopes: readonly OfferedScope[];
};

/** Settings under a heading. */
export type FormGroup = { readonly title: string; readonly fields: readonly FormField[] };

/** Data of the page for a new app; `once` names the form, so that it registers one app however often it is sent. */
export type NewAppData = AppFormData & {
  readonly once: string;
  /** True if the operator has a passkey. */
  readonly hasPasskey: boolean;
};

/** The page that registers an app. */
export function newAppPage(data: NewAppData): ConsolePage {
  const { form, once, hasPasskey } = data;
  const title = 'Register an app';
  return {
    frame: { title, isProblem: form.problem !== null, section: 'Apps', parents: [APPS] },
    main: html`<h1>${title}</h1>
<p class="lead">Its developer gets a client ID, a secret and the addresses to use.</p>
${form.problem === null && !hasPasskey && html`<div class="notice advice">${icons.key}<div>${passkeyNeeded(hasPasskey, 'registering an app with a secret')}</div></div>`}
${problemOf(form)}
<form method="post" action="/apps/new" class="settings" autocomplete="off">
<input type="hidden" name="once" value="${once}">
${parts(
  data,
  html`<section class="part secret-choice"><h2>The secret</h2>
<p>You need your passkey for this.</p><div class="stack">
${choiceField(form, WAYS)}
</div></section>`,
)}
<div class="submit"><button class="primary">Register the app</button><a class="button secondary" href="/apps">Cancel</a></div>
</form>`,
  };
}

/** Data of the page of an app that is there; `tag` is of the app as the form shows it. */
export type EditAppData = AppFormData & {
  readonly id: string;
  /** The present name. */
  readonly name: string;
  /** How the app proves to be itself. */
  readonly proof: 'secret' | 'keys' | 'none';
  readonly tag: string;
  /** Digests of the values that the form began with: after another's change they tell what was typed. */
  readonly shown: string;
};

/** The page that changes an app. */
export function editAppPage(data: EditAppData): ConsolePage {
  const { form, id, name, proof, tag, shown } = data;
  const path = appHref(id);
  const title = `Change ${name}`;
  return {
    frame: {
      title,
      isProblem: form.problem !== null,
      section: 'Apps',
      parents: [APPS, [path, name]],
      here: 'Settings',
    },
    main: html`<h1>Change ${isolated(name)}</h1>
<p class="lead">${PROOFS[proof]} ${isolatedCode(id)}</p>
${problemOf(form)}
<form method="post" action="${path}/edit" class="settings" autocomplete="off">
<input type="hidden" name="tag" value="${tag}"><input type="hidden" name="shown" value="${shown}">
${parts(data)}
<div class="submit"><button class="primary">Save the changes</button><a class="button secondary" href="${path}">Cancel</a></div>
</form>`,
  };
}

/** The reason of a refusal, with the way to its field. */
function problemOf({ problem, values }: AppForm): Html | null {
  if (problem === null) return null;
  const { field = null } = problem;
  const way = field !== null && field in values && html`<p class="fine"><a href="#${field}">Go to the field</a></p>`;
  return html`${actProblem(problem)}${way}`;
}

/** The parts of the form; `afterFirst` follows the app's own settings. */
function parts({ form, groups, scopes }: AppFormData, afterFirst: Html | null = null): Html {
  const field = (one: FormField) => (one.kind === 'scopes' ? scopeFields(form, one, scopes) : settingField(form, one));
  const [first, ...others] = groups.slice(0, -1).map(
    ({ title, fields }) => html`<section class="part"><h2>${title}</h2><div class="stack">
${fields.map(field)}
</div></section>
`,
  );
  const { title = '', fields = [] } = groups.at(-1) ?? {};
  const isOpen = needsALook(
    form,
    fields.map(({ name }) => name),
  );
  return html`${first}${afterFirst}${others}
<details class="part further"${isOpen && html` open`}><summary>${title}</summary><div class="stack">
${fields.map(field)}
</div></details>`;
}

const PROOFS = {
  secret: 'A server with a secret.',
  keys: 'An app that proves itself by keys of its own.',
  none: 'An app without a secret.',
};

const WAYS: FormField = {
  name: 'hand_over',
  label: 'How the developer gets the secret',
  help: '',
  kind: 'one',
  isOptional: false,
  choices: [
    [
      'link',
      'Give a one-time link (recommended)',
      'You get a link for the developer. The secret is made when the developer opens it, so nobody else sees the secret.',
    ],
    ['secret', 'Show me the secret once', 'You pass the secret on yourself.'],
  ],
};
