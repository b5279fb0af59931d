/** Time as the wiring gives it to whoever measures, acts later or waits. */
import { setTimeout as after } from 'node:timers/promises';

/** Ms from any beginning, which no step of the clock changes. */
export function stopwatch(): number {
  return performance.now();
}

/** Acts after `ms`; the returned function cancels that. */
export function later(act: () => void, ms: number): () => void {
  const timer = setTimeout(act, ms).unref();
  return () => clearTimeout(timer);
}

/** Waits for a time (ms), and keeps the process alive meanwhile. */
export function wait(ms: number): Promise<void> {
  return after(ms);
}
