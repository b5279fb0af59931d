/** Limits how often one account may allow or deny: each decision leaves an audit event. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { setRetryAfter } from '../answer.ts';
import type { Service } from '../service.ts';
import type { SignedIn } from './browser-session.ts';

/** Why a decision is not taken now; seconds. */
export type Throttled = { readonly why: 'throttled'; readonly retryAfterSeconds: number };

/** Counts a decision; null unless there were too many. Then it sets status 429 and how long to wait on the reply. */
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
