/** Common questions about the audit trail, each with the filter that answers it. */
import { AUDIT_ACTIONS, type AuditAction, INCIDENTS } from '../../oauth/trail/audit.ts';
import type { EventAsked } from './event-pages.ts';

/** The acts of operators that change nothing for anybody else. */
const NO_CHANGES: readonly AuditAction[] = [
  'operator_signed_in',
  'operator_confirmed',
  'operator_signed_out',
  'operator_refused',
  'audit_checkpoint',
  'database_backed_up',
];

const actionsThatBegin = (...words: readonly string[]) =>
  AUDIT_ACTIONS.filter((action) => words.some((word) => action.startsWith(word)));

/** The questions, by name. */
export const EVENT_QUESTIONS = {
  'operator-changes': {
    byOperators: true,
    actions: AUDIT_ACTIONS.filter((action) => !NO_CHANGES.includes(action)),
  },
  'sign-ins': { actions: [...actionsThatBegin('sign_'), 'wrong_sign_ins'] },
  grants: {
    actions: [
      ...actionsThatBegin('consent_', 'code_replay', 'refresh_', 'too_many_grants'),
      ...AUDIT_ACTIONS.filter((action) => /grants?_revoked$/.test(action)),
    ],
  },
  'app-changes': { actions: actionsThatBegin('client_') },
  'secrets-and-links': {
    actions: [
      ...AUDIT_ACTIONS.filter((action) => /_secret_|_key_|_keys_/.test(action)),
      ...actionsThatBegin('hand_over_', 'user_invited', 'operator_reset', 'operator_sign_in_address_made'),
    ],
  },
  'people-changes': { actions: actionsThatBegin('user_', 'password_') },
  operators: { actions: actionsThatBegin('operator_') },
  incidents: { actions: [...INCIDENTS, 'refresh_conflict', 'sign_in_request_conflict', 'operator_refused'] },
} as const satisfies Readonly<Record<string, Pick<EventAsked, 'byOperators' | 'actions'>>>;

/** The name of a question. */
export type EventQuestion = keyof typeof EVENT_QUESTIONS;
