/** Limits how often one account may allow or deny: each decision leaves an audit event. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { setRetryAfter } from '../../answer/send-problem.ts';
import type { Service } from '../../service/service.ts';
import type { SignedIn } from '../session/browser-session.ts';

/** A decision that is refused now, with the seconds to wait. */
export type Throttled = { readonly why: 'throttled'; readonly retryAfterSeconds: number };

/** Counts a decision. Returns null; or, if there were too many, sets status 429 and `Retry-After` on the reply. */
export function countDecision(
  { throttles, now }: Service,
  request: FastifyRequest,
  reply: FastifyReply,
  { account }: SignedIn,
): Throttled | null {
  const key = [account.id];
  const retryAfterSeconds = throttles.decisions.wait(key, now());
  if (retryAfterSeconds === 0) {
    throttles.decisions.count(key, now());
    return null;
  }
  request.outcome = { error: 'throttled' };
  setRetryAfter(reply.code(429), retryAfterSeconds);
  return { why: 'throttled', retryAfterSeconds };
}
