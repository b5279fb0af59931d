import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import {
  DEVICE_CODE_LIFETIME,
  type DeviceCode,
  type DevicePollDecision,
  decideDevicePoll,
  isDeviceCodeExpired,
  MAX_DEVICES_WAITING,
  mayWait,
  newDeviceRequest,
  POLL_INTERVAL,
  type PollPace,
  parseUserCode,
  pollAt,
  readableUserCode,
  readDeviceCode,
} from '../../src/oauth/device/device-authorization.ts';
import { DEVICE_GRANT_TYPE } from '../../src/oauth/grants/device-grant.ts';
import type { Grant, GrantInContext, Standing } from '../../src/oauth/grants/grant.ts';
import {
  activeGrant,
  assertRefusal,
  badStandings,
  DAY,
  inContext,
  issuedGrant,
  keyring,
  lifetimes,
  NOW,
  otherKeyring,
  PREFIX,
  rotatedKeyring,
} from './samples.ts';

const asked = { clientId: 'app_one', scope: ['read'], resource: null, resourceIsDefault: false };
const { request, deviceCode } = newDeviceRequest(keyring, PREFIX, asked, NOW);
const code = readDeviceCode(keyring, PREFIX, deviceCode) ?? assert.fail();

test('RFC 8628 §3.2: the two codes are for one request, which lives as long as both', () => {
  assert.deepEqual(
    { ...request, userCode: '', grantId: '', codeChallenge: '' },
    {
      ...asked,
      userCode: '',
      grantId: '',
      codeChallenge: '',
      expiresAt: NOW + DEVICE_CODE_LIFETIME * 1000,
    },
  );
  const { verifier, ...rest } = code;
  const { userCode, grantId, clientId, expiresAt } = request;
  assert.deepEqual(rest, { userCode, grantId, clientId, expiresAt });
  assert.equal(hash('sha256', verifier, 'base64url'), request.codeChallenge);
});

test('RFC 8628 §6.1, RFC 6749 §10.10: a user code has eight letters of twenty, with no vowel, and 34 random bits', () => {
  const codes = Array.from({ length: 4000 }, () => newDeviceRequest(keyring, PREFIX, asked, NOW).request.userCode);
  for (const each of codes) assert.match(each, /^[BCDFGHJKLMNPQRSTVWXZ]{8}$/);
  assert.ok(new Set(codes).size >= 3999);
  for (let at = 0; at < 8; at += 1) assert.equal(new Set(codes.map((each) => each[at])).size, 20, `letter ${at}`);
});

test('RFC 8628 §5.2: a device code is printable and cannot be guessed or read', () => {
  assert.match(deviceCode, /^vk_dc_[A-Za-z0-9_-]{150,}$/);
  const parts = [request.userCode, code.verifier, request.clientId, request.grantId.toString('base64url')];
  for (const part of parts) assert.ok(!Buffer.from(deviceCode.slice(6), 'base64url').toString('latin1').includes(part));
  const codes = Array.from({ length: 500 }, () => newDeviceRequest(keyring, PREFIX, asked, NOW));
  const [texts, challenges] = [codes.map((each) => each.deviceCode), codes.map((each) => each.request.codeChallenge)];
  for (const each of [texts, challenges]) assert.equal(new Set(each).size, 500);
});

test('RFC 8628 §3.4: what is no device code of this service is none', () => {
  const { length } = deviceCode;
  const wrong = [
    '',
    'vk_dc_',
    deviceCode.slice(6),
    `${deviceCode} `,
    `${deviceCode}\n`,
    deviceCode.slice(0, -1),
    deviceCode.replace('vk_dc_', 'vk_rt_'),
    deviceCode.toLowerCase(),
    'x'.repeat(1e6),
    ...Array.from(
      { length },
      (_, at) => deviceCode.slice(0, at) + (deviceCode[at] === 'A' ? 'B' : 'A') + deviceCode.slice(at + 1),
    ),
  ];
  for (const text of wrong) assert.equal(readDeviceCode(keyring, PREFIX, text), null, text.slice(0, 100));
  assert.equal(readDeviceCode(keyring, 'vx', deviceCode), null);
  assert.equal(readDeviceCode(otherKeyring, PREFIX, deviceCode), null);
  assert.deepEqual(readDeviceCode(rotatedKeyring, PREFIX, deviceCode), code, 'after a key rotation it still is');
});

