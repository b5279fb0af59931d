/**
 * Forms that cannot be acted on yet: a page keeps their fields, until a passkey is used or a new session begun. After a session
 * only routes that say so (`keepsTyped`) have it, so that no pasted credential is ever sent back to whoever comes next.
 */
import type { FastifyRequest } from 'fastify';
import type { UnsentForm } from '../../../../pages/operator/sign-in/session-ended-page.ts';
import { formOf } from '../../../request/form.ts';

/** The field with a passkey's answer, which works once and is never sent back. */
export const ANSWER = 'answer';

/** The field with the ID of the operator who was asked for it: meanwhile another one may have signed in. */
export const ANSWERER = 'answerer';

/** The field with the name of a passkey that is made for the answer. The form's own `name` stays beside it. */
export const PASSKEY_NAME = 'passkey_name';

const OURS = [ANSWER, ANSWERER, PASSKEY_NAME];

/** Maximum size of a body that is read without a session, in bytes. A larger form is lost. */
const MAX_BYTES = 32 * 1024;

/** Returns true if the request's form is kept. A request without a length, which no browser sends, is not read. */
export function isKept({ headers, routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.keepsTyped === true && Number(headers['content-length']) <= MAX_BYTES;
}

/** Returns the form of a request. Empty fields are left out, since they count as absent. */
export function unsentForm(request: FastifyRequest): UnsentForm {
  const form = formOf(request);
  const names = form.names().filter((name) => !OURS.includes(name));
  const fields = names.flatMap((name) => form.all(name).map((value) => [name, value] as const));
  return { action: request.url, fields };
}
