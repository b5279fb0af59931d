/** The routes of the console's pages: each names its act, reads, and answers with a page or leads to one. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OperatorError } from '../../../oauth/error.ts';
import type { Parameters } from '../../../oauth/parameters.ts';
import type { Actor } from '../../../oauth/trail/audit.ts';
import { ChangedSince, type Unchanged } from '../../../oauth/trail/request-conditions.ts';
import { type AccessRefusal, type Act, refusalOf } from '../../../operator/access/rights.ts';
import type { PageContext } from '../../../pages/layout/layout.ts';
import type { ActProblem } from '../../../pages/operator/act-button.ts';
import { type ConsolePage, consoleLayout, listAbove } from '../../../pages/operator/frame.ts';
import { formOf } from '../../request/form.ts';
import { originOf } from '../../request/origin.ts';
import type { ConsoleParts } from './console-parts.ts';
import { queryOf } from './done-act.ts';

/** A request of a signed-in operator who may do its route's act. */
export type ConsoleCall = {
  readonly context: PageContext;
  /** The actor of what is written: refused once the access ended. */
  readonly actor: Actor;
  /** The id in the path, decoded; empty without one. */
  readonly id: string;
  /** `done` is in it only after our own post. */
  readonly query: Parameters;
  readonly form: Parameters;
  /** True if the role allows an act. The rest is asked when it is done. */
  readonly may: (act: Act) => boolean;
  /** Asks for a further act that the form makes of the request. Throws `Refused`, before anything is written. */
  readonly requires: (act: Act) => void;
  /** Returns true if the operator has a passkey: without one, what needs presence cannot be done. */
  readonly hasPasskey: () => Promise<boolean>;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
};

/** A path of this address to go on to, by 303. */
export type Onward = { readonly location: string };

/** Options of a form. */
export type FormOptions = {
  /** Limits in place of those that all bodies have: bytes of its body, and number of its parameters. */
  readonly bodyLimit?: number;
  readonly maxParameters?: number;
  /** True for a form with typed fields, none of them secret: `unsent-form.ts` keeps them when the session ended meanwhile. */
  readonly keepsTyped?: boolean;
  /** True for a form with a pasted credential, which is never sent back: its act asks for no passkey. */
  readonly hasCredential?: boolean;
};

/** Answers a request of a page or of an act on it. */
type Run<Answer> = (call: ConsoleCall) => Promise<Answer>;

/**
 * Functions that add acts on one thing: `act` answers by itself, and `change` leads back to the thing's page, with the sentence of a
 * notice. After a refusal both answer with the page.
 */
export type ThingActs<Notice extends string> = {
  readonly act: (path: string, name: Act, run: Run<ConsolePage | Onward>, options?: FormOptions) => void;
  readonly change: (path: string, name: Act, notice: Notice, run: Run<unknown>, options?: FormOptions) => void;
};

/** The operator may not do a further act. Nothing happened. */
class Refused extends Error {
  override readonly name = 'Refused';
  readonly act: Act;
  readonly refusal: AccessRefusal;

  constructor(act: Act, refusal: AccessRefusal) {
    super(`${act}: ${refusal}`);
    this.act = act;
    this.refusal = refusal;
  }
}

/** Adds routes of pages. */
export class ConsoleRoutes {
  readonly #app: FastifyInstance;
  readonly #parts: ConsoleParts;

  constructor(app: FastifyInstance, parts: ConsoleParts) {
    this.#app = app;
    this.#parts = parts;
  }

  /** Adds a page. A null answer is a thing that is not there. */
  page(path: string, act: Act, answer: Run<ConsolePage | Onward | null>): void {
    this.#app.get(path, { config: this.#config(act) }, async (request, reply) =>
      this.#send(reply, await answer(this.#call(request, reply))),
    );
  }

  /**
   * Adds an act. `refused` answers with the page that the form was on, with what was typed and why nothing happened; null is a
   * thing that is not there.
   */
  act(
    path: string,
    act: Act,
    run: Run<ConsolePage | Onward>,
    refused: (call: ConsoleCall, problem: ActProblem) => Promise<ConsolePage | Onward | null>,
    options: FormOptions = {},
  ): void {
    const { bodyLimit, maxParameters, keepsTyped, hasCredential } = options;
    const config = { ...this.#config(act), maxParameters, keepsTyped, asksInPlace: !hasCredential };
    this.#app.post(path, { config, ...(bodyLimit !== undefined && { bodyLimit }) }, async (request, reply) => {
      const call = this.#call(request, reply);
      try {
        return this.#send(reply, await run(call));
      } catch (error) {
        if (error instanceof OperatorError)
          return this.#send(reply.code(400), await refused(call, { text: error.message, field: error.field }));
        if (error instanceof Refused) return this.#parts.refuse(request, reply, error.act, error.refusal);
        throw error;
      }
    });
  }

  /** Adds the page of one thing. Returns the functions that add acts on it. */
  thing<Notice extends string>(
    path: `${string}/:id`,
    name: Act,
    show: (call: ConsoleCall, problem: ActProblem | null) => Promise<ConsolePage | Onward | null>,
  ): ThingActs<Notice> {
    this.page(path, name, (call) => show(call, null));
    const act: ThingActs<Notice>['act'] = (at, which, run, options) =>
      this.act(`${path}/${at}`, which, run, show, options);
    const change: ThingActs<Notice>['change'] = (at, which, notice, run, options) => {
      const runAndReturn = async (call: ConsoleCall) => {
        await run(call);
        return { location: `${path.replace(':id', encodeURIComponent(call.id))}?done=${notice}` };
      };
      act(at, which, runAndReturn, options);
    };
    return { act, change };
  }

  #config(act: Act) {
    return { answers: this.#parts.pages.answers, limit: 'public', act } as const;
  }

  #call(request: FastifyRequest, reply: FastifyReply): ConsoleCall {
    const { service, operators, pages, accessOf } = this.#parts;
    const access = accessOf(request);
    return {
      context: pages.context,
      actor: operators.access.actor(access, originOf(request)),
      id: (request.params as { id?: string }).id ?? '',
      query: queryOf(request),
      form: formOf(request),
      may: (act) => refusalOf(act, access, service.now()) !== 'role',
      requires: (act) => {
        const refusal = refusalOf(act, access, service.now());
        if (refusal !== null) throw new Refused(act, refusal);
      },
      hasPasskey: async () => (await operators.store.listPasskeys(access.operator.id)).length > 0,
      request,
      reply,
    };
  }

  #send(reply: FastifyReply, answer: ConsolePage | Onward | null): FastifyReply {
    const { pages, accessOf } = this.#parts;
    if (answer === null)
      return pages.sendProblem(reply, 404, { kind: 'not_found', list: listAbove(reply.request.url) });
    if ('location' in answer) return pages.seeOther(reply, answer.location);
    const { operator } = accessOf(reply.request);
    return pages.send(reply, consoleLayout(pages.context, operator, answer));
  }
}

/**
 * Runs an act on a row as a page showed it: its write asks again if the row is still the same, and throws `problem` if it is not.
 */
export async function asShown<Done>(
  actor: Actor,
  unchanged: Unchanged,
  problem: OperatorError,
  run: (actor: Actor) => Promise<Done>,
): Promise<Done> {
  try {
    return await run({ ...actor, conditions: { ...actor.conditions, unchanged } });
  } catch (error) {
    throw error instanceof ChangedSince ? problem : error;
  }
}
