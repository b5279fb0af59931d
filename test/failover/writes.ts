/** When each server of a cluster took a write, by a row that is updated all the time. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { Node } from './patroni.ts';

const AGAIN_MS = 20;
/** A write that waits for a standby in vain is given up, and so is a server that does not answer. */
const TIMEOUT_MS = 1500;
const WRITE = `
  UPDATE probe SET n = n + 1 RETURNING ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int AS timeline`;

/** A write that a server acknowledged. */
export type Write = { readonly asked: number; readonly at: number; readonly node: Node; readonly timeline: number };

/** Writes to each node of a cluster, from its making until it is stopped. */
export class Writes {
  readonly #all: Write[] = [];
  readonly #writing: readonly Promise<void>[];
  #isStopped = false;

  private constructor(nodes: readonly Node[]) {
    this.#writing = nodes.map((node) => this.#writeTo(node));
  }

  /** Makes the row, and begins. */
  static async begin(nodes: readonly Node[], primary: Node): Promise<Writes> {
    const client = new pg.Client(primary.url('postgres'));
    await client.connect();
    await client.query('CREATE TABLE probe AS SELECT 0 AS n');
    await client.end();
    return new Writes(nodes);
  }

  /** The highest timeline of a write. */
  get timeline(): number {
    return Math.max(0, ...this.#all.map(({ timeline }) => timeline));
  }

  /** Waits for the first write that was asked for after a moment, on a timeline of at least so much. */
  async next(after: number, timeline: number): Promise<Write> {
    for (; !this.#isStopped; await sleep(AGAIN_MS)) {
      const found = this.#all.find((write) => write.asked > after && write.timeline >= timeline);
      if (found) return found;
    }
    throw new Error('nobody writes any more');
  }

  /** Stops writing. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#writing);
  }

  async #writeTo(node: Node): Promise<void> {
    for (; !this.#isStopped; await sleep(AGAIN_MS)) {
      const client = new pg.Client({
        connectionString: node.url('postgres'),
        connectionTimeoutMillis: TIMEOUT_MS,
        query_timeout: TIMEOUT_MS,
      });
      client.on('error', () => {});
      try {
        await client.connect();
        for (; !this.#isStopped; await sleep(AGAIN_MS)) {
          const asked = performance.now();
          const { rows } = await client.query<{ timeline: number }>(WRITE);
          this.#all.push({ asked, at: performance.now(), node, timeline: rows[0]?.timeline ?? 0 });
        }
      } catch {
        // It is no primary, or not there.
      }
      // What does not answer is left, without a good-bye.
      (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
    }
  }
}
