/** Calls that change something: their actor, `If-Match`, `Idempotency-Key` and `dry_run`. */
import type { Actor } from '../../../oauth/trail/audit.ts';
import type { Members } from '../../../operator/fields/field.ts';
import { membersOf } from '../../provider/requests.ts';
import type { Service } from '../../service/service.ts';
import { changedSince } from '../api/api-error.ts';
import { etagOf, matchesTag } from '../api/etag.ts';
import { findOne, type Noun } from '../api/nouns.ts';
import { invalidParameter, readQuery } from '../api/query.ts';
import type { Call } from '../api/route.ts';

/** Longest `Idempotency-Key`. */
const MAX_KEY = 255;

/** Changes of one service. */
export class Changes {
  readonly #service: Service;

  constructor(service: Service) {
    this.#service = service;
  }

  /** Returns the actor of a call, whose writes are refused once the access ended. */
  actor({ access, origin }: Call): Actor {
    return this.#service.operators.access.actor(access, origin);
  }

  /**
   * Finds the object of a call, and runs an act on it. With `If-Match`, the object must have that tag now, and in the write
   * (RFC 9110 §13.1.1).
   */
  async on<Row extends object>(
    its: Noun<Row>,
    call: Call,
    act: (row: Row, actor: Actor) => Promise<object>,
  ): Promise<object> {
    const row = await findOne(its, call.id);
    const actor = this.actor(call);
    const ifMatch = call.request.headers['if-match'];
    if (ifMatch === undefined) return act(row, actor);
    if (!matchesTag(ifMatch, etagOf(await its.json(row)))) throw changedSince();
    return act(row, { ...actor, conditions: { unchanged: { noun: its.noun, row } } });
  }

  /**
   * Makes something, once for an `Idempotency-Key`: `again` answers a repeated request, from the id of what the first one made,
   * and without the secret.
   */
  async make(
    call: Call,
    make: (actor: Actor) => Promise<object>,
    again: (made: string) => Promise<object>,
  ): Promise<object> {
    const { request } = call;
    const actor = this.actor(call);
    const key = request.headers['idempotency-key'];
    call.reply.code(201);
    if (key === undefined) return make(actor);
    if (typeof key !== 'string' || key.length > MAX_KEY || !/^[\x21-\x7e]+$/.test(key))
      throw invalidParameter('Idempotency-Key', `must have 1 to ${MAX_KEY} visible ASCII characters, and come once`);
    const asked = [request.method, request.url, JSON.stringify(membersOf(request))];
    return this.#service.operatorApi.idempotency.run({ key, request: asked }, actor, make, again);
  }
}

/** Returns the members of a call's body. Refuses a query. */
export function bodyOf({ request }: Call): Members {
  readQuery(request, []);
  return membersOf(request);
}

/** Refuses a body and a query with anything in it, of a call that takes none. */
export function takesNothing(call: Call): void {
  refuseMembers(bodyOf(call));
}

/** Returns true for a call that only asks what it would end. Refuses everything else in query and body. */
export function isDryRun({ request }: Call, body: 'no body' | 'with a body' = 'no body'): boolean {
  const { dry_run: said } = readQuery(request, ['dry_run']);
  if (body === 'no body') refuseMembers(membersOf(request));
  if (said !== undefined && said !== 'true' && said !== 'false')
    throw invalidParameter('dry_run', 'must be true or false');
  return said === 'true';
}

/** Returns the answer to a dry run. */
export function wouldEnd(ended: object): object {
  return { dry_run: true, would_end: ended };
}

function refuseMembers(members: Members): void {
  const [name] = Object.keys(members);
  if (name !== undefined) throw invalidParameter(name, 'cannot be set here: send no body');
}
