/** The fields of an app's form, from the descriptions of its settings. */
import type { Client } from '../../../../oauth/clients/client.ts';
import { ACTS } from '../../../../operator/access/rights.ts';
import { CLIENT_GROUPS, CLIENT_SETTINGS } from '../../../../operator/fields/client-fields.ts';
import { type Described, described, hasDefault } from '../../../../operator/fields/setting.ts';
import type { Choice, FormField } from '../../../../pages/operator/apps/app-form-fields.ts';
import type { FormGroup } from '../../../../pages/operator/apps/app-form-page.ts';
import { capital } from '../../../../pages/operator/setting-value.ts';
import { FORM_SETTINGS } from './app-form-values.ts';

/** The members that an app's metadata document has, if there is one. */
const OF_DOCUMENT: readonly string[] = ['redirect_uris', 'keys'];
const PASSKEY = 'You need your passkey for this.';

/** Returns the fields of a form under their headings, for an app; null for a new one. */
export function formGroups(client: Client | null): FormGroup[] {
  const settings = described(client === null ? FORM_SETTINGS : CLIENT_SETTINGS);
  const hasDocument = client !== null && client.documentSha256 !== null;
  return CLIENT_GROUPS.map((title) => ({
    title,
    fields: settings
      .filter(({ group }) => group === title)
      .map((setting) => fieldOf(setting, hasDocument && OF_DOCUMENT.includes(setting.member))),
  }));
}

function fieldOf(setting: Described, isReadOnly: boolean): FormField {
  const { member, label, field } = setting;
  return {
    name: member,
    label,
    kind: field.kind,
    isOptional: hasDefault(setting),
    isReadOnly,
    help: isReadOnly ? 'From the app’s metadata document.' : helpOf(setting),
    choices: (field.words ?? ['true']).map((word) => choiceOf(setting, word)),
  };
}

/** A choice of one says it at each word that needs a passkey. */
function helpOf(setting: Described): string {
  const saysPasskey = needsPasskey(setting) && setting.field.kind !== 'one';
  return saysPasskey ? `${setting.help} ${PASSKEY}` : setting.help;
}

function choiceOf(setting: Described, word: string): Choice {
  const { field, words = {}, initial } = setting;
  const [text = '', hint = ''] = words[word] ?? [];
  const saysPasskey = needsPasskey(setting) && field.kind === 'one' && word !== initial;
  return [word, field.kind === 'flag' ? text : capital(text), saysPasskey ? `${hint} ${PASSKEY}`.trim() : hint];
}

function needsPasskey({ act }: Described): boolean {
  const needs = act && ACTS[act[0]];
  return typeof needs === 'object' && 'presence' in needs;
}
