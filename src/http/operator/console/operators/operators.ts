/** The pages of operators, with the acts of the commands. */
import { OperatorError } from '../../../../oauth/error.ts';
import type { Parameters } from '../../../../oauth/parameters.ts';
import type { Actor } from '../../../../oauth/trail/audit.ts';
import { type Operator, ROLES, type Role } from '../../../../operator/access/operator.ts';
import type { MadeAddress } from '../../../../operator/access/operators.ts';
import { RIGHTS, type Right } from '../../../../operator/access/rights.ts';
import { operatorJson } from '../../../../operator/json/operator.ts';
import type { ActProblem } from '../../../../pages/operator/act-button.ts';
import type { ConsolePage } from '../../../../pages/operator/frame.ts';
import {
  OPERATOR_NOTICES,
  type OperatorNotice,
  operatorPage,
} from '../../../../pages/operator/operators/operator-page.ts';
import { enrollmentLink, operatorKey, operatorsPage } from '../../../../pages/operator/operators/operators-page.ts';
import { shownOncePage } from '../../../../pages/operator/shown-once.ts';
import { etagOf } from '../../api/etag.ts';
import { doneIn } from '../asked-list-page.ts';
import type { ConsoleParts } from '../console-parts.ts';
import { asShown, type ConsoleCall, type ConsoleRoutes } from '../console-routes.ts';
import { keyAfter, newKey, runOnce } from '../once-only-form.ts';
import { shownSession } from './own-passkeys-and-sessions.ts';

const CHANGED = 'The operator was changed meanwhile. Check the page, then try again.';

/** Adds the pages. */
export function addOperators(routes: ConsoleRoutes, { service, operators, accessOf }: ConsoleParts): void {
  const { registry } = operators;
  const { idempotency } = service.operatorApi;

  routes.page('/operators', 'operators.list', (call) => list(call, null));
  routes.act(
    '/operators',
    'operators.add',
    async (call) => {
      const { context, form } = call;
      const name = typedName(form);
      const role = roleIn(form);
      const heading = 'The link for the new operator';
      const add = async (actor: Actor) => addressPage(call, await registry.add(name, role, actor), heading);
      const addedBefore = async (id: string) =>
        shownOncePage(context, { heading, lead: ADDED_BEFORE, once: null, next: pageOf({ id, name }) });
      return runOnce(idempotency, call, { name, role }, add, addedBefore);
    },
    list,
    { keepsTyped: true },
  );

  const { act, change } = routes.thing<OperatorNotice>('/operators/:id', 'operators.show', show);
  change('role', 'operators.update', 'updated', (call) =>
    unchanged(call, (actor) => registry.update(call.id, { role: roleIn(call.form) }, actor)),
  );
  change('disable', 'operators.disable', 'disabled', ({ id, actor }) => registry.disable(id, actor));
  change('enable', 'operators.enable', 'enabled', (call) =>
    unchanged(call, (actor) => registry.enable(call.id, actor)),
  );
  change('end-sessions', 'operators.end-sessions', 'signed-out', ({ id, actor }) => registry.endSessions(id, actor));
  change('keys/end', 'operators.end-key', 'key-ended', ({ id, actor, form }) =>
    registry.endKey(id, form.get('key') ?? '', actor),
  );
  act('delete', 'operators.delete', async (call) => {
    await unchanged(call, (actor) => registry.delete(call.id, actor));
    return { location: '/operators' };
  });
  act('reset', 'operators.reset', async (call) => {
    const made = await unchanged(call, (actor) => registry.reset(call.id, actor));
    return addressPage(call, made, 'The link to enroll again');
  });
  const addKey = async (call: ConsoleCall) => {
    const { context, id, form } = call;
    const settings = { name: typedName(form), rights: form.all('rights') as Right[] };
    const page = { heading: 'The new key', next: pageOf(await registry.find(id)) };
    const add = async (actor: Actor) => {
      const { text } = await unchanged({ ...call, actor }, (asked) => registry.addKey(id, settings, asked));
      return shownOncePage(context, { ...page, once: operatorKey(text) });
    };
    const addedBefore = async () => shownOncePage(context, { ...page, lead: KEY_ADDED_BEFORE, once: null });
    return runOnce(idempotency, call, settings, add, addedBefore);
  };
  act('keys', 'operators.add-key', addKey, { keepsTyped: true });

  /** Runs an act on the operator as the page showed them; its write asks again if they are still the same. */
  async function unchanged<Done>(call: ConsoleCall, run: (actor: Actor) => Promise<Done>): Promise<Done> {
    const row = await registry.find(call.id);
    const problem = new OperatorError(CHANGED, 'tag');
    if (call.form.get('tag') !== etagOf(operatorJson(row))) throw problem;
    return asShown(call.actor, { noun: 'operator', row }, problem, run);
  }

  async function list(call: ConsoleCall, problem: ActProblem | null): Promise<ConsolePage> {
    const { context, form, may, hasPasskey } = call;
    return operatorsPage(context, {
      operators: await registry.list(),
      mayAdd: may('operators.add'),
      problem,
      typed: { name: typedName(form), role: roleIn(form) },
      once: onceAfter(call, problem),
      hasPasskey: await hasPasskey(),
    });
  }

  async function show(call: ConsoleCall, problem: ActProblem | null): Promise<ConsolePage | null> {
    const { context, id, form, query, may, request } = call;
    const found = (await registry.list()).find((each) => each.id === id);
    if (!found) return null;
    const { operator: shown, passkeys, sessions, keys } = await registry.show(found.id);
    const isOfKey = request.url.endsWith('/keys');
    return operatorPage(context, {
      shown,
      passkeys,
      keys,
      problem,
      tag: etagOf(operatorJson(shown)),
      sessions: sessions.map((session) => shownSession(session, accessOf(request).by)),
      rights: RIGHTS,
      mayChange: may('operators.update'),
      typed: {
        role: form.has('role') && problem?.field !== 'tag' ? roleIn(form) : shown.role,
        keyName: isOfKey ? typedName(form) : '',
        keyRights: isOfKey ? form.all('rights') : [],
      },
      once: onceAfter(call, problem),
      done: problem === null ? doneIn(query, OPERATOR_NOTICES) : null,
      now: service.now(),
    });
  }
}

const ADDED_BEFORE =
  'The form was sent twice, and one operator was added. The first answer had the link. If you did not see it, go back to the operator’s page and choose “Reset”.';
const KEY_ADDED_BEFORE =
  'The form was sent twice, and one key was added. The first answer had it. If you did not see it, go back, end that key and add another one.';

function onceAfter(call: ConsoleCall, problem: ActProblem | null): string {
  return problem === null ? newKey() : keyAfter(call, problem);
}

function addressPage({ context }: ConsoleCall, made: MadeAddress, heading: string): ConsolePage {
  const once = enrollmentLink(context, made.operator, made.url, made.expiresAt);
  return shownOncePage(context, { heading, once, next: pageOf(made.operator) });
}

function pageOf({ id, name }: Pick<Operator, 'id' | 'name'>) {
  return { href: `/operators/${encodeURIComponent(id)}`, noun: 'the operator', name };
}

function typedName(form: Parameters): string {
  return (form.get('name') ?? '').trim();
}

/** The role in a form; one that no form has is the least. */
function roleIn(form: Parameters): Role {
  return ROLES.find((role) => role === form.get('role')) ?? 'read';
}
