/**
 * Forms with typed fields that come after their session ended: a page keeps the fields for the next session. Only routes that say
 * so (`keepsTyped`) have it, so that no pasted credential and no answer of a passkey is ever sent back.
 */
import type { FastifyRequest } from 'fastify';
import type { UnsentForm } from '../../../pages/operator/session-ended-page.ts';
import { formOf } from '../../form.ts';

/** Maximum size of a body that is read without a session, in bytes. A larger form is lost. */
const MAX_BYTES = 32 * 1024;

/** Returns true if the request's form is kept. A request without a length, which no browser sends, is not read. */
export function isKept({ headers, routeOptions }: FastifyRequest): boolean {
  return routeOptions.config.keepsTyped === true && Number(headers['content-length']) <= MAX_BYTES;
}

/** Returns the form of a request. Empty fields are left out, since they count as absent. */
export function unsentForm(request: FastifyRequest): UnsentForm {
  const form = formOf(request);
  const fields = form.names().flatMap((name) => form.all(name).map((value) => [name, value] as const));
  return { action: request.url, fields };
}
