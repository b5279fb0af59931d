/**
 * Wrong sign-ins, for the audit trail. They are counted in memory, after the response was sent, and recorded in one event for
 * each account and hour. Those for unknown accounts are counted too, so that response times reveal nothing, but not recorded.
 */
import { type AuditEvent, auditEvent } from '../../oauth/trail/audit.ts';
import type { AccountStore } from '../people/store.ts';

const HOUR_MS = 3_600_000;
/** Maximum number of accounts that are counted in an hour, and of events that wait for the database. */
export const MAX_ACCOUNTS = 10_000;

/** No specific actor: the log has the details of each try. */
const SOMEBODY = { kind: 'visitor', id: 'unknown', source: null, requestId: null } as const;

/** The counts of one instance. `now` returns ms since the epoch. */
export class WrongSignIns {
  readonly #store: Pick<AccountStore, 'recordSignInEvent'>;
  readonly #now: () => number;
  #hour: number;
  #counts = new Map<string | null, number>();
  /** Events of hours that are over, not written yet. */
  #ended: AuditEvent[] = [];
  #writing: Promise<void> | null = null;

  constructor(store: Pick<AccountStore, 'recordSignInEvent'>, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.#hour = this.#currentHour();
  }

  /** Counts one for an account, or for none. */
  count(accountId: string | null): void {
    if (this.#currentHour() !== this.#hour) this.#endHour();
    const before = this.#counts.get(accountId) ?? 0;
    if (before > 0 || this.#counts.size < MAX_ACCOUNTS) this.#counts.set(accountId, before + 1);
  }

  /** Writes the events of past hours. Passes on the store's errors; the next call writes the rest. */
  writeEnded(): Promise<void> {
    if (this.#currentHour() !== this.#hour) this.#endHour();
    this.#writing ??= this.#write().finally(() => {
      this.#writing = null;
    });
    return this.#writing;
  }

  /** Writes all that is counted, as the service stops. */
  async close(): Promise<void> {
    await this.#writing?.catch(() => {});
    this.#endHour();
    await this.writeEnded();
  }

  #currentHour(): number {
    return Math.floor(this.#now() / HOUR_MS);
  }

  #endHour(): void {
    const hour = new Date(this.#hour * HOUR_MS).toISOString();
    for (const [resourceOwnerId, number] of this.#counts) {
      if (resourceOwnerId === null || this.#ended.length >= MAX_ACCOUNTS) continue;
      this.#ended.push(auditEvent('wrong_sign_ins', SOMEBODY, this.#now(), { resourceOwnerId }, { number, hour }));
    }
    this.#counts = new Map();
    this.#hour = this.#currentHour();
  }

  async #write(): Promise<void> {
    while (this.#ended.length > 0) {
      await this.#store.recordSignInEvent(this.#ended[0] as AuditEvent);
      this.#ended.shift();
    }
  }
}
