/** How operators and their keys are shown, to programs and to people. */
import type { Operator } from '../../operator/access/operator.ts';
import type { OperatorKey } from '../../operator/access/operator-key.ts';
import type { MadeAddress, OperatorInFull } from '../../operator/access/operators.ts';
import {
  addressJson,
  keyJson,
  type OperatorJson,
  type OperatorKeyJson,
  operatorInFullJson,
  operatorJson,
} from '../../operator/json/operator.ts';
import type { CommandResult } from '../command/command-run.ts';
import { card, type ShortList } from '../output/table.ts';
import { readableTime, timeOrNever } from '../output/time.ts';
import { SHOWN_ONCE } from '../registrations/secret-view.ts';

type ShownPasskey = ReturnType<typeof operatorInFullJson>['passkeys'][number];

/** Remedy for a passkey that may have been copied. */
const COPIED = 'To be safe, the operator adds another passkey, and removes the one that may have been copied.';

/** A sentence about an operator. */
export function operatorActResult(operator: Operator, sentence: string): CommandResult {
  return { json: operatorJson(operator), text: [sentence] };
}

/** A new operator that is a program. */
export function addedProgram(operator: Operator): CommandResult {
  const next = `Next: "valetkey operator key add ${operator.id} --name NAME --rights RIGHTS" makes a key for the API.`;
  return { ...operatorActResult(operator, `${operator.name} is added, without a one-time link.`), note: next };
}

/** An operator's one-time link, below a sentence. */
export function oneTimeLinkResult(made: MadeAddress, sentence: string): CommandResult {
  return {
    json: addressJson(made),
    text: [sentence, '', `  ${made.url}`, '', 'The link works once. Whoever opens it acts as this operator.'],
  };
}

/** One operator in full. */
export function shownOperator(found: OperatorInFull): CommandResult {
  const json = operatorInFullJson(found);
  const listed = (lines: readonly string[]) => (lines.length === 0 ? 'none' : lines);
  const isSuspected = json.passkeys.some(({ suspected_copied_at }) => suspected_copied_at !== null);
  return {
    json,
    ...(isSuspected && { note: `${COPIED} Or end all passkeys with "valetkey operator reset ${json.operator_id}".` }),
    text: card([
      ['Operator ID', json.operator_id],
      ['Name', json.name],
      ['Role', json.role],
      ['Status', json.status],
      ['Added', readableTime(json.created_at)],
      ['Passkeys', listed(json.passkeys.map(passkeyLine))],
      [
        'Sessions',
        listed(
          json.sessions.map((each) => `${each.browser}, ${each.network}, seen ${readableTime(each.last_seen_at)}`),
        ),
      ],
      [
        'Keys',
        listed(json.keys.map((each) => `${each.name} (${each.key_id}), expires ${readableTime(each.expires_at)}`)),
      ],
    ]),
  };
}

function passkeyLine({ name, last_used_at, suspected_copied_at }: ShownPasskey): string {
  const line = `${name}, last used ${timeOrNever(last_used_at)}`;
  return suspected_copied_at === null
    ? line
    : `${line}; may have been copied, first noticed ${readableTime(suspected_copied_at)}`;
}

/** A new key, whose text is shown this once. */
export function newKeyResult(key: OperatorKey, text: string): CommandResult {
  return {
    json: { ...keyJson(key), key: text },
    text: [`The key ${key.name} (${key.id}), until ${readableTime(key.expiresAt)}:`, '', `  ${text}`, '', SHOWN_ONCE],
    note: `Next: send the key to the API as "Authorization: Bearer KEY". To end it: "valetkey operator key end ${key.operatorId} ${key.id}".`,
  };
}

/** The list of operators. */
export const OPERATORS: ShortList<OperatorJson> = {
  none: 'No operators yet. Add one: valetkey operator add NAME --role admin',
  columns: [
    { heading: 'Operator ID', value: (row) => row.operator_id },
    { heading: 'Name', value: (row) => row.name, shrinksTo: 8 },
    { heading: 'Role', value: (row) => row.role },
    { heading: 'Status', value: (row) => row.status },
    { heading: 'Added', value: (row) => readableTime(row.created_at), mayBeLeft: true },
  ],
};

/** Returns the list of an operator's keys. */
export function keysOf(operatorId: string): ShortList<OperatorKeyJson> {
  return {
    none: `No keys. Make one: valetkey operator key add ${operatorId} --name NAME --rights RIGHTS`,
    columns: [
      { heading: 'Key ID', value: (row) => row.key_id },
      { heading: 'Name', value: (row) => row.name, shrinksTo: 8 },
      { heading: 'Last used', value: (row) => timeOrNever(row.last_used_at) },
      { heading: 'Expires', value: (row) => readableTime(row.expires_at) },
      { heading: 'Rights', value: (row) => row.rights.join(' '), mayBeLeft: true },
    ],
  };
}
