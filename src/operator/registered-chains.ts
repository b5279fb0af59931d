/** The registrations of the trail's chains: whether each is the next one, and whether the chain begins as it says. */
import { type ChainRegistration, linkMac, NO_MAC, registrationText } from '../oauth/audit-chain.ts';
import type { HmacKey } from '../oauth/hmac.ts';
import type { AuditStore } from '../oauth/store.ts';

/** What is asked of the trail. */
export type RegisteredChainsParts = {
  /** The events up to here were taken away by the retention, so that no chain needs to begin there. */
  readonly start: number;
  readonly store: Pick<AuditStore, 'listChainRegistrations'>;
  /** The key of a chain, null without its root key. */
  readonly keyOf: (id: string) => HmacKey | null;
  readonly complain: (event: number | null, sentence: string) => void;
};

const WINDOW = 1000;

/** The registrations, of which each is crossed out when its chain's first event is met. */
export class RegisteredChains {
  readonly #parts: RegisteredChainsParts;
  readonly #open = new Map<string, ChainRegistration>();
  #number = 0;
  /** The last number of the first reading. */
  #certain: number | null = null;
  #before: Buffer = NO_MAC;

  constructor(parts: RegisteredChainsParts) {
    this.#parts = parts;
  }

  /** Reads and verifies those that it does not know yet. Throws `StoreUnavailable`. */
  async read(): Promise<void> {
    let rows: readonly ChainRegistration[];
    do {
      rows = await this.#parts.store.listChainRegistrations(this.#number, WINDOW);
      for (const row of rows) this.#step(row);
    } while (rows.length > 0);
    this.#certain ??= this.#number;
  }

  /** Complains of a chain's first event that is not the registered one. */
  meet(sequence: number, id: string): void {
    if (sequence <= this.#parts.start) return;
    const registration = this.#open.get(id);
    this.#open.delete(id);
    if (registration?.firstEvent === sequence) return;
    this.#parts.complain(
      sequence,
      `event ${sequence} begins a chain that is not registered: the registration was removed, or the event was added`,
    );
  }

  /** Complains of the chains whose first event was not met. After `last` may be those of chains that began since the first reading. */
  end(last: number): void {
    for (const { number, firstEvent } of this.#open.values()) {
      if (firstEvent > last && number > (this.#certain ?? 0)) continue;
      this.#parts.complain(
        firstEvent,
        `event ${firstEvent} is missing, with which chain ${number} began: it was removed`,
      );
    }
  }

  #step(row: ChainRegistration): void {
    const { number, id, firstEvent, mac } = row;
    const missing = number - this.#number - 1;
    const key = this.#parts.keyOf(id);
    if (missing > 0)
      this.#parts.complain(
        firstEvent,
        `${missing === 1 ? 'the registration of 1 chain is' : `the registrations of ${missing} chains are`} missing before that of chain ${number}, which began with event ${firstEvent}`,
      );
    else if (key && !linkMac(key, this.#before, registrationText(row)).equals(mac))
      this.#parts.complain(
        firstEvent,
        `the registration of chain ${number}, which began with event ${firstEvent}, is not as it was recorded: it was changed or added`,
      );
    if (firstEvent > this.#parts.start) this.#open.set(id, row);
    this.#number = number;
    this.#before = mac;
  }
}
