/** What to do about a public address that cannot be reached, by why: its certificate, its name, or nobody there. */
import type { Findings } from './finding.ts';

/** A request without an answer, as `process/one-request.ts` tells it. */
export type Failed = {
  readonly kind: 'failed';
  readonly problem: string;
  readonly code: string;
  /** By the clock of this machine (ms since the epoch). */
  readonly at: number;
};

/** Where nothing more is known. */
export const REACH = 'see that the service runs, that the proxy sends this host to it, and that the name leads here';

/**
 * Tells why there was no answer. Where no service runs (`isServed`), silence alone is no fault; what a certificate or a name
 * has wrong stays wrong.
 */
export function ofUnreached(found: Findings, url: string, failed: Failed, isServed: boolean): void {
  const detail = `${url}: ${failed.problem}`;
  const { hostname, protocol, port } = new URL(url);
  const listening = `see that the proxy listens at ${hostname}:${port || (protocol === 'https:' ? 443 : 80)}; ${REACH}`;
  const remedy = ofCertificate(failed, hostname) ?? WAYS[failed.code];
  if (remedy !== undefined) found.wrong('reached', detail, remedy);
  else if (!isServed) found.warn('reached', `${detail}, and no service runs on this database`, SERVE_FIRST);
  else found.wrong('reached', detail, failed.code === 'ECONNREFUSED' ? listening : REACH);
}

const SERVE_FIRST = 'start it with "valetkey serve", and run this again to see what a visitor meets';

const NO_WAY =
  'see that the name has the right addresses ("getent ahosts NAME"), and that this machine has a route to them';

/** Where the way there is wrong already. */
const WAYS: Readonly<Record<string, string>> = {
  ENOTFOUND:
    'enter the name in the DNS, or in /etc/hosts of this machine if only this machine lacks it; or correct the URL',
  ENETUNREACH: NO_WAY,
  EHOSTUNREACH: NO_WAY,
  EAI_AGAIN: 'see that this machine reaches its DNS server (/etc/resolv.conf), and run this again',
};

function ofCertificate({ code, at }: Failed, hostname: string): string | undefined {
  const clock = `set the clock of this machine if it is not ${new Date(at).toISOString().slice(0, 16)} UTC`;
  switch (code) {
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
      return trust('this certificate itself');
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
      return trust('the certificate of the authority');
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return `let the proxy send the whole chain (nginx: the intermediate certificate behind its own in the file of ssl_certificate); with an authority of your own ${trust('its certificate')}`;
    case 'CERT_HAS_EXPIRED':
      return `renew it, have the proxy load the new one, and see why nothing did; or ${clock}`;
    case 'CERT_NOT_YET_VALID':
      return `${clock}; else have the proxy show one that is valid now`;
    case 'UNRECOGNIZED_NAME':
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `have the proxy show a certificate for ${hostname} there (nginx: server_name and ssl_certificate of its server), or get one that names it`;
    default:
      return undefined;
  }
}

function trust(what: string): string {
  return `set NODE_EXTRA_CA_CERTS for this command to the file of ${what}, and have browsers and apps trust it as well; or get a certificate of a public authority`;
}
