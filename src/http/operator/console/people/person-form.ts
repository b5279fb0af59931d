/** The form that changes a person: its values, and what a posted one changes. */
import type { Account } from '../../../../accounts/people/account.ts';
import type { Parameters } from '../../../../oauth/parameters.ts';
import { readSettings } from '../../../../operator/fields/setting.ts';
import { USER_SETTINGS } from '../../../../operator/fields/user-fields.ts';
import { userJson } from '../../../../operator/json/user.ts';
import type { ActProblem } from '../../../../pages/operator/act-button.ts';
import type { TypedPerson } from '../../../../pages/operator/people/people-page.ts';
import type { PersonData } from '../../../../pages/operator/people/person-data.ts';
import { etagOf } from '../../api/etag.ts';
import { shownOf, typedOver } from '../typed-over.ts';
import { typedPerson } from './people.ts';

const FIELDS = ['email', 'name', 'username'] as const;

/** Returns the tag of a person as they are: a form that has another one was on an older page. */
export function personTag(account: Account): string {
  return etagOf(userJson(account));
}

/** Returns the form: its values as they are now, or as typed into the refused form. */
export function changeForm(account: Account, form: Parameters, problem: ActProblem | null): PersonData['form'] {
  const present = presentValues(account);
  const shown = form.get('shown');
  const fresh = { typed: present, shown: shownOf(present), tag: personTag(account), isOpen: false };
  if (problem === null || shown === undefined) return fresh;
  const typed = typedPerson(form);
  return problem.field === 'tag'
    ? { ...fresh, typed: typedOver(present, typed, shown), isOpen: true }
    : { typed, shown, tag: form.get('tag') ?? '', isOpen: true };
}

/** Returns the settings that a posted form changes of the person that it showed. Throws `OperatorError` for unfit values. */
export function changesIn(form: Parameters, account: Account) {
  const present = presentValues(account);
  const typed = typedPerson(form);
  const changed = FIELDS.filter((name) => typed[name] !== present[name]);
  return readSettings(USER_SETTINGS, Object.fromEntries(changed.map((name) => [name, typed[name] || null])));
}

function presentValues({ email, name, username }: Account): TypedPerson {
  return { email: email ?? '', name: name ?? '', username: username ?? '' };
}
