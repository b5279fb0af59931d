/** Forms that make something once, however often they are sent: the hidden field `once` names each form. */
import { randomBytes } from 'node:crypto';
import { OperatorError } from '../../../oauth/error.ts';
import type { Actor } from '../../../oauth/trail/audit.ts';
import { type Idempotency, KeyOfAnotherRequest } from '../../../operator/idempotency.ts';
import type { ActProblem } from '../../../pages/operator/act-button.ts';
import type { ConsoleCall } from './console-routes.ts';

/** Returns the name of a new form: 128 random bits. */
export function newKey(): string {
  return randomBytes(16).toString('base64url');
}

/** Returns the name of the form that a page has after a refusal: the same one, unless that was sent with other values. */
export function keyAfter({ form }: ConsoleCall, problem: ActProblem): string {
  return (problem.field === 'once' ? undefined : form.get('once')) ?? newKey();
}

/**
 * Runs what a form makes, unless the form was sent before; `again` then answers, with the id of what was made. `typed` is all
 * that makes it another request at the same address. Throws `OperatorError` of the field `once` if the form was sent with others.
 */
export async function runOnce<Answer>(
  idempotency: Idempotency,
  { request, form, actor }: ConsoleCall,
  typed: unknown,
  act: (actor: Actor) => Promise<Answer>,
  again: (made: string) => Promise<Answer>,
): Promise<Answer> {
  const asked = { key: form.get('once') ?? newKey(), request: [request.url, JSON.stringify(typed)] };
  try {
    return await idempotency.run(asked, actor, act, again);
  } catch (error) {
    if (error instanceof KeyOfAnotherRequest) throw new OperatorError(SENT_BEFORE, 'once');
    throw error;
  }
}

const SENT_BEFORE =
  'This form was sent before, with other values. Press the button again to make one more, with these values.';
