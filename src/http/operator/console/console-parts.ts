/** Parts that the operators' pages share. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SessionAccess } from '../../../operator/access/operator-sign-in.ts';
import type { AccessRefusal, Act } from '../../../operator/access/rights.ts';
import type { OperatorService, Service } from '../../service/service.ts';
import type { ConsolePages } from './console-pages.ts';
import type { ConsoleSessions } from './console-session.ts';

/** The service, its operators, the page sender and the cookies. */
export type ConsoleParts = {
  readonly service: Service;
  readonly operators: OperatorService;
  readonly pages: ConsolePages;
  readonly sessions: ConsoleSessions;
  /** Returns the access of a request whose route names an act. */
  readonly accessOf: (request: FastifyRequest) => SessionAccess;
  /** Answers a request that may not do an act: with a page that asks for a passkey, if that is what is missing; else it is recorded. */
  readonly refuse: (
    request: FastifyRequest,
    reply: FastifyReply,
    act: Act,
    refusal: AccessRefusal,
  ) => Promise<FastifyReply>;
};
