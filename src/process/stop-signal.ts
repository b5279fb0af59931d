/** Handles the signals that stop the process. */

/** Time in which a further signal counts as the same one (ms): npm and the first run pass a signal on to the group. */
const SAME_SIGNAL_MS = 1000;

/** Resolves at the first stop signal; a second one ends the process at once. */
export function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let first: number | undefined;
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
      process.on(signal, () => {
        first ??= performance.now();
        if (performance.now() - first > SAME_SIGNAL_MS) process.exit(1);
        resolve();
      });
    }
  });
}