const typed: [string, string | null][] = [
  ['BCDFGHJK', 'BCDFGHJK'],
  ['BCDF-GHJK', 'BCDFGHJK'],
  ['bcdf-ghjk', 'BCDFGHJK'],
  [' b c d f  g h j k ', 'BCDFGHJK'],
  ['BCDF_GHJK', 'BCDFGHJK'],
  ['B.C.D.F.G.H.J.K', 'BCDFGHJK'],
  ['BCDF\u00a0GHJK\n', 'BCDFGHJK'],
  ['“BCDF—GHJK”', 'BCDFGHJK'],
  ['\u200eBCDF\u2011GHJK\u200f', 'BCDFGHJK'],
  ['(BCDF+GHJK)\0', 'BCDFGHJK'],
  ['A0BCDFGHJK', 'BCDFGHJK'],
  [`${' '.repeat(50)}BCDFGHJK`, 'BCDFGHJK'],
  ['BCDFGHJ', null],
  ['BCDFGHJKL', null],
  ['ABCDFGHJ', null],
  ['BCDFGHJ0', null],
  ['ſBCDFGHJ', null],
  ['ＢＣＤＦＧＨＪＫ', null],
  ['', null],
  ['-', null],
];
for (const [text, expected] of typed) {
  test(`RFC 8628 §6.1: typed ${JSON.stringify(text.slice(0, 30))}, ${expected ? 'read' : 'it can be no code'}`, () => {
    assert.equal(parseUserCode(text), expected);
  });
}

test('RFC 8628 §6.1: a code is shown in two groups, and is read as it is shown', () => {
  assert.equal(readableUserCode('BCDFGHJK'), 'BCDF-GHJK');
  assert.equal(parseUserCode(readableUserCode(request.userCode)), request.userCode);
});

/** The grant that Allow made, and the same once it was redeemed. */
const allowed: Grant = {
  ...issuedGrant,
  id: request.grantId,
  redirectUri: DEVICE_GRANT_TYPE,
  codeChallenge: request.codeChallenge,
  expiresAt: request.expiresAt,
};
const redeemed: Partial<Grant> = {
  ...activeGrant,
  id: request.grantId,
  generation: 1,
  usedGeneration: 0,
  codeChallenge: request.codeChallenge,
};
const WINDOW = 60;

type Case = {
  grant?: Partial<Grant>;
  standing?: Partial<Standing>;
  presented?: Partial<DeviceCode>;
  window?: number;
  /** Seconds since Allow. */
  after?: number;
};

function decide({
  grant = {},
  standing = {},
  presented = {},
  window = WINDOW,
  after = 0,
}: Case = {}): DevicePollDecision {
  const found: GrantInContext = inContext({ ...allowed, ...grant }, standing);
  const deviceCode = { ...code, ...presented };
  return decideDevicePoll({ keyring, lifetimes, deviceCode, found, retryWindow: window, now: NOW + after * 1000 });
}

test('RFC 8628 §3.5: the first poll after Allow redeems, with the newest key', () => {
  const decision = decideDevicePoll({
    keyring: rotatedKeyring,
    lifetimes,
    deviceCode: code,
    found: inContext(allowed),
    retryWindow: WINDOW,
    now: NOW + 5000,
  });
  assert.deepEqual(decision, {
    grant: allowed,
    redeem: {
      grantId: request.grantId,
      generation: 1,
      keyId: rotatedKeyring.currentKeyId,
      rotatedAt: NOW + 5000,
      accessTokenExpiresAt: NOW + 5000 + 1_800_000,
      expiresAt: NOW + 5000 + 30 * DAY * 1000,
    },
  });
});

test('RFC 8628 §3.5: until the device code expires, and not a moment longer', () => {
  assert.ok('redeem' in decide({ after: DEVICE_CODE_LIFETIME - 0.001 }));
  for (const after of [DEVICE_CODE_LIFETIME, DEVICE_CODE_LIFETIME + 1, 1e6])
    assertRefusal(decide({ after }), 'expired_token', /expired/);
});

test('RFC 8628 §3.5: after a step of the clock back nobody redeems later than the device code allows', () => {
  assert.ok('redeem' in decide({ after: -60 }));
  for (const after of [-60.001, -3600]) assertRefusal(decide({ after }), 'expired_token', /expired/);
  for (const [ahead, isExpired] of [
    [0, true],
    [1, false],
    [DEVICE_CODE_LIFETIME + 60, false],
    [DEVICE_CODE_LIFETIME + 61, true],
  ] as const)
    assert.equal(isDeviceCodeExpired(NOW + ahead * 1000, NOW), isExpired, `${ahead} s ahead`);
});

test('promise 3: after a step of the clock back a redeemed device code gets no pair, and ends nothing', () => {
  for (const grant of [redeemed, { ...redeemed, usedGeneration: 1 }, { ...redeemed, generation: 2 }])
    for (const window of [0, WINDOW])
      assertRefusal(decide({ grant, window, after: -2.001 }), 'invalid_grant', /clock stepped back/);
});

test('promise 3: a lost answer costs nothing while the pair is unused: within the window it is the same pair', () => {
  const { generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt } = { ...allowed, ...redeemed };
  const again = { grantId: request.grantId, generation, keyId, rotatedAt, accessTokenExpiresAt, expiresAt };
  for (const after of [0, 5, WINDOW - 0.001])
    assert.deepEqual(decide({ grant: redeemed, after }), { grant: { ...allowed, ...redeemed }, again });
});

