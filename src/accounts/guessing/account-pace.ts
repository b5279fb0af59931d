/**
 * Queues the tries of strangers (browsers that never signed in to an account) for each account, so that a flood at one account
 * delays only strangers at that account. Their networks are served round robin at two rates: a slow one for networks with many
 * recent tries at the account, a faster one for the others. Neither rate slows down the other. A try that times out, or finds
 * the queue full, is refused, and the account's counters do not count it.
 */
import { widestNetworkOf } from '../../oauth/guessing/networks.ts';
import { drawByLot, FairLine, most, TurnedAway, type Waiter } from './fair-line.ts';
import type { Guess } from './guess-budget.ts';
import type { Throttle } from './throttle.ts';

/**
 * The parts of the pace. `now` returns ms since the epoch; `later` acts after a number of ms, and returns a function
 * that cancels it.
 */
export type AccountPaceParts = {
  /** The rate of tries at an account for networks with many tries. */
  readonly often: Throttle;
  /** The rate for all other networks. */
  readonly seldom: Throttle;
  /** Counts the tries of a network at an account. A network beyond this limit tries often. */
  readonly accountAndNetwork: Throttle;
  readonly now: () => number;
  readonly later: (act: () => void, ms: number) => () => void;
  readonly bounds?: PaceBounds;
};

/** Maximum numbers of waiting tries: of a network at one account, of a network at all accounts, and in total. */
export type PaceBounds = { readonly ofNetworkForOne: number; readonly ofNetwork: number; readonly inAll: number };

const BOUNDS: PaceBounds = { ofNetworkForOne: 10, ofNetwork: 50, inAll: 2000 };

/** Timeout of a waiting try (ms). */
export const TURN_TIMEOUT_MS = 30_000;

/** In the order of their turns. The first has no more turns than its slow pace allows, so the second gets turns too. */
const PACES = ['often', 'seldom'] as const;
type Which = (typeof PACES)[number];

type Stranger = Waiter & { readonly network: string; forgetTimeout(): void };

/** The tries at one account: if one is running, and the waiting ones by network. */
type AccountLine = Readonly<Record<Which, FairLine<Stranger>>> & { isTaken: boolean; forgetAlarm(): void };

/** The lines of all accounts. An address without an account has one too, so that the time of an answer tells nothing. */
export class AccountPace {
  readonly #parts: AccountPaceParts;
  #bounds: PaceBounds;
  readonly #lines = new Map<string, AccountLine>();
  /** How many wait of each network. */
  readonly #ofNetwork = new Map<string, number>();
  #inAll = 0;

  constructor(parts: AccountPaceParts) {
    this.#parts = parts;
    this.#bounds = parts.bounds ?? BOUNDS;
  }

  /**
   * Checks a guess when the queue reaches it, and returns true if it was right; a right guess is not counted. Throws
   * `TurnedAway` if too many guesses of its network wait, after the timeout, or if `signal` is aborted while it waits. If too
   * many wait in total, the account with the longest queue loses one, from the networks with many recent tries first.
   */
  async run({ account, source }: Guess, check: () => Promise<boolean>, signal?: AbortSignal): Promise<boolean> {
    const { accountAndNetwork, now } = this.#parts;
    const network = widestNetworkOf(source);
    const pair = `${account} ${network}`;
    const which = accountAndNetwork.wait([pair], now()) === 0 ? 'seldom' : 'often';
    await this.#turn(account, network, which, signal);
    this.#parts[which].count([account], now());
    accountAndNetwork.count([pair], now());
    let isWrong = false;
    try {
      isWrong = !(await check());
      return !isWrong;
    } finally {
      if (!isWrong) {
        this.#parts[which].refund([account], now());
        accountAndNetwork.refund([pair], now());
      }
      (this.#lines.get(account) as AccountLine).isTaken = false;
      this.#advance(account);
    }
  }

  /** Refuses all waiting requests and all later ones that would have to wait, because the service stops. */
  stop(): void {
    this.#bounds = { ...this.#bounds, inAll: 0 };
    this.#makeRoom();
  }

  #turn(account: string, network: string, which: Which, signal: AbortSignal | undefined): Promise<void> {
    const line = this.#lines.get(account) ?? newLine();
    const ofNetworkForOne = line.seldom.sizeOf(network) + line.often.sizeOf(network);
    const ofNetwork = this.#ofNetwork.get(network) ?? 0;
    if (ofNetworkForOne >= this.#bounds.ofNetworkForOne || ofNetwork >= this.#bounds.ofNetwork)
      return Promise.reject(new TurnedAway());
    return new Promise((goOn, turnAway) => {
      const stranger: Stranger = { network, goOn, turnAway, forgetTimeout: () => {} };
      this.#lines.set(account, line);
      line[which].add(network, stranger);
      this.#ofNetwork.set(network, ofNetwork + 1);
      this.#inAll += 1;
      const leave = () => {
        if (!line[which].remove(network, stranger)) return;
        this.#gone(stranger).turnAway(new TurnedAway());
        this.#advance(account);
      };
      stranger.forgetTimeout = this.#parts.later(leave, TURN_TIMEOUT_MS);
      this.#advance(account);
      if (signal?.aborted) leave();
      else signal?.addEventListener('abort', leave);
      this.#makeRoom();
    });
  }

  /** Starts the next try, if it is time; drops an account without tries. */
  #advance(account: string): void {
    const line = this.#lines.get(account);
    if (!line || line.isTaken) return;
    line.forgetAlarm();
    const waiting = PACES.filter((which) => line[which].size > 0);
    if (waiting.length === 0) {
      this.#lines.delete(account);
      return;
    }
    const now = this.#parts.now();
    const waits = waiting.map((which) => this.#parts[which].waitMs(account, now));
    const ready = waiting.find((_, at) => waits[at] === 0);
    if (ready) {
      line.isTaken = true;
      this.#gone(line[ready].next() as Stranger).goOn();
    } else line.forgetAlarm = this.#parts.later(() => this.#advance(account), Math.min(...waits));
  }

  #makeRoom(): void {
    while (this.#inAll > this.#bounds.inAll) {
      const [account, line] = drawByLot(most([...this.#lines], ([, each]) => sizeOf(each))) as [string, AccountLine];
      this.#gone((line.often.loseOne() ?? line.seldom.loseOne()) as Stranger).turnAway(new TurnedAway());
      this.#advance(account);
    }
  }

  /** Updates the counts after a try left its queue. */
  #gone(stranger: Stranger): Stranger {
    stranger.forgetTimeout();
    const left = (this.#ofNetwork.get(stranger.network) as number) - 1;
    if (left > 0) this.#ofNetwork.set(stranger.network, left);
    else this.#ofNetwork.delete(stranger.network);
    this.#inAll -= 1;
    return stranger;
  }
}

function newLine(): AccountLine {
  return { isTaken: false, forgetAlarm: () => {}, seldom: new FairLine(), often: new FairLine() };
}

function sizeOf({ seldom, often }: AccountLine): number {
  return seldom.size + often.size;
}
