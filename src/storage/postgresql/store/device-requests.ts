/**
 * Waiting device requests, shared by all instances. The table is bounded and unlogged: a crash of the server costs a
 * waiting device only a new code. An allowed request becomes a grant, on disk.
 */
import { randomUUID } from 'node:crypto';
import {
  type DeviceDecision,
  type DeviceRequest,
  MAX_DEVICES_WAITING,
} from '../../../oauth/device/device-authorization.ts';
import type { DeviceRequestStore } from '../../../oauth/device/device-request-store.ts';
import { WEIGHTS } from '../../../oauth/guessing/networks.ts';
import { nullable, Table } from '../../statements/table.ts';
import type { Database } from '../statements/database.ts';

/** A stored request. */
export const DEVICE_REQUEST = Table.of<
  DeviceRequest & { decision: DeviceDecision; polledAt: number; intervalS: number }
>('device_request', {
  userCode: 'text',
  grantId: 'uuid',
  clientId: 'text',
  scope: 'json',
  resource: nullable('text'),
  resourceIsDefault: 'boolean',
  codeChallenge: 'text',
  expiresAt: 'time',
  decision: nullable('text'),
  polledAt: 'time',
  intervalS: 'integer',
});

/** Maximum number of expired requests that each new one deletes. */
const EXPIRED_AT_ONCE = 64;

const FORGET_EXPIRED = `
  DELETE FROM device_request WHERE user_code IN (
    SELECT user_code FROM device_request WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`;

/** The rule of `mayWait`, for the network of each weight. If a source has no network of a weight, none is counted. */
const ADD = `
  WITH waiting AS (
    SELECT $15 - (SELECT count(*) FROM device_request) AS free,
      (SELECT count(*) FROM device_request WHERE network_1 = $12) AS of_1,
      (SELECT count(*) FROM device_request WHERE network_4 = $13) AS of_4,
      (SELECT count(*) FROM device_request WHERE network_32 = $14) AS of_32)
  INSERT INTO device_request (${DEVICE_REQUEST.names}, network_1, network_4, network_32)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14 FROM waiting
  WHERE of_1 * 32 < free AND of_4 * 32 < free * 4 AND of_32 * 32 < free * 32
  ON CONFLICT (user_code) DO NOTHING`;

const FIND = `SELECT ${DEVICE_REQUEST.names} FROM device_request WHERE user_code = $1 AND expires_at > $2`;

/** If the row has this attempt, its earlier try made the decision. */
const DECIDE = `
  UPDATE device_request SET decision = $3, attempt = $4
  WHERE user_code = $1 AND (decision IS NOT DISTINCT FROM $2 OR attempt = $4)`;

const PACE = 'UPDATE device_request SET polled_at = $2, interval_s = $3 WHERE user_code = $1';

/** Implements the port for device requests. */
export function deviceRequestStore(database: Database): DeviceRequestStore {
  return {
    async addDeviceRequest({ request, decision, pace }, networks, now) {
      const row = { ...request, decision, polledAt: pace.polledAt, intervalS: pace.interval };
      await database.change(FORGET_EXPIRED, [now, EXPIRED_AT_ONCE]);
      const own = WEIGHTS.map((weight) => networks.find((network) => network.weight === weight)?.key ?? null);
      return (await database.change(ADD, [...DEVICE_REQUEST.values(row), ...own, MAX_DEVICES_WAITING])) === 1;
    },
    async findDeviceRequest(userCode, now) {
      const [found] = await database.tuples(FIND, [userCode, now]);
      if (!found) return null;
      const { decision, polledAt, intervalS: interval, ...request } = DEVICE_REQUEST.read(found);
      return { request, decision, pace: { polledAt, interval } };
    },
    async decideDeviceRequest(userCode, from, to) {
      return (await database.change(DECIDE, [userCode, from, to, randomUUID()])) === 1;
    },
    async paceDeviceRequest(userCode, { polledAt, interval }) {
      await database.change(PACE, [userCode, polledAt, interval]);
    },
  };
}
