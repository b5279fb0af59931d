/** Being told to stop, by signals. */

/** So long after the first signal what comes is the same one (ms): npm and the first run hand a group's signal on. */
const SAME_SIGNAL_MS = 1000;

/** Resolves at the first signal that asks to stop; a second, impatient one ends the process at once. */
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
