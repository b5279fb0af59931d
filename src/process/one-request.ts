/** One GET of an address that an operator registered, to see whether it answers. No redirect is followed, and no body read. */
import http from 'node:http';
import https from 'node:https';
import type { TLSSocket } from 'node:tls';

/** Maximum time from the first name lookup to the head of the answer (ms). */
const TIMEOUT_MS = 10_000;

/** The head of an answer, or why there is none. Times in ms since the epoch; those of the certificate only over TLS. */
export type RequestOutcome =
  | {
      readonly kind: 'answered';
      readonly status: number;
      readonly location: string | null;
      /** The `Date` header, and when it came. */
      readonly date: number | null;
      readonly at: number;
      readonly certificateEndsAt: number | null;
    }
  | { readonly kind: 'failed'; readonly problem: string };

/** Asks once. Never throws. `now` returns ms since the epoch. */
export function requestOnce(url: string, now: () => number, timeout = TIMEOUT_MS): Promise<RequestOutcome> {
  const { request } = url.startsWith('https:') ? https : http;
  const headers = { Accept: 'text/html', 'User-Agent': 'valetkey identity-provider test' };
  return new Promise((resolve) => {
    const signal = AbortSignal.timeout(timeout);
    const failed = (error: NodeJS.ErrnoException) => {
      const problem = signal.aborted ? `no answer within ${timeout / 1000} s` : problemOf(error);
      resolve({ kind: 'failed', problem });
    };
    const asking = request(url, { headers, signal, agent: false }, (response) => {
      const { statusCode = 0, headers: got, socket } = response;
      const date = Date.parse(got.date ?? '');
      const ends = Date.parse((socket as TLSSocket).getPeerCertificate?.()?.valid_to ?? '');
      resolve({
        kind: 'answered',
        status: statusCode,
        location: got.location ?? null,
        date: Number.isNaN(date) ? null : date,
        at: now(),
        certificateEndsAt: Number.isNaN(ends) ? null : ends,
      });
      response.destroy();
    });
    asking.on('error', failed);
    asking.end();
  });
}

/** In words that say nothing of the address, which holds a sealed request. */
function problemOf({ code = '' }: NodeJS.ErrnoException): string {
  return (
    PROBLEMS[code] ??
    (/CERT|ERR_TLS|SSL|ISSUER|ALTNAME/.test(code)
      ? `no TLS that can be trusted (${code})`
      : `no answer (${code || 'unknown'})`)
  );
}

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'its host name is not known here',
  EAI_AGAIN: 'host names cannot be looked up here',
  ECONNREFUSED: 'nothing listens there',
  ECONNRESET: 'the connection was ended before an answer',
  EPROTO: 'what answers speaks no TLS',
  HPE_INVALID_CONSTANT: 'what answers is no HTTP',
  CERT_HAS_EXPIRED: 'its TLS certificate has expired',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its TLS certificate is for another host name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its TLS certificate is self-signed, which browsers refuse',
  SELF_SIGNED_CERT_IN_CHAIN: 'its TLS certificate is of an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its TLS certificate comes without the intermediate one',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its TLS certificate is of an authority that is not known here',
};
