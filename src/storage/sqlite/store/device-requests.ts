/**
 * Waiting device requests, in memory: one process serves a SQLite database. So anonymous requests cannot make the
 * database grow, and a restart costs a waiting device only a new code. An allowed request becomes a grant, on disk.
 */
import { MAX_DEVICES_WAITING, mayWait, type WaitingDevice } from '../../../oauth/device/device-authorization.ts';
import type { DeviceRequestStore } from '../../../oauth/device/device-request-store.ts';
import type { Network } from '../../../oauth/guessing/networks.ts';

/** A request, with the networks of its source. */
type Kept = WaitingDevice & { readonly networks: readonly Network[] };

/** Implements the port for device requests, within this process. */
export function deviceRequestStore(): DeviceRequestStore {
  const waiting = new Map<string, Kept>();
  /** Number of waiting requests of each network. */
  const waitingOf = new Map<string, number>();
  const change = (userCode: string, changes: Partial<WaitingDevice>) => {
    const found = waiting.get(userCode);
    if (found) waiting.set(userCode, { ...found, ...changes });
  };
  /** All requests have the same lifetime, so the oldest expires first: the search ends at the first unexpired one. */
  const forgetExpired = (now: number) => {
    for (const [userCode, { request, networks }] of waiting) {
      if (request.expiresAt > now) return;
      waiting.delete(userCode);
      for (const { key } of networks) {
        const left = (waitingOf.get(key) as number) - 1;
        if (left > 0) waitingOf.set(key, left);
        else waitingOf.delete(key);
      }
    }
  };

  return {
    async addDeviceRequest(device, networks, now) {
      forgetExpired(now);
      const { userCode } = device.request;
      const free = MAX_DEVICES_WAITING - waiting.size;
      const mayAll = networks.every(({ key, weight }) => mayWait(waitingOf.get(key) ?? 0, weight, free));
      if (free <= 0 || !mayAll || waiting.has(userCode)) return false;
      waiting.set(userCode, { ...device, networks });
      for (const { key } of networks) waitingOf.set(key, (waitingOf.get(key) ?? 0) + 1);
      return true;
    },
    async findDeviceRequest(userCode, now) {
      const found = waiting.get(userCode);
      if (!found || found.request.expiresAt <= now) return null;
      const { networks: _, ...device } = found;
      return device;
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
