/** The wiring of metrics: connects each counter to the address that serves `/metrics`. */
import manifest from '../../package.json' with { type: 'json' };
import type { Service } from '../http/service/service.ts';
import type { Measured } from '../metrics/metrics.ts';
import type { Configuration } from '../settings/configuration.ts';
import type { Storage } from '../storage/opening/opened-storage.ts';
import type { WiredInstallation } from './installation.ts';

/** Serves `/metrics`, or returns null if no address is configured. Throws `InstallationError`. */
export async function startMetrics(
  { metricsListen, database }: Configuration,
  { tally: requests, isReady, maxConnections }: Service,
  { tally: protocol, signIns, signingKeys }: WiredInstallation,
  { store, figures }: Storage,
  counted: Pick<Measured, 'connections' | 'trailVerifiedAt' | 'droppedLines'>,
): Promise<{ readonly url: string; close(): Promise<void> } | null> {
  if (!metricsListen || !requests) return null;
  // Imported here, so that a service without metrics does not load it.
  const { Metrics, serveMetrics } = await import('../metrics/metrics.ts');
  const measured = {
    version: manifest.version,
    database: database.kind === 'postgresql' ? 'postgresql' : 'sqlite',
    requests,
    protocol,
    signIns,
    figures,
    isReady,
    ...counted,
    maxConnections: maxConnections.inAll,
    findRootKeys: () => store.findRootKeys(),
    findBackups: () => store.findBackups(),
    listSigningKeys: () => signingKeys.list(),
  };
  return serveMetrics(new Metrics(measured), metricsListen);
}
