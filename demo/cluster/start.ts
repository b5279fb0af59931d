/** Starts and ends a cluster: a PostgreSQL server, instances of the service on one database, a load balancer before them. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeRootKey } from '../../src/settings/root-keys.ts';
import { startPostgres } from '../../test/support/postgres.ts';
import { anyPorts } from '../free-ports.ts';
import { Balancer, type BalancerEvent } from './balancer.ts';
import { Instance } from './instance.ts';

/** How a cluster starts. */
export type ClusterOptions = {
  /** The balancer's ports for the app and the API, or the next free ones; 0 for any. */
  readonly ports: readonly [number, number];
  /** No further step is taken once it is aborted. */
  readonly signal: AbortSignal;
  readonly tell: (event: BalancerEvent) => void;
};

/** A cluster that answers. */
export type Cluster = {
  readonly appUrl: string;
  readonly apiUrl: string;
  readonly instances: readonly Instance[];
  /** The settings of all instances, which further commands need, too. */
  readonly variables: Readonly<Record<string, string>>;
  /** Ends everything, and removes all that was written. */
  stop(): Promise<void>;
};

/** The functions that end what was started, in the order of the starts. */
type Ends = (() => unknown)[];

const NAMES = ['instance-1', 'instance-2', 'instance-3'];
const MAX_TRIES = 3;

/** Starts everything on throw-away data. When something fails, what was started is ended, and the error thrown. */
export async function startCluster({ ports, signal, tell }: ClusterOptions): Promise<Cluster> {
  const ends: Ends = [];
  const stop = async () => {
    for (const end of ends.splice(0).reverse()) await end();
  };
  try {
    const folder = makeFolder();
    const remove = () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    ends.push(remove);
    const databaseUrl = await startDatabase(ends);
    // A second, impatient signal ends the program at once: then this comes after PostgreSQL's own end.
    process.once('exit', remove);
    signal.throwIfAborted();
    const balancer = await Balancer.start(ports, tell);
    ends.push(() => balancer.stop());
    const variables = {
      VALETKEY_APP_URL: balancer.appUrl,
      VALETKEY_API_URL: balancer.apiUrl,
      VALETKEY_DATABASE_URL: databaseUrl,
      VALETKEY_KEYS: makeRootKey(),
      VALETKEY_TRUSTED_PROXIES: '127.0.0.1',
      VALETKEY_CODE_TTL: '10m', // As in the demonstration: for whoever copies a code by hand.
    };
    const instances = await startInstances(variables, folder, ends);
    signal.throwIfAborted();
    for (const instance of instances) balancer.add(instance);
    return { appUrl: balancer.appUrl, apiUrl: balancer.apiUrl, instances, variables, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** One folder for all temporary files, also of those who only know the system's; PostgreSQL may run as somebody else. */
function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'valetkey-cluster-'));
  chmodSync(folder, 0o711);
  process.env['TMPDIR'] = folder;
  return folder;
}

async function startDatabase(ends: Ends): Promise<string> {
  const postgres = await startPostgres();
  ends.push(() => postgres.remove());
  await postgres.query(postgres.url('postgres'), 'CREATE DATABASE valetkey');
  return postgres.url('valetkey');
}

/** All at the same moment, as after a power cut: one of them makes the tables. On other ports where somebody was faster. */
async function startInstances(variables: Record<string, string>, folder: string, ends: Ends): Promise<Instance[]> {
  for (let tries = 1; ; tries++) {
    const ports = await anyPorts(2 * NAMES.length);
    const instances = NAMES.map((name, place) => {
      const [app = 0, api = 0] = ports.slice(2 * place);
      return new Instance(name, [app, api], variables, join(folder, `${name}.log`));
    });
    const stop = () => Promise.all(instances.map((instance) => instance.stop()));
    try {
      await Promise.all(instances.map((instance) => instance.answers()));
      ends.push(stop);
      return instances;
    } catch (error) {
      await stop();
      if (tries === MAX_TRIES || !(error as Error).message.includes('is in use')) throw error;
    }
  }
}
