/**
 * What a program can rely on, as facts that can be compared: one line each. A difference between two versions is an addition,
 * or it breaks somebody.
 */

type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
type Facts = Set<string>;

/** The direction of a schema: sent by clients, or answered. */
type Side = 'request' | 'response';

/** Members of a schema that are lists of alternatives, or all hold: their facts are those of the schema. */
const COMBINED = ['allOf', 'oneOf', 'anyOf'];
/** Members that only explain. */
const WORDS = ['description', 'title', 'example', 'examples', 'default', 'deprecated'];
/** Members that take something from what may be sent. */
const LIMITS =
  /\.(required|maxLength|minLength|pattern|maximum|minimum|maxItems|minItems|format|additionalProperties)=/;

/** The facts of an OpenAPI document: what each operation takes and answers. */
export function factsOfApi(document: Json): Facts {
  const facts: Facts = new Set();
  const { paths = {} } = document as { paths?: Record<string, Record<string, Operation>> };
  for (const [path, operations] of Object.entries(paths))
    for (const [method, operation] of Object.entries(operations)) {
      if (!['get', 'post', 'put', 'patch', 'delete'].includes(method)) continue;
      const name = `${method.toUpperCase()} ${path}`;
      facts.add(name);
      const schema = (value: Json, place: string) => addSchema(document, value, place, facts, []);
      for (const given of operation.parameters ?? []) {
        const {
          in: where,
          name: parameter,
          required,
          schema: of = {},
        } = resolved(document, given) as unknown as Parameter;
        schema(of, `${name} request ${where} ${parameter}`);
        facts.add(`${name} request ${where} ${parameter}`);
        if (required) facts.add(`${name} request ${where} ${parameter}.required=true`);
      }
      const body = resolved(document, operation.requestBody ?? {}) as Body;
      for (const [type, { schema: of = {} }] of Object.entries(body.content ?? {}))
        schema(of, `${name} request ${type}`);
      for (const [status, given] of Object.entries(operation.responses ?? {})) {
        facts.add(`${name} response ${status}`);
        const answer = resolved(document, given) as Body;
        for (const [type, { schema: of = {} }] of Object.entries(answer.content ?? {}))
          schema(of, `${name} response ${status} ${type}`);
      }
    }
  return facts;
}

type Operation = { parameters?: Json[]; requestBody?: Json; responses?: Record<string, Json> };
type Parameter = { in: string; name: string; required?: boolean; schema?: Json };
type Body = { content?: Record<string, { schema?: Json }> };

function resolved(document: Json, value: Json): Json {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value;
  const target = $ref
    .slice(2)
    .split('/')
    .reduce<Json>((at, key) => (at as Record<string, Json>)[key] ?? {}, document);
  return resolved(document, target);
}

function addSchema(document: Json, value: Json, place: string, facts: Facts, within: readonly Json[]): void {
  const schema = resolved(document, value);
  if (typeof schema !== 'object' || schema === null || within.includes(schema)) return;
  const inner = [...within, schema];
  for (const [key, member] of Object.entries(schema)) {
    if (WORDS.includes(key)) continue;
    if (COMBINED.includes(key)) for (const each of member as Json[]) addSchema(document, each, place, facts, inner);
    else if (key === 'properties')
      for (const [name, of] of Object.entries(member as Record<string, Json>)) {
        facts.add(`${place}.${name}`);
        addSchema(document, of, `${place}.${name}`, facts, inner);
      }
    else if (key === 'items') addSchema(document, member, `${place}[]`, facts, inner);
    else
      for (const each of Array.isArray(member) ? member : [member])
        facts.add(`${place}.${key}=${JSON.stringify(each)}`);
  }
}

/** The facts of a JSON value that a command printed: each key, with the types of its values. */
export function factsOfJson(command: string, value: Json, facts: Facts = new Set()): Facts {
  if (Array.isArray(value)) for (const each of value) factsOfJson(`${command}[]`, each, facts);
  else if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) factsOfJson(`${command}.${key}`, member, facts);
  else facts.add(`${command}: ${value === null ? 'null' : typeof value}`);
  return facts;
}

/** Differences of a newer API that are no addition. */
export function breaksOfApi(kept: Facts, now: Facts): string[] {
  const sideOf = (fact: string): Side => (fact.includes(' request ') ? 'request' : 'response');
  const isLimit = (fact: string) => sideOf(fact) === 'request' && LIMITS.test(fact);
  const gone = [...kept].filter((fact) => !now.has(fact) && !isLimit(fact));
  const places = new Set([...kept].map((fact) => fact.split('=')[0]));
  const nowRequired = [...now].filter((fact) => !kept.has(fact) && isLimit(fact) && isOfKept(fact, kept));
  const narrowed = [...now].filter((fact) => {
    const place = fact.split('=')[0] ?? '';
    return sideOf(fact) === 'request' && place.endsWith('.enum') && !places.has(place) && isOfKept(fact, kept);
  });
  return [...gone.map((fact) => `gone: ${fact}`), ...[...nowRequired, ...narrowed].map((fact) => `demanded: ${fact}`)];
}

/** True for a demand on something that could be sent before: a new operation or parameter may demand what it likes, unless it is required. */
function isOfKept(fact: string, kept: Facts): boolean {
  const [operation = ''] = fact.split(' request ');
  if (!kept.has(operation)) return false;
  if (fact.includes('.required=')) return true;
  const owner = fact.slice(0, fact.lastIndexOf('.', fact.indexOf('=')));
  return [...kept].some((each) => each === owner || each.startsWith(`${owner}.`));
}

/** Differences of newer settings or commands that are no addition. A key that was null alone may become anything. */
export function breaksOfOutput(kept: Facts, now: Facts): string[] {
  const keyOf = (fact: string) => fact.slice(0, fact.lastIndexOf(': '));
  const keys = new Set([...now].map(keyOf));
  const known = new Set([...kept].map(keyOf));
  const typed = new Set([...kept].filter((fact) => !fact.endsWith(': null')).map(keyOf));
  const gone = [...known].filter((key) => !keys.has(key));
  const changed = [...now].filter((fact) => !kept.has(fact) && typed.has(keyOf(fact)));
  return [...gone.map((key) => `gone: ${key}`), ...changed.map((fact) => `changed: ${fact}`)];
}
