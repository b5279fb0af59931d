/**
 * The servers of a database, one of which is the primary. A failover makes another one the primary, with a higher
 * timeline. A server with a timeline lower than the highest that this process has seen was left behind, and lacks later
 * confirmed writes. It is refused, and sessions on it end. (Keeping it from serving other clients is the cluster's
 * task.) A primary that was left behind without noticing still reads, but its commits wait for a standby that is gone:
 * so a slow statement makes a process check whether another server is the primary.
 */
import { InstallationError } from '../../../process/installation-error.ts';
import { type PostgresqlServer, readPostgresqlUrl } from '../../../process/postgresql-url.ts';
import { CONNECT_TIMEOUT_MS, Connection, type Session } from './connection.ts';
import { sqlState } from './errors.ts';

/** Session for checking a server. */
const CHECK_SESSION: Session = { statementTimeout: 1000, lockTimeout: 1000, byKey: false };
/** Maximum time of a check, and minimum time between two (ms). */
const CHECK_MS = 1000;

/** The servers of a URL, and the process's knowledge of them. */
export class Servers {
  /** Hosts and database, without user and password. */
  readonly place: string;
  readonly #servers: readonly PostgresqlServer[];
  readonly #warn: (sentence: string) => void;
  /** Index of the server of the newest connection, which the next one tries first. */
  #primary = 0;
  /** The highest timeline seen. */
  #timeline = 0;
  #connections: Connection[] = [];
  /** Time of the last check of the other servers. */
  #checkedAt = Number.NEGATIVE_INFINITY;
  /** Refusals already logged. */
  readonly #reported = new Set<string>();

  /** `warn` receives a sentence on each failover, and one for each server refused for its timeline. */
  constructor(url: string, warn: (sentence: string) => void = () => {}) {
    const { place, servers } = readPostgresqlUrl(url);
    this.place = place;
    this.#servers = servers;
    this.#warn = warn;
  }

  /** The URL of each server. */
  get urls(): readonly string[] {
    return this.#servers.map(({ url }) => url);
  }

  /**
   * Connects to the primary: tries one server after the other, with an equal share of 2.5 s each. Throws the server's or
   * the network's error; of several servers one that names all of their errors.
   */
  async connect(session: Session): Promise<Connection> {
    const end = performance.now() + CONNECT_TIMEOUT_MS;
    const { length } = this.#servers;
    const errors: Error[] = [];
    const hosts: string[] = [];
    for (let tried = 0; tried < length; tried += 1) {
      const at = (this.#primary + tried) % length;
      const { url, host } = this.#servers[at] as PostgresqlServer;
      try {
        const connection = await Connection.open(
          url,
          session,
          Math.max(1, (end - performance.now()) / (length - tried)),
        );
        this.#admit(connection, at);
        if (length > 1) connection.onSlow = () => void this.#checkOthers();
        return connection;
      } catch (error) {
        errors.push(error as Error);
        hosts.push(host);
      }
    }
    throw allOf(errors, hosts);
  }

  /**
   * Checks the other servers in parallel; one with a higher timeline becomes the primary, and the sessions on this one
   * end.
   */
  async #checkOthers(): Promise<void> {
    const now = performance.now();
    if (now - this.#checkedAt < CHECK_MS) return;
    this.#checkedAt = now;
    const check = async ({ url }: PostgresqlServer, at: number) => {
      if (at === this.#primary) return;
      const connection = await Connection.open(url, CHECK_SESSION, CHECK_MS);
      if (connection.timeline !== this.#timeline) this.#admit(connection, at);
      await connection.close();
    };
    // Replicas and unreachable servers refuse; the next check may find another state.
    await Promise.allSettled(this.#servers.map(check));
  }

  /** Accepts a connection to a server, which becomes the primary; closes and refuses one with a lower timeline. */
  #admit(connection: Connection, at: number): void {
    const { timeline } = connection;
    const { host } = this.#servers[at] as PostgresqlServer;
    if (timeline < this.#timeline) {
      connection.destroy();
      throw this.#refusal(host, timeline);
    }
    if (timeline > this.#timeline) {
      if (this.#timeline > 0)
        this.#warn(`the database failed over to ${host}, from timeline ${this.#timeline} to ${timeline}`);
      this.#timeline = timeline;
      for (const old of this.#connections) if (old.timeline < timeline) old.destroy();
    }
    this.#primary = at;
    this.#connections = [...this.#connections.filter(({ isLost }) => !isLost), connection];
  }

  #refusal(host: string, timeline: number): InstallationError {
    const problem = `the server at ${host} is refused, since it is on timeline ${timeline} and this process has seen ${this.#timeline}`;
    const remedy =
      'a failover left it behind, and what was answered since is missing there. Stop it and let it join the cluster again as a replica (pg_rewind); if an older state was restored on purpose, stop every instance and run "valetkey database restore"';
    const refusal = new InstallationError({ problem, remedy });
    if (!this.#reported.has(refusal.message)) this.#warn(refusal.message);
    this.#reported.add(refusal.message);
    return refusal;
  }
}

/**
 * Returns one error for all servers. Its cause is the first server's error, if all have the same code; for a single
 * server, returns that server's error.
 */
function allOf(errors: readonly Error[], hosts: readonly string[]): Error {
  const [first] = errors;
  if (errors.length === 1) return first as Error;
  const isSame = new Set(errors.map(sqlState)).size === 1;
  const sentences = errors.map(({ message }, index) => `${hosts[index]}: ${message}`);
  return new Error(sentences.join('; '), isSame ? { cause: first } : {});
}
