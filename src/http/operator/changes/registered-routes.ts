/** The routes that change what is registered: apps, APIs and products. They differ in what their table says. */
import type { PublicKey } from '../../../oauth/clients/client.ts';
import type { Actor } from '../../../oauth/trail/audit.ts';
import type { Act } from '../../../operator/access/rights.ts';
import type { Members } from '../../../operator/fields/field.ts';
import { actsOf, readNew, readSettings, requiredMembers, type Settings } from '../../../operator/fields/setting.ts';
import type { HandOverSubject } from '../../../operator/hand-over/hand-over.ts';
import { madeHandOverJson } from '../../../operator/json/hand-over.ts';
import { omittedKeysJson } from '../../../operator/json/omitted-keys.ts';
import type { Registered as Made, RegisteredRow } from '../../../operator/registration/registry.ts';
import type { ObjectSchema } from '../../json/operation.ts';
import type { Service } from '../../service/service.ts';
import type { Call, Route } from '../api/route.ts';
import { newSettings, patchedSettings } from '../api/setting-schemas.ts';
import { bodyOf, Changes, isDryRun, takesNothing, wouldEnd } from './change.ts';
import { changing, deletedSchema } from './described-changes.ts';
import { type Secretive, SHOWN_BEFORE, secretRoutes } from './secrets.ts';

/** A kind of registrations. */
export type Registered<
  Row extends RegisteredRow & Values,
  Values,
  New extends Values & { readonly handOver: boolean },
> = Secretive<Row, Values> & {
  /** The words for one of them in a summary, such as `an app`. */
  readonly called: string;
  readonly settings: Settings<Values>;
  readonly newSettings: Settings<New>;
  /** The schema of what a registration answers, and the sentence on the rights that it needs. */
  readonly registered: ObjectSchema;
  readonly needs: string;
  /** The schema of one after a change. */
  readonly changed: ObjectSchema;
  actsOfNew(members: Members): Act[];
  register(given: New, actor: Actor): Promise<Made<Row>>;
  registeredJson(row: Row, secret: string | null): object;
  /** Throws an `ApiError` if the call may not change a row so. */
  permit?(before: Row, changes: Partial<Values>, call: Call): Promise<void>;
  /** The summaries of pausing and resuming; null if nothing of the kind can be paused. */
  readonly pausing: (Readonly<Record<'pause' | 'resume', string>> & { readonly registry: Pausing<Row> }) | null;
  /** Deleting, with its summary, the further acts that it is, and what would end with it. */
  readonly deleting: {
    readonly summary: string;
    readonly also: readonly Act[];
    readonly wouldEnd: ObjectSchema;
    ends(id: string): Promise<object>;
  };
};

type Pausing<Row> = Readonly<Record<'pause' | 'resume', (id: string, actor: Actor) => Promise<Row>>>;

/** Returns the routes that change the registrations of a kind. */
export function registeredRoutes<
  Row extends RegisteredRow & Values,
  Values,
  New extends Values & { readonly handOver: boolean },
>(service: Service, its: Registered<Row, Values, New>): Route[] {
  const { handOvers } = service.operatorApi;
  const changes = new Changes(service);
  const { path, title, called, noun, schema, settings, deleting } = its;
  const at = `/${path}/:id`;
  const registering: Route = {
    method: 'POST',
    path: `/${path}`,
    act: `${path}.register`,
    also: its.actsOfNew,
    operation: changing(path, `register${title}`, `Register ${called}`, {
      schema: its.registered,
      status: 201,
      hasId: false,
      takesKey: true,
      description: its.needs,
      body: { members: newSettings(its.newSettings), required: requiredMembers(its.newSettings) },
    }),
    answer: (call) => {
      const members = bodyOf(call);
      const given = readNew(its.newSettings, members);
      const omitted = omittedIn('keys' in members ? given : {});
      const register = async (actor: Actor) => {
        const { row, secret, handOver } = await its.register(given, actor);
        const json = { ...its.registeredJson(row, secret), ...omitted };
        if (!handOver) return json;
        const subject = { kind: noun.noun, row } as unknown as HandOverSubject;
        return { ...json, hand_over: madeHandOverJson(handOvers.addressOf(handOver, subject)) };
      };
      return changes.make(call, register, async (id) => ({
        ...its.registeredJson(await its.registry.exact(id), null),
        ...omitted,
        ...(given.handOver ? { hand_over: SHOWN_BEFORE } : {}),
      }));
    },
  };
  const updating: Route = {
    method: 'PATCH',
    path: at,
    act: `${path}.update`,
    operation: changing(path, `update${title}`, `Change ${called} (merge patch, RFC 7396)`, {
      schema: its.changed,
      hasTag: true,
      patch: patchedSettings(settings),
    }),
    also: (members) => actsOf(settings, readSettings(settings, members), 'changing'),
    answer: (call) => {
      const given = readSettings(settings, bodyOf(call));
      const isNothing = Object.keys(given).length === 0;
      return changes.on(noun, call, async (row, actor) => ({
        ...(await noun.json(
          isNothing
            ? row
            : await its.registry.update(row.id, given, actor, (before) => its.permit?.(before, given, call)),
        )),
        ...omittedIn(given),
      }));
    },
  };
  const pausing = (['pause', 'resume'] as const).flatMap((name): Route[] => {
    if (its.pausing === null || path === 'resource-servers') return [];
    const { registry, [name]: summary } = its.pausing;
    return [
      {
        method: 'POST',
        path: `${at}/${name}`,
        act: `${path}.${name}`,
        operation: changing(path, `${name}${title}`, summary, { schema, hasTag: true }),
        answer: (call) => {
          takesNothing(call);
          return changes.on(noun, call, async ({ id }, actor) => noun.json(await registry[name](id, actor)));
        },
      },
    ];
  });
  const removing: Route = {
    method: 'DELETE',
    path: at,
    act: `${path}.delete`,
    also: () => deleting.also,
    operation: changing(path, `delete${title}`, deleting.summary, {
      schema: deletedSchema(schema),
      takesIfMatch: true,
      wouldEnd: deleting.wouldEnd,
    }),
    answer: (call) =>
      changes.on(noun, call, async ({ id }, actor) =>
        isDryRun(call)
          ? wouldEnd(await deleting.ends(id))
          : { ...(await noun.json(await its.registry.delete(id, actor))), status: 'deleted' },
      ),
  };
  return [registering, updating, ...pausing, removing, ...secretRoutes(service, changes, its)];
}

/** Returns the member about keys that cannot be used; none if no keys were given. */
function omittedIn(given: object): object {
  return omittedKeysJson((given as { readonly keys?: readonly PublicKey[] }).keys);
}
