/** The port to where waiting devices are kept. Rules are as for every port (`oauth/store.ts`). */
import type { Network } from '../guessing/networks.ts';
import type { DeviceDecision, PollPace, WaitingDevice } from './device-authorization.ts';

/**
 * Devices' waiting requests. They are kept no longer than a code lives, and bounded: anybody may request a code in a
 * public client's name, and anonymous requests must not make the database grow. `now` in ms.
 */
export type DeviceRequestStore = {
  /**
   * False when the user code is taken, or too many wait of any of the networks that the request came from (`mayWait`). The
   * networks are kept for this alone, and no longer than the request lives. Several requests at the same moment may each
   * take the last place.
   */
  addDeviceRequest(waiting: WaitingDevice, networks: readonly Network[], now: number): Promise<boolean>;
  /** The request behind a user code, whatever was decided; null when there is none that still lives. */
  findDeviceRequest(userCode: string, now: number): Promise<WaitingDevice | null>;
  /** Changes what is decided on a request; of all who try to change it from the same, at most one gets `true`. */
  decideDeviceRequest(userCode: string, from: DeviceDecision, to: DeviceDecision): Promise<boolean>;
  /** Notes a poll. The last one wins. */
  paceDeviceRequest(userCode: string, pace: PollPace): Promise<void>;
};
