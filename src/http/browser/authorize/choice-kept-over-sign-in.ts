/**
 * Keeps the choice of a user whose session ended before they pressed Allow. It waits in the browser during the
 * sign-in, and not in the address: an app makes the address, and must not choose for the user.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { NotTaken } from '../../../pages/consent/consent-page.ts';
import type { BrowserSessions } from '../session/browser-session.ts';

/** Keeps the chosen scopes for this `subject`. */
export function keepChoice(
  sessions: BrowserSessions,
  reply: FastifyReply,
  subject: string,
  scopes: readonly string[],
): void {
  sessions.keepChoice(reply, [sessions.choiceMark(subjectOf(subject, scopes)), ...scopes].join(' '));
}

/** Returns this browser's choice for the same `subject`, for ten minutes; null without one that we marked. */
export function keptChoice(sessions: BrowserSessions, request: FastifyRequest, subject: string): NotTaken | null {
  const [mark, ...scopes] = sessions.choice(request).split(' ');
  return sessions.isChoiceMark(subjectOf(subject, scopes), mark) ? { why: 'signed_out', choice: scopes } : null;
}

function subjectOf(subject: string, scopes: readonly string[]): string {
  return JSON.stringify([subject, scopes]);
}
