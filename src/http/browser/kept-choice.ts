/**
 * What somebody had chosen when their session ended before they pressed Allow. It goes through the sign-in as a parameter of
 * our own with a mark, since an app makes the rest of the address and must not choose for anybody.
 */
import type { FastifyRequest } from 'fastify';
import type { Parameters } from '../../oauth/parameters.ts';
import type { NotTaken } from '../../pages/consent-page.ts';
import type { BrowserSessions } from './browser-session.ts';
import { withOwnParameter } from './own-parameter.ts';

const CHOICE = 'chosen';

/** The address of a consent page with the scopes that were chosen for what `subject` names. */
export function withChoice(sessions: BrowserSessions, url: string, subject: string, scopes: readonly string[]): string {
  const mark = sessions.choiceMark(subjectOf(subject, scopes));
  return withOwnParameter(url, CHOICE, [mark, ...scopes].join(' '));
}

/** The choice that came back with a request, for ten minutes; null without one that we marked. */
export function keptChoice(sessions: BrowserSessions, request: FastifyRequest, subject: string): NotTaken | null {
  const [mark, ...scopes] = ((request.query as Parameters).get(CHOICE) ?? '').split(' ');
  return sessions.isChoiceMark(subjectOf(subject, scopes), mark) ? { why: 'outdated', choice: scopes } : null;
}

function subjectOf(subject: string, scopes: readonly string[]): string {
  return JSON.stringify([subject, scopes]);
}
