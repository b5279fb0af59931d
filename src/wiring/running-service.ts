/** The handle of a running service, for the program and for the demonstration. */
import type { WiredInstallation } from './installation.ts';

/** A running service: its addresses, its domain, and its stop. */
export type RunningService = {
  readonly appUrl: string;
  readonly apiUrl: string;
  /** Null if operators have no address. */
  readonly operatorUrl: string | null;
  readonly installation: WiredInstallation;
  /** Finishes open requests, for at most 10 seconds, and closes the store. */
  stop(): Promise<void>;
};
