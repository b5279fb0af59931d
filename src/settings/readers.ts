/** How the texts of settings are read. What cannot be read becomes a `Mistake`, which says what to write instead. */
import { BlockList, isIP } from 'node:net';
import { isLoopback } from '../oauth/clients/loopback.ts';
import { readPostgresqlUrl } from '../process/postgresql-url.ts';
import { readDuration } from './duration.ts';

/** What is wrong with a value, and what to write instead. */
export class Mistake {
  readonly remedy: string;

  constructor(remedy: string) {
    this.remedy = remedy;
  }
}

/** Where to listen. */
export type ListenAddress = { readonly host: string; readonly port: number };

/** Where the data is: in a file, in memory that ends with the process, or on a server. */
export type DatabaseLocation =
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'memory' }
  | { readonly kind: 'postgresql'; readonly url: string };

/** The origin of an address, https unless its host is loopback. */
export function readBaseUrl(text: string): string | Mistake {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return new Mistake('write an address such as https://auth.example.com');
  if (url.username || url.password || url.search || url.hash || url.pathname !== '/')
    return new Mistake('write only scheme, host and port, without a path');
  if (url.port === '0') return new Mistake('write the port at which others find it: 0 is none');
  if (url.protocol === 'http:' && !isLoopback(url.hostname))
    return new Mistake('http is only for loopback: use https, with a proxy in front that ends TLS');
  return url.origin;
}

/** First segments that are not for pages: the interface has paths of its own there. */
const RESERVED_SEGMENTS = ['auth', 'api', 'oauth2', 'v2', '.well-known', 'healthz', 'readyz'];

/** A path before pages; empty for none. */
export function readBasePath(text: string): string | Mistake {
  if (text === '') return text;
  const reserved = RESERVED_SEGMENTS.find((segment) => text.split('/')[1] === segment);
  if (reserved !== undefined)
    return new Mistake(`/${reserved} has addresses of its own: begin with another name, such as /connect`);
  return /^(\/[a-z0-9-]+)+$/.test(text)
    ? text
    : new Mistake('write a path such as /connect: lower-case letters, digits and hyphens, no slash at the end');
}

/** Where to listen; null for an empty text. */
export function readListenAddress(text: string): ListenAddress | null | Mistake {
  if (text === '') return null;
  const [, host, port] = /^(\[[0-9a-fA-F:.]+\]|[^:\s]+):(\d{1,5})$/.exec(text) ?? [];
  if (host === undefined || Number(port) > 65_535)
    return new Mistake('write host:port, such as 127.0.0.1:3000 or [::1]:3000');
  return { host: host.replace(/^\[|\]$/g, ''), port: Number(port) };
}

/** Where a database is. */
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

/** A reader of whole numbers, both ends included. */
export function numberBetween(least: number, most: number): (text: string) => number | Mistake {
  return (text) => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    return number >= least && number <= most ? number : new Mistake(`write a number from ${least} to ${most}`);
  };
}

/** A reader of durations, in seconds. */
export function durationBetween(least: number, most: number): (text: string) => number | Mistake {
  return (text) => {
    const seconds = readDuration(text);
    return seconds !== null && seconds >= least && seconds <= most
      ? seconds
      : new Mistake(`write seconds from ${least} to ${most}, or a duration such as 90s, 30m, 12h or 30d within that`);
  };
}

/** Addresses and networks, separated by commas. */
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

/** A reader of one of these words. */
export function readChoice<T extends string>(...choices: readonly T[]): (text: string) => T | Mistake {
  return (text) => choices.find((choice) => choice === text) ?? new Mistake(`write ${choices.join(' or ')}`);
}

/** The brand in credentials. */
export function readPrefix(text: string): string | Mistake {
  return /^[a-z0-9]{1,12}$/.test(text) ? text : new Mistake('write 1 to 12 lower-case letters or digits');
}

/** A colour, `#rrggbb`. */
export function readColour(text: string): string | Mistake {
  return /^#[0-9a-fA-F]{6}$/.test(text) ? text : new Mistake('write a colour such as #0f5c4d');
}

/** An e-mail address or an https address; null for an empty text. */
export function readSupportAddress(text: string): string | null | Mistake {
  if (text === '' || /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) return text || null;
  return URL.parse(text)?.protocol === 'https:' ? text : new Mistake('write an e-mail address or an https address');
}

/** The ways to sign in, in their order. */
export function readSignInMethods(text: string): readonly string[] | Mistake {
  const methods = text.split(',').map((method) => method.trim());
  const good = methods.every((method) => /^[a-z0-9-]{1,40}$/.test(method)) && new Set(methods).size === methods.length;
  return good ? methods : new Mistake('name password, ids of identity providers, or both, each once: password,product');
}

/** A text with a default, so that it is never empty. */
export function readName(text: string): string {
  return text;
}

/** Any text; null for an empty one. */
export function readText(text: string): string | null {
  return text || null;
}
