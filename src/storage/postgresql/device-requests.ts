/**
 * What devices ask for while they wait, for all instances. The table is bounded and outside the server's log: a crash of
 * the server costs a waiting device a new code. What somebody allowed is a grant, and on disk.
 */
import type { DeviceDecision, WaitingDevice } from '../../oauth/device-authorization.ts';
import { grantIdText, parseGrantId } from '../../oauth/grant.ts';
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

/** Requests at the same moment may each be the last one, so that a few more than this can wait. */
const MOST_WAITING = 10_000;
/** So many that have expired go with each one that comes. */
const EXPIRED_AT_ONCE = 64;

const COLUMNS =
  'user_code, grant_id, client_id, scope, resource, code_challenge, expires_at, decision, polled_at, interval_s';

const FORGET_EXPIRED = `
  DELETE FROM device_request WHERE user_code IN (
    SELECT user_code FROM device_request WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED)`;

const ADD = `
  INSERT INTO device_request (${COLUMNS}) SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9, $10
  WHERE (SELECT count(*) FROM device_request) < $11
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
    async addDeviceRequest(waiting, now) {
      await database.change(FORGET_EXPIRED, [now, EXPIRED_AT_ONCE]);
      return (await database.change(ADD, [...values(waiting), MOST_WAITING])) === 1;
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
