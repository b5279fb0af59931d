/**
 * Makes strangers (browsers that never signed in to an account) take turns at it, so that a crowd at one account makes
 * strangers wait there, and nobody elsewhere. Their networks take turns at two paces: a slow one for networks that tried the
 * account often lately, a faster one for the others. Neither pace slows down the other. Whoever has no turn within a timeout,
 * or comes when too many wait, is turned away, and the account's counters do not count that try.
 */
import { widestNetworkOf } from '../../oauth/guessing/networks.ts';
import { drawn, FairLine, most, TurnedAway, type Waiter } from './fair-line.ts';
import type { Guess } from './guess-budget.ts';
import type { Throttle } from './throttle.ts';

/**
 * The parts of the pace. `now` returns ms since the epoch; `later` acts after a number of ms, and returns a function
 * that cancels it.
 */
export type AccountPaceParts = {
  /** The pace at which an account is tried by networks that tried it often. */
  readonly often: Throttle;
  /** The pace at which it is tried by the others. */
  readonly seldom: Throttle;
  /** Counts the tries of a network at an account. A network beyond this limit tries often. */
  readonly accountAndNetwork: Throttle;
  readonly now: () => number;
  readonly later: (act: () => void, ms: number) => () => void;
  readonly bounds?: PaceBounds;
};

/** Maximum number of those who wait: of a network for one account, of a network for all accounts, and in all. */
export type PaceBounds = { readonly ofNetworkForOne: number; readonly ofNetwork: number; readonly inAll: number };

const BOUNDS: PaceBounds = { ofNetworkForOne: 10, ofNetwork: 50, inAll: 2000 };

/** Timeout of waiting for a turn (ms). */
export const TURN_TIMEOUT_MS = 30_000;

/** In the order of their turns. The first has no more turns than its slow pace allows, so the second gets turns too. */
const PACES = ['often', 'seldom'] as const;
type Which = (typeof PACES)[number];

type Stranger = Waiter & { readonly network: string; forgetTimeout(): void };

/** Those who try one account: whether somebody does right now, and who waits, by network. */
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
   * Checks a guess when it is its turn, and returns whether it was right; a right one is not counted. Throws `TurnedAway`
   * when too many of its network wait, after the timeout, or when `signal` is aborted while it waits. When too many wait in
   * all, the account with the longest line loses one: first of the networks that tried it often.
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

  /** Turns away all who wait, and from then on all who would have to, as the service stops. */
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

  /** Lets the next one in, if it is time; forgets an account that nobody tries. */
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
      const [account, line] = drawn(most([...this.#lines], ([, each]) => sizeOf(each))) as [string, AccountLine];
      this.#gone((line.often.loseOne() ?? line.seldom.loseOne()) as Stranger).turnAway(new TurnedAway());
      this.#advance(account);
    }
  }

  /** Stops counting somebody who was taken out of their line. */
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
