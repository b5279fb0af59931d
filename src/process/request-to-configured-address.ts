/** Sends one request to an address that an operator configured, to see its answer. Follows no redirect. */
import http from 'node:http';
import https from 'node:https';
import type { LookupFunction } from 'node:net';
import type { PeerCertificate, TLSSocket } from 'node:tls';
import { lookUp } from './host-names.ts';

/** Maximum time from the first name lookup to the head of the answer (ms). */
const TIMEOUT_MS = 10_000;
const MAX_HEAD_BYTES = 32 * 1024;

/** The head of an answer, or the reason why there is none. Times in ms since the epoch; the certificate's only over TLS. */
export type RequestOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly location: string | null;
      /** The `Date` header, and the time of its arrival. */
      readonly date: number | null;
      readonly at: number;
      readonly certificateEndsAt: number | null;
    }
  | Failure;

/** Reason why there is no answer: in words, and by a code of Node.js or OpenSSL, `TIMEOUT`, or `UNRECOGNIZED_NAME`. */
export type Failure = {
  readonly kind: 'failed';
  readonly problem: string;
  readonly code: string;
  /** Time of the failure (ms since the epoch). */
  readonly at: number;
};

/** Sends one request, and reads no body. Never throws. `now` returns ms since the epoch. */
export async function requestOnce(
  url: string,
  now: () => number,
  timeout = TIMEOUT_MS,
  lookup = lookUp,
): Promise<RequestOutcome> {
  const headers = { Accept: 'text/html', 'User-Agent': 'valetkey identity-provider test' };
  const answer = await ask(url, { method: 'GET', headers, maxBytes: 0, lookup }, now, timeout);
  if (answer.kind === 'failed') return answer;
  const { status, date, at, certificateEndsAt } = answer;
  return { kind: 'answered', status, location: answer.headers.location ?? null, date, at, certificateEndsAt };
}

/** A request: its body is sent completely, and at most `maxBytes` of the response's body are read. */
export type Question = {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly maxBytes: number;
  /** The host name's resolver, and an authority to trust in place of the usual ones. */
  readonly lookup?: LookupFunction;
  readonly certificateAuthority?: string | undefined;
};

/** An answer, or the reason why there is none. Times in ms since the epoch. */
export type Answer =
  | (Omit<Extract<RequestOutcome, { kind: 'answered' }>, 'location'> & {
      readonly headers: http.IncomingHttpHeaders;
      /** Number of times that each header came, by name in lower case. */
      readonly counts: Readonly<Record<string, number>>;
      readonly body: string;
    })
  | Failure;

/** Sends one request. Never throws. */
export function ask(url: string, question: Question, now: () => number, timeout = TIMEOUT_MS): Promise<Answer> {
  const { request } = url.startsWith('https:') ? https : http;
  const { method, headers, body, maxBytes, lookup = lookUp, certificateAuthority: ca } = question;
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeout);
    const failed = (error: NodeJS.ErrnoException) => {
      const late = { problem: `no answer within ${timeout / 1000} s`, code: 'TIMEOUT' };
      const met = signal.aborted ? late : { problem: problemOf(error), code: codeOf(error) };
      resolve({ kind: 'failed', ...met, at: now() });
    };
    const asking = request(
      url,
      { method, headers, signal, agent: false, lookup, maxHeaderSize: MAX_HEAD_BYTES, ...(ca && { ca }) },
      (response) => {
        const { statusCode = 0, headers: got, rawHeaders, socket } = response;
        const date = Date.parse(got.date ?? '');
        const ends = Date.parse((socket as TLSSocket).getPeerCertificate?.()?.valid_to ?? '');
        const head = {
          kind: 'answered',
          status: statusCode,
          headers: got,
          counts: countsOf(rawHeaders),
          date: Number.isNaN(date) ? null : date,
          at: now(),
          certificateEndsAt: Number.isNaN(ends) ? null : ends,
        } as const;
        let text = '';
        const done = () => {
          resolve({ ...head, body: text.slice(0, maxBytes) });
          response.destroy();
        };
        if (maxBytes === 0) return done();
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          if (text.length >= maxBytes) done();
        });
        response.on('end', done).on('error', failed);
      },
    );
    asking.on('error', failed);
    // Without a listener, Node.js ends the connection, and neither an answer nor an error follows.
    asking.on('upgrade', (_response, socket) => {
      socket.destroy();
      failed(Object.assign(new Error(), { code: 'UPGRADE' }));
    });
    asking.end(body);
  });
}

function countsOf(rawHeaders: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Returns the code of a TLS failure; with EPROTO, only the message has it. */
function codeOf({ code = '', message }: NodeJS.ErrnoException): string {
  return code === 'EPROTO' && message.includes('unrecognized name') ? 'UNRECOGNIZED_NAME' : code;
}

/** Describes a failure. Of the address it names only the host, since the rest may hold a sealed request. */
function problemOf(error: NodeJS.ErrnoException): string {
  const code = codeOf(error);
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return ofAnotherName(error as Misnamed);
  return (
    PROBLEMS[code] ??
    (/CERT|ERR_TLS|SSL|ISSUER|ALTNAME/.test(code)
      ? `no TLS that can be trusted (${code})`
      : `no answer (${code || 'unknown'})`)
  );
}

type Misnamed = NodeJS.ErrnoException & { readonly host: string; readonly cert: PeerCertificate };

/** Names the requested host, and the names of the certificate; of many, the first ones. */
function ofAnotherName({ host, cert: { subjectaltname = '' } }: Misnamed): string {
  const names = subjectaltname.split(', ').map((name) => name.replace(/^(DNS|IP Address):/, ''));
  const shown = names.slice(0, SHOWN_NAMES).join(', ') || 'no host';
  const more = names.length - SHOWN_NAMES;
  return `its TLS certificate is for ${shown}${more > 0 ? ` and ${more} more` : ''}, not for ${host}`;
}

const SHOWN_NAMES = 3;

const PROBLEMS: Readonly<Record<string, string>> = {
  UPGRADE: 'its answer changes the protocol of the connection',
  ENOTFOUND: 'its host name is unknown here',
  EAI_AGAIN: 'host names cannot be looked up here',
  ECONNREFUSED: 'nothing listens there',
  ENETUNREACH: 'no way leads there from here',
  EHOSTUNREACH: 'no way leads there from here',
  ECONNRESET: 'the connection was ended before an answer',
  EPROTO: 'what answers speaks no TLS',
  // RFC 6066 §3.
  UNRECOGNIZED_NAME: 'the server has no TLS certificate for its host name',
  HPE_HEADER_OVERFLOW: 'the head of the answer is longer than 32 KiB',
  HPE_INVALID_CONSTANT: 'what answers is no HTTP',
  CERT_HAS_EXPIRED: 'its TLS certificate has expired',
  CERT_NOT_YET_VALID: 'its TLS certificate is not valid yet',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is self-signed, which browsers refuse',
  SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate is from an authority that is unknown here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    'its TLS certificate comes without the intermediate one, or is from an authority that is unknown here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its TLS certificate is from an authority that is unknown here',
};
