/**
 * A line between an instance and the server, that can be cut at any statement, go dead, or be gone. It reads as much of
 * PostgreSQL's protocol as it takes to know which statement passes, and when its answer is complete.
 */
import net from 'node:net';
import type { Lifetime } from '../support/service.ts';

/**
 * Where a line is cut: before the statement reaches the server, as soon as it was handed on, or when its answer has come
 * back, of which the instance then gets nothing.
 */
export const CUTS = ['before', 'under way', 'answered'] as const;
export type Cut = (typeof CUTS)[number];

/** Whether to cut the line at a statement. */
type Cutter = (sql: string) => Cut | null;

/** The line of one instance; all its connections go over it. */
export class Line {
  /** Is asked about each statement. */
  cutter: Cutter = () => null;
  /** Whether a cut breaks the whole line. */
  breaksWithCut = false;
  /** Cuts so far. */
  cuts = 0;
  readonly #server: net.Server;
  readonly #calls = new Set<Call>();
  #state: 'good' | 'gone' | 'dead' = 'good';

  private constructor(target: number) {
    this.#server = net.createServer((socket) => {
      if (this.#state === 'gone') return socket.resetAndDestroy();
      const call = new Call(this, socket, target);
      call.isDead = this.#state === 'dead';
      this.#calls.add(call);
      // One that is dead has its end at the server left open, until the line breaks.
      socket.once('close', () => call.isDead || this.#calls.delete(call));
    });
  }

  /** Opens a line to a port of this machine. */
  static async open(t: Lifetime, target: number): Promise<Line> {
    const line = new Line(target);
    await new Promise<void>((resolve) => line.#server.listen(0, '127.0.0.1', resolve));
    t.after(() => {
      line.#server.close();
      line.break();
    });
    return line;
  }

  /** The address of a database, over this line. */
  url(database: string): string {
    const url = new URL(database);
    url.port = String((this.#server.address() as net.AddressInfo).port);
    return url.href;
  }

  /** Cuts all connections, and refuses new ones. */
  break(): void {
    this.#state = 'gone';
    for (const call of this.#calls) call.hangUp();
  }

  /** Lets nothing through any more, and says so to nobody. */
  goDead(): void {
    this.#state = 'dead';
    for (const call of this.#calls) call.isDead = true;
  }

  /** Is a good line again; connections that went dead stay so. */
  mend(): void {
    this.#state = 'good';
  }
}

/** One connection over a line. */
class Call {
  isDead = false;
  readonly #line: Line;
  readonly #instance: net.Socket;
  readonly #server: net.Socket;
  readonly #statements = new Map<string, string>();
  #isGreeted = false;
  #isOver = false;
  #cut: Cut | null = null;

  constructor(line: Line, instance: net.Socket, target: number) {
    this.#line = line;
    this.#instance = instance;
    this.#server = net.connect(target, '127.0.0.1');
    for (const socket of [this.#instance, this.#server]) {
      socket.setNoDelay(true);
      socket.on('error', () => {});
      socket.on('close', () => !this.isDead && this.hangUp());
    }
    this.#read(this.#instance, (type, message) => this.#ask(type, message));
    this.#read(this.#server, (type, message) => this.#answer(type, message));
  }

  hangUp(): void {
    this.#isOver = true;
    this.#instance.destroy();
    // What was written to the server still gets there.
    this.#server.destroySoon();
  }

  /** Has whole messages read. The first of the instance has no type, and is taken as one of type 0. */
  #read(socket: net.Socket, take: (type: string, message: Buffer) => void): void {
    let rest = Buffer.alloc(0);
    socket.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const start = socket === this.#instance && !this.#isGreeted ? 0 : 1;
        if (rest.length < start + 4) return;
        const end = start + rest.readInt32BE(start);
        if (rest.length < end) return;
        const type = start === 0 ? '' : String.fromCharCode(rest[0] as number);
        const message = rest.subarray(0, end);
        rest = rest.subarray(end);
        if (start === 0) this.#isGreeted = true;
        if (!this.isDead) take(type, message);
      }
    });
  }

  #ask(type: string, message: Buffer): void {
    const [first = '', second = ''] = type === '' ? [] : message.toString('utf8', 5).split('\0', 2);
    if (type === 'P') this.#statements.set(first, second);
    const sql = type === 'Q' ? first : type === 'B' ? this.#statements.get(second) : undefined;
    this.#cut ??= sql === undefined ? null : this.#line.cutter(sql);
    const isWhole = type === 'Q' || type === 'S';
    if (this.#cut !== 'before') this.#server.write(message);
    if (this.#cut === 'before' || (this.#cut === 'under way' && isWhole)) this.#cutNow();
  }

  #answer(type: string, message: Buffer): void {
    if (this.#cut === null) this.#instance.write(message);
    else if (type === 'Z') this.#cutNow();
  }

  #cutNow(): void {
    if (this.#isOver) return;
    this.#line.cuts += 1;
    this.hangUp();
    if (this.#line.breaksWithCut) this.#line.break();
  }
}
