/** Reads the queries of the operators' API. An unknown parameter is refused: a misspelled filter would list everything. */
import type { FastifyRequest } from 'fastify';
import type { Parameters } from '../../../oauth/parameters.ts';
import type { AskedPage } from '../../../operator/lists/lists.ts';
import { ApiError } from './api-error.ts';

/** Default and maximum number of items of a page. */
export const PAGE_LIMITS = { usual: 50, most: 200 } as const;

/** The parameters of a request's query; each is text. */
export type Query = { readonly [name: string]: string };

/** Reads a query that has only these parameters, each once. */
export function readQuery({ query }: FastifyRequest, names: readonly string[]): Query {
  const sent = query as Parameters;
  const repeated = names.find((name) => sent.has(name) && sent.isSent(name) && sent.get(name) === undefined);
  if (repeated !== undefined) throw invalidParameter(repeated, 'must come once, as text in UTF-8');
  const unknown = sent.names().find((name) => !names.includes(name));
  if (unknown !== undefined)
    throw new ApiError('invalid_request', `the query has an unknown parameter: it takes ${names.join(', ') || 'none'}`);
  return Object.fromEntries(
    names.flatMap((name) => {
      const value = name === 'limit' ? sent.getNumber(name) : sent.get(name);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** Reads the page that a list is asked for. */
export function readPage({ limit, after }: Query): AskedPage {
  if (limit === undefined) return { limit: PAGE_LIMITS.usual, after };
  const number = /^[0-9]{1,3}$/.test(limit) ? Number(limit) : 0;
  if (number < 1 || number > PAGE_LIMITS.most)
    throw invalidParameter('limit', `must be a whole number from 1 to ${PAGE_LIMITS.most}`);
  return { limit: number, after };
}

/** Reads a time, such as `2026-11-26T09:30:00Z` (RFC 3339 §5.6), in ms. */
export function readTime(name: string, text: string): number {
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2})$/i.test(text);
  const at = isTime ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) throw invalidParameter(name, 'must be a time such as 2026-11-26T09:30:00Z (encode + as %2B)');
  return at;
}

/** Reads one of some words. */
export function readOneOf<Word extends string>(name: string, words: readonly Word[], text: string): Word {
  const word = words.find((each) => each === text);
  if (word === undefined) throw invalidParameter(name, `must be one of ${words.join(', ')}`);
  return word;
}

/** Returns the members that are there, for filters without `undefined`. */
export function withoutUndefined<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as never;
}

/** Returns the error of a parameter. */
export function invalidParameter(field: string, problem: string): ApiError {
  return new ApiError('invalid_request', `${field} ${problem}`, field);
}