const replays: [string, Case][] = [
  ['after the window', { grant: redeemed, after: WINDOW }],
  ['long after the device code expired', { grant: redeemed, after: 20 * DAY }],
  ['once the pair was used', { grant: { ...redeemed, usedGeneration: 1 }, after: 1 }],
  ['once the pair was refreshed', { grant: { ...redeemed, generation: 2 }, after: 1 }],
  ['at once, where no window is allowed', { grant: redeemed, window: 0 }],
  ['where no window is allowed, by a clock that is two seconds behind', { grant: redeemed, window: 0, after: -2 }],
];
for (const [name, given] of replays) {
  test(`RFC 8628 §3.5: a device code that was redeemed is a replay and ends the grant: ${name}`, () => {
    const decision = decide(given);
    assert.ok('revoke' in decision, JSON.stringify(decision));
    assert.equal(decision.revoke, 'code_replay');
    assertRefusal(decision.refusal, 'invalid_grant', /already redeemed/);
  });
}

const foreign: [string, Case][] = [
  ['another client’s grant', { grant: { clientId: 'app_two' } }],
  ['a code of another client', { presented: { clientId: 'app_two' } }],
  ['another verifier', { presented: { verifier: 'x'.repeat(43) } }],
  ['a grant with another challenge', { grant: { codeChallenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' } }],
  ['a grant without a challenge', { grant: { codeChallenge: null } }],
];
for (const [name, given] of foreign) {
  test(`RFC 8628 §5.2: ${name} is refused, and redeems, tells and revokes nothing`, () => {
    for (const state of [{}, redeemed])
      for (const after of [0, 3600]) {
        const decision = decide({ ...given, after, grant: { ...state, ...given.grant } });
        assertRefusal(decision, 'invalid_grant', /not the one/);
      }
  });
}

for (const { name, grant, standing, detail } of badStandings) {
  test(`promise 2: a poll for a grant is refused, before and after its redemption: ${name}`, () => {
    for (const state of [{}, redeemed])
      for (const after of [0, 3600])
        assertRefusal(
          decide({ grant: { ...state, ...grant }, standing: standing ?? {}, after }),
          'invalid_grant',
          detail,
        );
  });
}

const paces: [PollPace, seconds: number, isTooFast: boolean, interval: number][] = [
  [{ polledAt: 0, interval: 5 }, 0, false, 5],
  [{ polledAt: NOW, interval: 5 }, 5, false, 5],
  [{ polledAt: NOW, interval: 5 }, 4.5, false, 5],
  [{ polledAt: NOW, interval: 5 }, 4.499, true, 10],
  [{ polledAt: NOW, interval: 5 }, 0, true, 10],
  [{ polledAt: NOW, interval: 10 }, 9, true, 15],
  [{ polledAt: NOW, interval: 10 }, 9.5, false, 10],
  [{ polledAt: NOW, interval: 5 }, -3600, true, 10],
];
for (const [pace, seconds, isTooFast, interval] of paces) {
  test(`RFC 8628 §3.5: at a pace of ${pace.interval} s, ${pace.polledAt ? `a poll ${seconds} s after the last` : 'the first poll'} is ${isTooFast ? 'too fast' : 'in time'}`, () => {
    const now = NOW + seconds * 1000;
    assert.deepEqual(pollAt(pace, now), { isTooFast, pace: { polledAt: now, interval } });
  });
}

test('RFC 8628 §3.5: each poll that is too fast makes the pace five seconds slower, for good', () => {
  let pace: PollPace = { polledAt: 0, interval: POLL_INTERVAL };
  for (let n = 0; n < 10; n += 1) ({ pace } = pollAt(pace, NOW + n));
  assert.equal(pace.interval, POLL_INTERVAL + 9 * 5);
  assert.equal(pollAt(pace, NOW + 60_000).pace.interval, pace.interval);
});

test('design: one network alone takes as many places as it leaves free, and lighter ones less by their weight', () => {
  for (const [weight, most] of [
    [32, 5000],
    [4, 1112],
    [1, 304],
  ] as const) {
    let waiting = 0;
    while (mayWait(waiting, weight, MAX_DEVICES_WAITING - waiting)) waiting += 1;
    assert.equal(waiting, most);
    assert.ok(mayWait(0, 1, MAX_DEVICES_WAITING - waiting));
  }
  for (const sources of [100, 1000, 5000]) {
    let waiting = 0;
    while (mayWait(waiting, 1, MAX_DEVICES_WAITING - sources * waiting)) waiting += 1;
    assert.ok(sources * (waiting - 1) < MAX_DEVICES_WAITING, `${sources} addresses leave places for one more`);
    assert.ok(sources > 100 || MAX_DEVICES_WAITING - sources * waiting > 2000, 'and a hundred a fifth of them');
  }
  assert.equal(mayWait(0, 32, 0), false);
  assert.equal(mayWait(0, 1, 1), true, 'the last place is for whoever has none');
});
