/** The settings of an app under their headings, with what its registration has besides. */
import { type Html, type HtmlValue, html } from '../../html/html.ts';
import { isolated, isolatedAddress, isolatedCode } from '../../html/isolated-text.ts';
import type { PageContext } from '../../layout/layout.ts';
import { capital, lines, type SettingRow, settingValue } from '../setting-value.ts';
import { type Facts, facts } from '../table.ts';

/** A scope with its sentence on the consent page, or null. */
export type ShownScope = {
  readonly name: string;
  readonly sentence: string | null;
  readonly isOptional: boolean;
  /** True if the sentence is the app's own, in place of the one that the scope is defined with. */
  readonly isOwn: boolean;
};

/** The settings, and the rest of the registration. Times in ms. */
export type AppSettings = {
  readonly groups: readonly { readonly title: string; readonly rows: readonly SettingRow[] }[];
  readonly type: 'confidential' | 'public';
  /** The words for its type. */
  readonly typeWords: string;
  readonly scopes: readonly ShownScope[];
  readonly keys: readonly { readonly kid: string | null; readonly lastUsedAt: number | null }[];
  readonly jwksUri: string | null;
  readonly jwksFetchedAt: number | null;
  readonly documentSha256: string | null;
  readonly createdAt: number;
};

/** The groups in two columns, where there is room. */
export function appSettings(context: PageContext, app: AppSettings): Html {
  const groups = app.groups.map(
    ({ title, rows }) => html`<h3>${title}</h3>
${facts(rows.map((row) => [row.label, shownValue(context, app, row)]))}
`,
  );
  return html`<section class="part" id="settings"><h2>Settings</h2>
<div class="halves"><div>${groups.slice(0, -1)}</div>
<div>${groups.slice(-1)}<h3>Registration</h3>
${facts(registration(context, app))}</div></div></section>`;
}

function shownValue(context: PageContext, { scopes, keys }: AppSettings, row: SettingRow): HtmlValue {
  if (row.name === 'scopes' && scopes.length > 0) return lines(scopes.map(scope));
  if (row.name === 'keys' && keys.length > 0) return lines(keys.map((key, at) => keyWords(context, key, at)));
  return settingValue(row);
}

function registration({ messages }: PageContext, app: AppSettings): Facts {
  const { typeWords, jwksUri, jwksFetchedAt, documentSha256, createdAt } = app;
  return [
    ['Type', capital(typeWords)],
    [
      'Keys fetched from',
      jwksUri !== null &&
        html`${isolatedAddress(jwksUri)}${jwksFetchedAt !== null && html`, ${messages.minute(jwksFetchedAt)}`}`,
    ],
    [
      'Metadata document',
      documentSha256 !== null && html`At the address that is its ID. SHA-256 ${isolatedCode(documentSha256)}`,
    ],
    ['Registered', messages.day(createdAt)],
  ];
}

function keyWords({ messages }: PageContext, { kid, lastUsedAt }: AppSettings['keys'][number], at: number): Html {
  const used = lastUsedAt === null ? 'not used yet' : `last used ${messages.minute(lastUsedAt)}`;
  return html`${kid === null ? `Key ${at + 1}` : isolatedCode(kid)}, ${used}`;
}

function scope({ name, sentence, isOptional, isOwn }: ShownScope): Html {
  return html`${isolatedCode(name)} ${sentence === null ? 'has no sentence: users see its name' : isolated(sentence, 200)}${isOwn && ' (text of this app)'}${isOptional && ' (optional)'}`;
}
