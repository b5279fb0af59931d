/**
 * `/metrics`, on its own address: turns plain counts into Prometheus' text format at each scrape. Only this folder
 * imports Prometheus' library, and only if the address is set.
 */
import { createServer, type Server, type ServerResponse } from 'node:http';
import { isIPv6 } from 'node:net';
import { setTimeout as after } from 'node:timers/promises';
import { collectDefaultMetrics, type Metric, Registry } from 'prom-client';
import type { BackupRecord } from '../oauth/installation/restore.ts';
import type { RootKeys } from '../oauth/keys/root-key.ts';
import type { ListedSigningKey } from '../oauth/openid/signing-keys.ts';
import { InstallationError } from '../process/installation-error.ts';
import { FAMILIES, type Snapshot } from './families.ts';

/** The measured things: tallies of the service's parts, and the reads of the database. */
export type Measured = Omit<
  Snapshot,
  'isReady' | 'keys' | 'backups' | 'signingKeys' | 'connections' | 'store' | 'trailVerifiedAt' | 'droppedLines'
> & {
  readonly connections: () => Snapshot['connections'];
  readonly figures: () => Snapshot['store'];
  readonly trailVerifiedAt: () => number;
  readonly droppedLines: () => number;
  readonly isReady: () => Promise<boolean>;
  readonly findRootKeys: () => Promise<RootKeys>;
  readonly findBackups: () => Promise<BackupRecord>;
  readonly listSigningKeys: () => Promise<readonly ListedSigningKey[]>;
};

/**
 * Timeout of the database in a scrape (ms): metrics must arrive when the database does not answer, and then most of
 * all.
 */
const DATABASE_TIMEOUT_MS = 1000;

/** The metrics as text. */
export class Metrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #measured: Measured;
  readonly #registry = new Registry();
  #snapshot: Snapshot | null = null;
  #keys: RootKeys | null = null;
  #backups: BackupRecord | null = null;
  #signingKeys: readonly ListedSigningKey[] | null = null;
  /** Concurrent scrapes share one text. */
  #text: Promise<string> | null = null;

  constructor(measured: Measured) {
    this.#measured = measured;
    for (const { read, ...about } of FAMILIES) {
      const values = () => (this.#snapshot === null ? [] : read(this.#snapshot));
      // The library's own metrics would grow with each request: it only prints our values.
      const metric = { ...about, get: async () => ({ ...about, values: values() }) };
      this.#registry.registerMetric(metric as unknown as Metric<string>);
    }
    // Of the process: CPU, memory, descriptors, delay of the event loop, garbage collections.
    collectDefaultMetrics({ register: this.#registry });
  }

  /** Returns the text of one scrape. */
  text(): Promise<string> {
    this.#text ??= this.#make().finally(() => {
      this.#text = null;
    });
    return this.#text;
  }

  async #make(): Promise<string> {
    this.#snapshot = await this.#take();
    return this.#registry.metrics();
  }

  async #take(): Promise<Snapshot> {
    const { connections, figures, trailVerifiedAt, droppedLines, isReady, ...rest } = this.#measured;
    const { findRootKeys, findBackups, listSigningKeys, ...counted } = rest;
    const [ready, keys, backups, signingKeys] = await Promise.all([
      inTime(isReady()),
      inTime(findRootKeys()),
      inTime(findBackups()),
      inTime(listSigningKeys()),
    ]);
    this.#signingKeys = signingKeys ?? this.#signingKeys;
    this.#keys = keys ?? this.#keys;
    this.#backups = backups ?? this.#backups;
    return {
      ...counted,
      isReady: ready ?? false,
      connections: connections(),
      store: figures(),
      trailVerifiedAt: trailVerifiedAt(),
      droppedLines: droppedLines(),
      keys: this.#keys,
      backups: this.#backups,
      signingKeys: this.#signingKeys,
    };
  }
}

/** Returns null if it failed, or took too long. */
async function inTime<T>(asked: Promise<T>): Promise<T | null> {
  return Promise.race([asked.catch(() => null), after(DATABASE_TIMEOUT_MS, null, { ref: false })]);
}

/** Serves the metrics; resolves when the address answers. Throws `InstallationError`. */
export async function serveMetrics(metrics: Metrics, address: { host: string; port: number }): Promise<MetricsServer> {
  const server = createServer({ requestTimeout: 5000, headersTimeout: 5000 }, (request, response) => {
    const isAsked = request.url?.replace(/\?.*$/s, '') === '/metrics';
    if (!isAsked) answer(response, 404, 'text/plain', 'The only path here is /metrics.\n');
    else if (request.method !== 'GET' && request.method !== 'HEAD')
      answer(response.setHeader('Allow', 'GET, HEAD'), 405, 'text/plain', 'Only GET is answered here.\n');
    else
      metrics.text().then(
        (text) => answer(response, 200, metrics.contentType, text),
        () => answer(response, 500, 'text/plain', 'The metrics could not be read.\n'),
      );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        new InstallationError({
          problem: `VALETKEY_METRICS_LISTEN: ${address.host}:${address.port} cannot be bound (${error.code})`,
          remedy: 'choose a free port of an address of this machine',
        }),
      ),
    );
    server.listen(address.port, address.host, () => resolve());
  });
  const host = isIPv6(address.host) ? `[${address.host}]` : address.host;
  return new MetricsServer(server, `http://${host}:${address.port}/metrics`);
}

function answer(response: ServerResponse, status: number, type: string, text: string): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  });
  response.end(text);
}

/** A server that answers until it is closed. It closes last, so that a stop can be watched. */
class MetricsServer {
  readonly url: string;
  readonly #server: Server;

  constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }
}
