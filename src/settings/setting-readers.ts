/** Parsers of settings' texts. A text that cannot be read becomes a `Mistake`, which has the remedy. */
import { BlockList, isIP } from 'node:net';
import { isLoopback } from '../oauth/clients/loopback.ts';
import { isReadable, nameProblem } from '../oauth/readable-text.ts';
import type { Fault } from '../process/installation-error.ts';
import { readPostgresqlUrl } from '../process/postgresql-url.ts';
import { readDuration } from './duration.ts';

/** The remedy for a wrong value, and its problem unless the remedy implies it. */
export class Mistake {
  readonly remedy: string;
  readonly problem: string | null;

  constructor(remedy: string, problem: string | null = null) {
    this.remedy = remedy;
    this.problem = problem;
  }

  /** Returns the fault of a setting with this name. */
  of(name: string): Fault {
    return { problem: this.problem === null ? name : `${name}: ${this.problem}`, remedy: this.remedy };
  }
}

/** An address to listen at. */
export type ListenAddress = { readonly host: string; readonly port: number };

/** The location of the data: a file, memory that ends with the process, or a server. */
export type DatabaseLocation =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'memory' }
  | { readonly kind: 'postgresql'; readonly url: string };

/** Reads an origin: https, unless its host is loopback. */
export function readBaseUrl(text: string): string | Mistake {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return new Mistake('write an address such as https://auth.example.com');
  if (url.username || url.password || url.search || url.hash || url.pathname !== '/')
    return new Mistake('write only scheme, host and port, without a path');
  if (url.port === '0') return new Mistake('write the port at which others reach it, not 0');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return new Mistake('use https, with a proxy in front that ends TLS', 'http is only for loopback');
  return url.origin;
}

/**
 * Reads the operators' origin; null for an empty text. Passkeys need a host name (WebAuthn L3 §5.1.2: an RP ID is a
 * domain).
 */
export function readOperatorUrl(text: string): string | null | Mistake {
  if (text === '') return null;
  const origin = readBaseUrl(text);
  if (origin instanceof Mistake) return origin;
  if (isIP(new URL(origin).hostname.replace(/^\[|\]$/g, '')) !== 0)
    return new Mistake(
      'passkeys need a host name, not an IP address: write a name such as https://operators.example.com',
    );
  return origin;
}

/** First path segments that pages must not have: the interface has its own paths there. */
const RESERVED_SEGMENTS = ['auth', 'api', 'oauth2', 'v2', '.well-known', 'healthz', 'readyz'];

/** Reads a path before pages; empty for none. */
export function readBasePath(text: string): string | Mistake {
  if (text === '') return text;
  const reserved = RESERVED_SEGMENTS.find((segment) => text.split('/')[1] === segment);
  if (reserved !== undefined)
    return new Mistake('begin with another name, such as /connect', `/${reserved} is reserved for the interface`);
  return /^(\/[a-z0-9-]+)+$/.test(text)
    ? text
    : new Mistake('write a path such as /connect: lower-case letters, digits and hyphens, no slash at the end');
}

/** Reads an address to listen at; null for an empty text. */
export function readListenAddress(text: string): ListenAddress | null | Mistake {
  if (text === '') return null;
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^:\s]+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535)
    return new Mistake('write host:port, such as 127.0.0.1:3000 or [::1]:3000');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Reads the location of a database. */
export function readDatabaseUrl(text: string): DatabaseLocation | Mistake {
  if (text === 'sqlite::memory:') return { kind: 'memory' };
  if (text.startsWith('sqlite:') && text.length > 'sqlite:'.length)
    return { kind: 'file', path: text.slice('sqlite:'.length) };
  if (!/^postgres(ql)?:\/\//.test(text))
    return new Mistake('write sqlite:PATH, sqlite::memory: or postgres://user:password@host/database');
  try {
    readPostgresqlUrl(text);
    return { kind: 'postgresql', url: text };
  } catch (error) {
    return new Mistake((error as Error).message);
  }
}

/** Returns a parser of whole numbers, both ends included. */
export function numberBetween(least: number, most: number): (text: string) => number | Mistake {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : new Mistake(`write a number from ${least} to ${most}`);
  };
}

/** Returns a parser of durations, in seconds. */
export function durationBetween(least: number, most: number): (text: string) => number | Mistake {
  return (text) => {
    const seconds = readDuration(text);
    return seconds !== null && seconds >= least && seconds <= most
      ? seconds
      : new Mistake(`write seconds from ${least} to ${most}, or a duration such as 90s, 30m, 12h or 30d within that`);
  };
}

/** Reads addresses and networks, separated by commas. */
export function readAddresses(text: string): BlockList | Mistake {
  const list = new BlockList();
  for (const entry of text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')) {
    const [address = '', bits, ...more] = entry.split('/');
    const version = isIP(address);
    const most = version === 6 ? 128 : 32;
    if (version === 0 || more.length > 0 || (bits !== undefined && (!/^\d{1,3}$/.test(bits) || Number(bits) > most))) {
      return new Mistake('write addresses or networks separated by commas, such as 127.0.0.1, 10.0.0.0/8');
    }
    list.addSubnet(address, bits === undefined ? most : Number(bits), version === 6 ? 'ipv6' : 'ipv4');
  }
  return list;
}

/** Returns a parser of one of these words. */
export function readChoice<T extends string>(...choices: readonly T[]): (text: string) => T | Mistake {
  return (text) => choices.find((choice) => choice === text) ?? new Mistake(`write ${choices.join(' or ')}`);
}

/** Reads the brand in credentials. */
export function readPrefix(text: string): string | Mistake {
  return /^[a-z0-9]{1,12}$/.test(text) ? text : new Mistake('write 1 to 12 lower-case letters or digits');
}

/** Reads a color, `#rrggbb`. */
export function readColor(text: string): string | Mistake {
  return /^#[0-9a-fA-F]{6}$/.test(text) ? text : new Mistake('write a color such as #0f5c4d');
}

/** Reads an email address or an https address; null for an empty text. */
export function readSupportAddress(text: string): string | null | Mistake {
  if (text === '') return null;
  const isAddress = /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text) || (/^https:\/\//i.test(text) && URL.canParse(text));
  return isAddress && isReadable(text, 'label') ? text : new Mistake('write an email address or an https address');
}

/** Reads the ways to sign in, in their order. */
export function readSignInMethods(text: string): readonly string[] | Mistake {
  const methods = text.split(',').map((method) => method.trim());
  const good = methods.every((method) => /^[a-z0-9-]{1,40}$/.test(method)) && new Set(methods).size === methods.length;
  return good ? methods : new Mistake('name password, ids of identity providers, or both, each once: password,product');
}

/** Reads a name for pages. It has a default, so it is never empty. */
export function readName(text: string): string | Mistake {
  const problem = nameProblem(text, 'words');
  return problem === null ? text : new Mistake(`write another name: ${problem}`);
}

/** Reads any text; null for an empty one. */
export function readText(text: string): string | null {
  return text || null;
}
