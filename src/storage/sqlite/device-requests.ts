/**
 * What devices ask for while they wait, in memory: one process serves a SQLite database, so that nobody anonymous makes
 * the database grow, and a restart costs a waiting device a new code. What somebody allowed is a grant, and on disk.
 */
import type { WaitingDevice } from '../../oauth/device-authorization.ts';
import type { DeviceRequestStore } from '../../oauth/store.ts';

const MOST_WAITING = 10_000;

/** The port's device requests, in this process alone. */
export function deviceRequestStore(): DeviceRequestStore {
  const waiting = new Map<string, WaitingDevice>();
  const change = (userCode: string, changes: Partial<WaitingDevice>) => {
    const found = waiting.get(userCode);
    if (found) waiting.set(userCode, { ...found, ...changes });
  };

  return {
    async addDeviceRequest(device, now) {
      forgetExpired(waiting, now);
      const { userCode } = device.request;
      if (waiting.size >= MOST_WAITING || waiting.has(userCode)) return false;
      waiting.set(userCode, device);
      return true;
    },
    async findDeviceRequest(userCode, now) {
      const found = waiting.get(userCode);
      return found && found.request.expiresAt > now ? found : null;
    },
    async decideDeviceRequest(userCode, from, to) {
      const found = waiting.get(userCode);
      if (!found || found.decision !== from) return false;
      change(userCode, { decision: to });
      return true;
    },
    async paceDeviceRequest(userCode, pace) {
      change(userCode, { pace });
    },
  };
}

/** All live equally long, so that the first who came expires first: whoever comes does not have ten thousand looked at. */
function forgetExpired(waiting: Map<string, WaitingDevice>, now: number): void {
  for (const [userCode, { request }] of waiting) {
    if (request.expiresAt > now) return;
    waiting.delete(userCode);
  }
}
