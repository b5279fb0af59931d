/** The descriptions of changing calls in OpenAPI. */
import {
  answer,
  type DescribedParameter,
  header,
  type ObjectSchema,
  type Operation,
  type OperatorTag,
  object,
  optionalQueryParameter,
  patchedJson,
  postedJson,
  type Schema,
} from '../../json/operation.ts';
import type { ApiErrorCode } from '../api/api-error.ts';
import { BY_KEY, ETAG, ID, OF_EVERY_CALL, refusals } from '../api/described-parts.ts';

/** The traits of a changing call. */
type Traits = {
  /** The answer. */
  readonly schema: Schema;
  readonly status?: 200 | 201;
  /** The members of the body, and those that must be there; none without a body. */
  readonly body?: { readonly members: Readonly<Record<string, Schema>>; readonly required: readonly string[] };
  /** The members of a merge patch. */
  readonly patch?: Readonly<Record<string, Schema>>;
  /** True if the address names an object. */
  readonly hasId?: boolean;
  /** True if `If-Match` and `ETag` work: the answer is the object. */
  readonly hasTag?: boolean;
  /** True if `If-Match` works, and the answer is something else. */
  readonly takesIfMatch?: boolean;
  /** True if `Idempotency-Key` works. */
  readonly takesKey?: boolean;
  /** The schema of what `dry_run=true` says would end. */
  readonly wouldEnd?: Schema;
  readonly description?: string;
};

const IF_MATCH: DescribedParameter = {
  name: 'If-Match',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    description: 'The `ETag` of the object. The call changes nothing if the object changed since.',
  },
};

const KEY: DescribedParameter = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: {
    type: 'string',
    minLength: 1,
    maxLength: 255,
    pattern: '^[!-~]+$',
    description:
      'A random text of your own, for 24 hours. A repeated request makes nothing more: it gets the same object, with the secret or address null, which is shown once.',
  },
};

const DRY_RUN = optionalQueryParameter('dry_run', {
  type: 'boolean',
  default: false,
  description: 'True: answers what the call would end, and changes nothing.',
});

const ETAG_UNLESS_DRY = {
  ETag: header(
    'ETagUnlessDry',
    'Version of the object; not with `dry_run=true`.',
    { pattern: '^"[\\w-]{22}"$' },
    false,
  ),
};

/** Describes a changing call. */
export function changing(noun: OperatorTag, operationId: string, summary: string, traits: Traits): Operation {
  const { schema, status = 200, body, patch, hasId = true, hasTag, takesIfMatch = hasTag, takesKey, wouldEnd } = traits;
  const parameters = [
    ...(hasId ? [ID] : []),
    ...(takesIfMatch ? [IF_MATCH] : []),
    ...(takesKey ? [KEY] : []),
    ...(wouldEnd ? [DRY_RUN] : []),
  ];
  const errors: ApiErrorCode[] = [
    'bad_request',
    'invalid_request',
    ...(hasId ? (['not_found'] as const) : []),
    'conflict',
    ...(takesIfMatch ? (['changed_since'] as const) : []),
    'too_large',
    'unsupported_media_type',
    ...OF_EVERY_CALL,
  ];
  const dry = wouldEnd && object({ dry_run: { const: true }, would_end: wouldEnd });
  return {
    operationId,
    summary,
    tags: [noun],
    security: BY_KEY,
    parameters,
    ...(traits.description === undefined ? {} : { description: traits.description }),
    ...(body ? { requestBody: postedJson(body.required, body.members) } : {}),
    ...(patch ? { requestBody: patchedJson(patch) } : {}),
    responses: {
      [status]: answer(summary, dry ? { anyOf: [schema, dry] } : schema, hasTag ? (dry ? ETAG_UNLESS_DRY : ETAG) : {}),
      ...refusals(...errors),
    },
  };
}

/** Returns the schema of an object that was deleted: as it was, with the status `deleted`. */
export function deletedSchema({ properties }: ObjectSchema): ObjectSchema {
  return object({ ...properties, status: { const: 'deleted' } });
}
