/** Decodes queries and bodies to parameters. An error never quotes the input, which may hold a secret. */
import { isAscii, isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { type Parameter, Parameters } from '../../oauth/parameters.ts';

/** Maximum size of a body. */
export const BODY_LIMIT_BYTES = 64 * 1024;

/** Maximum number of parameters in a body, and in a query. */
export const MAX_PARAMETERS = 200;

/** Result for a query with too many parameters, so that each face answers in its own form. */
export const TOO_MANY_PARAMETERS = new Parameters([]);

/** Thrown for a body that cannot be read; the message is public. */
export class MalformedBody extends Error {
  override readonly name = 'MalformedBody';
}

/** Thrown for a media type or encoding that is not supported. */
export class UnsupportedBody extends Error {
  override readonly name = 'UnsupportedBody';
}

/**
 * Throws `UnsupportedBody` unless the body is uncompressed UTF-8 text. Other common charsets agree with UTF-8 on
 * ASCII, so an ASCII body may name one.
 */
export function requireText(headers: IncomingHttpHeaders, body: Buffer): void {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(headers['content-type'] ?? '')?.[1] ?? 'utf-8';
  const encoding = headers['content-encoding'] ?? 'identity'; // RFC 9110 §8.4.1
  const isText = /^utf-?8$/i.test(charset) || (/^(us-ascii|iso-8859-1|windows-1252)$/i.test(charset) && isAscii(body));
  if (!isText || !/^(identity)?$/i.test(encoding)) throw new UnsupportedBody();
}

/** Decodes a query, in the form of `application/x-www-form-urlencoded` and in UTF-8. */
export function decodeQuery(text: string): Parameters {
  const pairs = pairsOf(text);
  return pairs.length > MAX_PARAMETERS ? TOO_MANY_PARAMETERS : new Parameters(pairs.map(decodePair));
}

/** Returns an address without a parameter of its query, however its name is encoded. Other parameters stay as written. */
export function withoutParameter(address: string, name: string): string {
  const [path = '', query] = address.split(/\?(.*)/s);
  const pairs = pairsOf(query ?? '').filter((pair) => decodePair(pair)[0] !== name);
  return pairs.length === 0 ? path : `${path}?${pairs.join('&')}`;
}

/** Decodes a form's body. Throws `MalformedBody` unless it is UTF-8 with at most so many parameters. */
function decodeFormBody(body: Buffer, most: number): Parameters {
  const pairs = pairsOf(decodeUtf8(body));
  refuseTooMany(pairs, most);
  return new Parameters(pairs.map(decodePair));
}

function pairsOf(form: string): string[] {
  return form.split('&').filter((pair) => pair !== '');
}

function refuseTooMany({ length }: readonly string[], most: number): void {
  if (length > most) throw new MalformedBody(`the body has more than ${most} parameters`);
}

/**
 * Decodes a JSON object of strings. A null member counts as absent; other values that are not strings become null. A
 * repeated name stays repeated, which `JSON.parse` would hide. Throws `MalformedBody` unless the body is an object
 * with at most 200 members.
 */
function decodeJsonBody(body: Buffer): Parameters {
  return new Parameters(readJson(body).strings);
}

/** A JSON object whose values keep their types, for endpoints that read more than strings. */
export class JsonMembers extends Parameters {
  readonly members: Readonly<Record<string, unknown>>;

  /** Throws `MalformedBody`, also for a repeated name. */
  constructor(body: Buffer) {
    const { members, strings } = readJson(body);
    super(strings);
    if (new Set(strings.map(([name]) => name)).size < strings.length)
      throw new MalformedBody('a member of the JSON object is repeated');
    this.members = members;
  }
}

/**
 * Reads an object's members, and its strings by name, as often as each was sent. Among the strings, other values are
 * null, and null members are missing.
 */
function readJson(body: Buffer): { members: Readonly<Record<string, unknown>>; strings: Parameter[] } {
  const text = decodeUtf8(body);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // V8's own message would quote the input.
    throw new MalformedBody('the body is not JSON');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new MalformedBody('the body is not a JSON object');
  const names = topLevelNames(text);
  refuseTooMany(names, MAX_PARAMETERS);
  const members = value as Record<string, unknown>;
  const isAbsent = (name: string) => members[name] === null && names.indexOf(name) === names.lastIndexOf(name);
  const strings = names
    .filter((name) => !isAbsent(name))
    .map((name): Parameter => {
      const found = Object.hasOwn(members, name) ? members[name] : null;
      return [name, typeof found === 'string' ? found : null];
    });
  return { members, strings };
}

/** Decoders of bodies, by media type. A form has at most `most` parameters. */
export const DECODERS: Readonly<Record<string, (body: Buffer, most: number) => Parameters>> = {
  'application/x-www-form-urlencoded': decodeFormBody,
  'application/json': decodeJsonBody,
};

function decodePair(pair: string): Parameter {
  const at = pair.indexOf('=');
  const [name, value] = at < 0 ? [pair, ''] : [pair.slice(0, at), pair.slice(at + 1)];
  return [decodePart(name) ?? name, decodePart(value)];
}

function decodePart(text: string): string | null {
  if (!/[%+]/.test(text)) return text;
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return null;
  }
}

function decodeUtf8(body: Buffer): string {
  if (!isUtf8(body)) throw new MalformedBody('the body is not text in UTF-8');
  return body.toString().replace(BYTE_ORDER_MARK, '');
}

const BYTE_ORDER_MARK = /^\uFEFF/;

/** Returns the names in the outermost object of valid JSON, a repeated name each time. */
function topLevelNames(json: string): string[] {
  const names: string[] = [];
  let depth = 0;
  let isNameNext = false;
  for (const [token] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    if (token.startsWith('"')) {
      if (isNameNext) names.push(JSON.parse(token) as string);
      isNameNext = false;
    } else {
      if (token === '{' || token === '[') depth += 1;
      if (token === '}' || token === ']') depth -= 1;
      isNameNext = depth === 1 && (token === '{' || token === ',');
    }
  }
  return names;
}
