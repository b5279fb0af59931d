/** How often one account may allow or deny: each decision leaves a row in the audit trail. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { setRetryAfter } from '../answer.ts';
import type { Service } from '../service.ts';
import type { SignedIn } from './browser-session.ts';

/** Why a decision is not taken now; seconds. */
export type Throttled = { readonly why: 'throttled'; readonly retryAfterSeconds: number };

/** Counts a decision of a person. Where there were too many, the reply says so and how long to wait; else null. */
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
