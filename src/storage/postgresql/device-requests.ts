/**
 * What devices ask for while they wait, for all instances. The table is bounded and outside the server's log: a crash of
 * the server costs a waiting device a new code. What somebody allowed is a grant, and on disk.
 */
import { type DeviceDecision, MAX_DEVICES_WAITING, type WaitingDevice } from '../../oauth/device-authorization.ts';
import { grantIdText, parseGrantId } from '../../oauth/grant.ts';
import { WEIGHTS } from '../../oauth/networks.ts';
import type { DeviceRequestStore } from '../../oauth/store.ts';
import { newAttempt } from './attempts.ts';
import type { Database } from './database.ts';

type DeviceRequestRow = {
  readonly user_code: string;
  readonly grant_id: string;
  readonly client_id: string;
  readonly scope: string;
  readonly resource: string | null;
  readonly code_challenge: string;
  readonly expires_at: number;
  readonly decision: DeviceDecision;
  readonly polled_at: number;
  readonly interval_s: number;
};

/** So many that have expired go with each one that comes. */
const EXPIRED_AT_ONCE = 64;

const COLUMNS =
  'user_code, grant_id, client_id, scope, resource, code_challenge, expires_at, decision, polled_at, interval_s';

const FORGET_EXPIRED = `
  DELETE FROM device_request WHERE user_code IN (
    SELECT user_code FROM device_request WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`;

/** `mayWait`, for the network of each weight; who has none of a weight is held up by none. */
const ADD = `
  WITH waiting AS (
    SELECT $14 - (SELECT count(*) FROM device_request) AS free,
      (SELECT count(*) FROM device_request WHERE network_1 = $11) AS of_1,
      (SELECT count(*) FROM device_request WHERE network_4 = $12) AS of_4,
      (SELECT count(*) FROM device_request WHERE network_32 = $13) AS of_32)
  INSERT INTO device_request (${COLUMNS}, network_1, network_4, network_32)
  SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13 FROM waiting
  WHERE of_1 * 32 < free AND of_4 * 32 < free * 4 AND of_32 * 32 < free * 32
  ON CONFLICT (user_code) DO NOTHING`;

const FIND = `SELECT ${COLUMNS} FROM device_request WHERE user_code = $1 AND expires_at > $2`;

/** Who comes again with the attempt that decided, decided. */
const DECIDE = `
  UPDATE device_request SET decision = $3, attempt = $4
  WHERE user_code = $1 AND (decision IS NOT DISTINCT FROM $2 OR attempt = $4)`;

const PACE = 'UPDATE device_request SET polled_at = $2, interval_s = $3 WHERE user_code = $1';

/** The port's device requests. */
export function deviceRequestStore(database: Database): DeviceRequestStore {
  return {
    async addDeviceRequest(waiting, networks, now) {
      await database.change(FORGET_EXPIRED, [now, EXPIRED_AT_ONCE]);
      const own = WEIGHTS.map((weight) => networks.find((network) => network.weight === weight)?.key ?? null);
      return (await database.change(ADD, [...values(waiting), ...own, MAX_DEVICES_WAITING])) === 1;
    },
    async findDeviceRequest(userCode, now) {
      const row = await database.one<DeviceRequestRow>(FIND, [userCode, now]);
      return row ? asWaitingDevice(row) : null;
    },
    async decideDeviceRequest(userCode, from, to) {
      return (await database.change(DECIDE, [userCode, from, to, newAttempt()])) === 1;
    },
    async paceDeviceRequest(userCode, { polledAt, interval }) {
      await database.change(PACE, [userCode, polledAt, interval]);
    },
  };
}

function values({ request, decision, pace }: WaitingDevice): unknown[] {
  return [
    request.userCode,
    grantIdText(request.grantId),
    request.clientId,
    JSON.stringify(request.scope),
    request.resource,
    request.codeChallenge,
    request.expiresAt,
    decision,
    pace.polledAt,
    pace.interval,
  ];
}

function asWaitingDevice(row: DeviceRequestRow): WaitingDevice {
  return {
    request: {
      userCode: row.user_code,
      grantId: parseGrantId(row.grant_id) as Buffer,
      clientId: row.client_id,
      scope: JSON.parse(row.scope) as string[],
      resource: row.resource,
      codeChallenge: row.code_challenge,
      expiresAt: row.expires_at,
    },
    decision: row.decision,
    pace: { polledAt: row.polled_at, interval: row.interval_s },
  };
}
