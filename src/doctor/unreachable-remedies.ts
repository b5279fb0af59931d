/** Remedies for a public address that cannot be reached, by the reason: its certificate, its name, or no listener. */
import { certificateRemedy } from '../operator/products-and-apis/certificate-remedy.ts';
import type { Findings } from './finding.ts';

/** A request without an answer, as `process/request-to-configured-address.ts` returns it. */
export type Failed = {
  readonly kind: 'failed';
  readonly problem: string;
  readonly code: string;
  /** By the clock of this machine (ms since the epoch). */
  readonly at: number;
};

/** The remedy if nothing more is known. */
export const REACH =
  'check that the service runs, that the proxy sends this host to it, and that the name resolves to the proxy';

/**
 * Adds the finding for a missing answer. If no service runs (`isServed`), silence alone is no fault; faults of a
 * certificate or a name are.
 */
export function ofUnreached(found: Findings, url: string, failed: Failed, isServed: boolean): void {
  const detail = `${url}: ${failed.problem}`;
  const { hostname, protocol, port } = new URL(url);
  const listening = `check that the proxy listens at ${hostname}:${port || (protocol === 'https:' ? 443 : 80)}; ${REACH}`;
  const shown = { hostname, by: 'the proxy', to: 'browsers and apps' } as const;
  const remedy = certificateRemedy(failed.code, failed.at, shown) ?? WAYS[failed.code];
  if (remedy !== undefined) found.wrong('reached', detail, remedy);
  else if (!isServed) found.warn('reached', `${detail}, and no service runs on this database`, SERVE_FIRST);
  else found.wrong('reached', detail, failed.code === 'ECONNREFUSED' ? listening : REACH);
}

const SERVE_FIRST = 'start it with "valetkey serve", and run this again to check the visitors’ way';

const NO_WAY =
  'check that the name has the right addresses ("getent ahosts NAME"), and that this machine has a route to them';

/** Remedies for faults on the way to the service. */
const WAYS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'add the name to the DNS, or to /etc/hosts if only this machine lacks it; or correct the URL',
  ENETUNREACH: NO_WAY,
  EHOSTUNREACH: NO_WAY,
  EAI_AGAIN: 'check that this machine reaches its DNS server (/etc/resolv.conf), and run this again',
};
