/** The pages of operators, with the acts of the commands. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OperatorError } from '../../../oauth/error.ts';
import type { Parameters } from '../../../oauth/protocol/parameters.ts';
import type { Actor } from '../../../oauth/trail/audit.ts';
import { ROLES, type Role } from '../../../operator/access/operator.ts';
import type { SessionAccess } from '../../../operator/access/operator-sign-in.ts';
import type { MadeAddress } from '../../../operator/access/operators.ts';
import { type Act, RIGHTS, type Right, refusalOf } from '../../../operator/access/rights.ts';
import { OPERATOR_NOTICES, type OperatorNotice, operatorPage } from '../../../pages/operator/operator-page.ts';
import { operatorsPage, shownOncePage } from '../../../pages/operator/operators-page.ts';
import { formOf } from '../../form.ts';
import { originOf } from '../../origin.ts';
import { doneIn } from './asked-page.ts';
import type { ConsoleParts } from './console-parts.ts';
import { queryOf } from './done.ts';
import { shownSession } from './own.ts';

/** Adds the pages. */
export function addOperators(app: FastifyInstance, { service, operators, pages, accessOf }: ConsoleParts): void {
  const { registry, access } = operators;
  const config = { answers: pages.answers, limit: 'public' } as const;
  const actorOf = (request: FastifyRequest): Actor => access.actor(accessOf(request), originOf(request));

  app.get('/operators', { config: { ...config, act: 'operators.list' } }, async (request, reply) =>
    sendList(request, reply, null),
  );

  app.post('/operators', { config: { ...config, act: 'operators.add' } }, async (request, reply) => {
    const form = formOf(request);
    const name = (form.get('name') ?? '').trim();
    try {
      const made = await registry.add(name, roleIn(form), actorOf(request));
      return sendAddress(request, reply, made, 'The link for the new operator');
    } catch (error) {
      return sendList(request, reply.code(400), { text: sentenceOf(error), name });
    }
  });

  app.get('/operators/:id', { config: { ...config, act: 'operators.show' } }, async (request, reply) =>
    sendOperator(request, reply, null),
  );

  act('role', 'operators.update', 'updated', (id, actor, form) => registry.update(id, { role: roleIn(form) }, actor));
  act('disable', 'operators.disable', 'disabled', (id, actor) => registry.disable(id, actor));
  act('enable', 'operators.enable', 'enabled', (id, actor) => registry.enable(id, actor));
  act('end-sessions', 'operators.end-sessions', 'signed-out', (id, actor) => registry.endSessions(id, actor));
  act('keys/end', 'operators.end-key', 'key-ended', (id, actor, form) =>
    registry.endKey(id, form.get('key') ?? '', actor),
  );
  actThat('delete', 'operators.delete', async (request, reply, id) => {
    await registry.delete(id, actorOf(request));
    return pages.seeOther(reply, '/operators');
  });
  actThat('reset', 'operators.reset', async (request, reply, id) =>
    sendAddress(request, reply, await registry.reset(id, actorOf(request)), 'The link to enroll again'),
  );
  actThat('keys', 'operators.add-key', async (request, reply, id) => {
    const form = formOf(request);
    const settings = { name: (form.get('name') ?? '').trim(), rights: form.all('rights') as Right[] };
    const { text } = await registry.addKey(id, settings, actorOf(request));
    const { operator } = accessOf(request);
    const lead = 'A program sends it to the API as a bearer token. Keep it like a password.';
    const data = { operator, heading: 'The new key', lead, text, back: `/operators/${id}` };
    return pages.send(reply, shownOncePage(pages.context, data));
  });

  /** An act that leads back to the operator's page. */
  function act(
    path: string,
    name: Act,
    notice: OperatorNotice,
    run: (id: string, actor: Actor, form: Parameters) => Promise<unknown>,
  ): void {
    actThat(path, name, async (request, reply, id) => {
      await run(id, actorOf(request), formOf(request));
      return pages.seeOther(reply, `/operators/${id}?done=${notice}`);
    });
  }

  /** An act with an answer of its own. A refusal is shown on the operator's page. */
  function actThat(
    path: string,
    name: Act,
    run: (request: FastifyRequest, reply: FastifyReply, id: string) => Promise<FastifyReply>,
  ): void {
    app.post(`/operators/:id/${path}`, { config: { ...config, act: name } }, async (request, reply) => {
      try {
        return await run(request, reply, idOf(request));
      } catch (error) {
        return sendOperator(request, reply.code(400), sentenceOf(error));
      }
    });
  }

  async function sendList(
    request: FastifyRequest,
    reply: FastifyReply,
    problem: { text: string; name: string } | null,
  ): Promise<FastifyReply> {
    const { operator } = accessOf(request);
    const data = { operator, operators: await registry.list(), mayAdd: may('operators.add', request), problem };
    return pages.send(reply, operatorsPage(pages.context, data));
  }

  async function sendOperator(
    request: FastifyRequest,
    reply: FastifyReply,
    problem: string | null,
  ): Promise<FastifyReply> {
    const found = (await registry.list()).find(({ id }) => id === idOf(request));
    if (!found) return pages.sendProblem(reply, 404, { kind: 'not_found' });
    const { operator: shown, passkeys, sessions, keys } = await registry.show(found.id);
    const { operator, by } = accessOf(request);
    return pages.send(
      reply,
      operatorPage(pages.context, {
        ...{ operator, shown, passkeys, keys, problem },
        sessions: sessions.map((session) => shownSession(session, by)),
        rights: RIGHTS,
        mayChange: may('operators.update', request),
        done: problem === null ? doneIn(queryOf(request), OPERATOR_NOTICES) : null,
        now: service.now(),
      }),
    );
  }

  function sendAddress(
    request: FastifyRequest,
    reply: FastifyReply,
    { operator: made, url }: MadeAddress,
    heading: string,
  ): FastifyReply {
    const { operator } = accessOf(request);
    const lead = `Give this link to ${made.name} alone, over a channel that nobody else reads. It works once, within 24 hours.`;
    return pages.send(
      reply,
      shownOncePage(pages.context, { operator, heading, lead, text: url, back: `/operators/${made.id}` }),
    );
  }

  /** True if the role allows an act; the rest is asked when it is done. */
  function may(act: Act, request: FastifyRequest): boolean {
    return refusalOf(act, accessOf(request) satisfies SessionAccess, service.now()) !== 'role';
  }
}

function idOf(request: FastifyRequest): string {
  return (request.params as { id: string }).id;
}

/** The role in a form; one that no form has is the least. */
function roleIn(form: Parameters): Role {
  return ROLES.find((role) => role === form.get('role')) ?? 'read';
}

function sentenceOf(error: unknown): string {
  if (error instanceof OperatorError) return error.message;
  throw error;
}
