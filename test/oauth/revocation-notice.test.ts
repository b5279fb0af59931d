/** What ends access is told, and what does not is not: each act is sorted on purpose. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AccountPace } from '../../src/accounts/guessing/account-pace.ts';
import { GuessBudget } from '../../src/accounts/guessing/guess-budget.ts';
import { Throttle } from '../../src/accounts/guessing/throttle.ts';
import { PasswordHasher } from '../../src/accounts/passwords/password-hash.ts';
import { newSignInTally } from '../../src/accounts/providers/sign-in-tally.ts';
import { Accounts } from '../../src/accounts/sign-in/accounts.ts';
import { KnownBrowsers } from '../../src/accounts/sign-in/known-browser.ts';
import { SignInFloor } from '../../src/accounts/sign-in/sign-in-floor.ts';
import { WrongSignIns } from '../../src/accounts/sign-in/wrong-sign-ins.ts';
import { GrantRegistry } from '../../src/oauth/connected-apps/grant-registry.ts';
import { grantIdText } from '../../src/oauth/grants/grant.ts';
import type { GrantedAccess } from '../../src/oauth/grants/granted-access.ts';
import {
  noticeFor,
  type RevocationNotice,
  revocationNotice,
} from '../../src/oauth/resource-servers/revocation-notice.ts';
import type { IssuedTokens } from '../../src/oauth/tokens/token-pair.ts';
import type { AuditAction } from '../../src/oauth/trail/audit.ts';
import { ClientRegistry } from '../../src/operator/apps/client-registry.ts';
import { event, operator, recorded, sampleResourceServer } from '../support/storage.ts';
import { ada } from './memory.ts';
import { asOne, assertGood, exchange, obtainCode, one, origin, type Protocol, setUp } from './protocol.ts';
import { assertRefusal, keyring, PREFIX } from './samples.ts';

const about = { grantId: 'g', clientId: 'c', resourceOwnerId: 'r' };

/** What is told of an event that names a grant, a client and a resource owner. A new act has to be sorted here. */
const told: Record<AuditAction, RevocationNotice | null> = {
  consent_allowed: null,
  consent_denied: null,
  consent_remembered: null,
  consent_skipped: null,
  grant_revoked: { grantId: 'g' },
  code_replay: { grantId: 'g' },
  refresh_reuse: { grantId: 'g' },
  refresh_conflict: { grantId: 'g' },
  too_many_grants: { grantId: 'g' },
  all_grants_revoked: {},
  client_registered: null,
  client_updated: { clientId: 'c' },
  client_document_refreshed: null,
  client_keys_refreshed: null,
  client_secret_rotated: null,
  client_secret_retired: null,
  client_paused: { clientId: 'c' },
  client_resumed: null,
  client_grants_revoked: { clientId: 'c' },
  client_deleted: { clientId: 'c' },
  resource_server_registered: null,
  resource_server_updated: {},
  hand_over_made: null,
  hand_over_fetched: null,
  hand_over_ended: null,
  resource_server_secret_rotated: null,
  resource_server_secret_retired: {},
  resource_server_deleted: {},
  scope_defined: null,
  scope_deleted: null,
  sign_in: null,
  sign_out: null,
  wrong_sign_ins: null,
  user_added: null,
  user_imported: null,
  user_updated: { resourceOwnerId: 'r' },
  user_password_set: null,
  user_invited: null,
  password_set_by_invitation: null,
  password_changed: null,
  user_disabled: { resourceOwnerId: 'r' },
  user_enabled: null,
  user_sessions_ended: null,
  user_grants_revoked: { resourceOwnerId: 'r' },
  user_deleted: { resourceOwnerId: 'r' },
  user_linked: null,
  identity_provider_registered: null,
  identity_provider_updated: null,
  identity_provider_secret_rotated: null,
  identity_provider_secret_retired: null,
  identity_provider_paused: null,
  identity_provider_resumed: null,
  identity_provider_deleted: null,
  identity_provider_all_ended: null,
  sign_in_refused: null,
  sign_in_request_conflict: null,
  root_key_used: null,
  root_key_retired: null,
  signing_keys_made: null,
  signing_keys_turned: null,
  signing_keys_replaced: null,
  audit_checkpoint: null,
  audit_shortened: null,
  database_backed_up: null,
  database_restored: {},
  operator_added: null,
  operator_updated: null,
  operator_disabled: null,
  operator_enabled: null,
  operator_deleted: null,
  operator_reset: null,
  operator_sign_in_address_made: null,
  operator_passkey_added: null,
  operator_passkey_removed: null,
  operator_signed_in: null,
  operator_confirmed: null,
  operator_signed_out: null,
  operator_sessions_ended: null,
  operator_key_added: null,
  operator_key_ended: null,
  operator_refused: null,
};
for (const [action, notice] of Object.entries(told) as [AuditAction, RevocationNotice | null][]) {
  test(`interface: ${action} ${notice ? `is told as ${JSON.stringify(notice)}` : 'ends no access and is not told'}`, () => {
    assert.deepEqual(revocationNotice(recorded(event(action, about))), notice);
  });

  test(`design: ${action} that names nobody ${notice ? 'is told as the end of everything, and never kept quiet' : 'is not told either'}`, () => {
    assert.deepEqual(revocationNotice(recorded(event(action))), notice && {});
  });
}

test('interface: all grants of one person for one app end in one notice that both must match', () => {
  const notice = revocationNotice(recorded(event('grant_revoked', { ...about, grantId: null })));
  assert.deepEqual(notice, { clientId: 'c', resourceOwnerId: 'r' });
  for (const one of [{ clientId: 'c' }, { resourceOwnerId: 'r' }])
    assert.deepEqual(
      revocationNotice(recorded(event('grant_revoked', one))),
      {},
      'half of it is not enough to be told less',
    );
});

const letters = 'https://letters.test';
const ENDED: Record<string, [access: object[], others: object, isTold: boolean]> = {
  'for its resource and a scope that it may see': [[{ resource: letters, scope: 'read write' }], {}, true],
  'for any resource': [[{ resource: null, scope: 'read' }], { acceptsUnbound: true }, true],
  'for any resource, where it takes only its own': [[{ resource: null, scope: 'read' }], {}, false],
  'for another resource': [[{ resource: 'https://mail.test', scope: 'read' }], {}, false],
  'for a resource, where it has none': [[{ resource: letters, scope: 'read' }], { resource: null }, false],
  'without a scope that it may see': [[{ resource: letters, scope: 'write' }], {}, false],
  'without any scope': [[{ resource: letters, scope: '' }], {}, false],
  'without any scope, where it sees all': [[{ resource: letters, scope: '' }], { scopes: null }, true],
  'for another resource with its scope, and for its own without': [
    [
      { resource: 'https://mail.test', scope: 'read' },
      { resource: letters, scope: 'write' },
    ],
    {},
    false,
  ],
  'of which one is for it': [
    [
      { resource: 'https://mail.test', scope: 'read' },
      { resource: letters, scope: 'write read' },
    ],
    {},
    true,
  ],
};
for (const [what, [access, others, isTold]] of Object.entries(ENDED))
  test(`RFC 7662 §4, interface: the end of grants ${what} is ${isTold ? '' : 'not '}told to a resource server`, () => {
    const resourceServer = sampleResourceServer({ resource: letters, scopes: ['read'], ...others });
    const endedAccess = access as GrantedAccess[];
    for (const whose of [about, { ...about, grantId: null }]) {
      const ended = { ...recorded(event('grant_revoked', whose)), endedAccess };
      assert.deepEqual(noticeFor(ended, resourceServer), isTold ? revocationNotice(ended) : null);
      assert.deepEqual(noticeFor(ended, null), {}, 'to one that is not known yet nothing is named');
      assert.deepEqual(noticeFor({ ...ended, endedAccess: null }, resourceServer), {}, 'nor where it is not recorded');
    }
    for (const action of ['client_paused', 'user_disabled', 'all_grants_revoked'] as const) {
      const ended = recorded(event(action, about));
      assert.deepEqual(noticeFor(ended, resourceServer), revocationNotice(ended), 'all are told');
    }
  });

function registriesOn({ store, clock }: Protocol) {
  const parts = { store, keyring, prefix: PREFIX, now: () => clock.now };
  const throttle = new Throttle({ count: 5, seconds: 60 });
  const pace = new AccountPace({
    often: throttle,
    seldom: throttle,
    accountAndNetwork: throttle,
    now: parts.now,
    later: () => () => {},
  });
  const knownBrowsers = new KnownBrowsers(keyring, { knownBrowsers: throttle, knownBrowserFailures: throttle });
  const budget = new GuessBudget({ accountAndSource: throttle, source: throttle });
  const hasher = new PasswordHasher(keyring);
  return {
    grants: new GrantRegistry(store, parts.now),
    clients: new ClientRegistry({ ...parts, accessTokenLifetime: 1800 }),
    accounts: new Accounts({
      ...parts,
      hasher,
      budget,
      pace,
      knownBrowsers,
      floor: new SignInFloor({ store, hasher, stopwatch: () => 0, later: () => () => {} }),
      wrongSignIns: new WrongSignIns(store, parts.now),
      signIns: newSignInTally(),
      signInThrottle: throttle,
      methods: ['password'],
      guessable: [],
    }),
  };
}

type Given = Protocol & {
  readonly registries: ReturnType<typeof registriesOn>;
  readonly grantId: string;
  readonly pair: IssuedTokens;
  readonly code: string;
};
const user = { kind: 'user', id: ada.id, ...origin } as const;
const acts: Record<string, (given: Given) => Promise<unknown>> = {
  'the app gives the token back': ({ server, pair }) => server.revoke(asOne, pair.refreshToken, origin),
  'the code is replayed': ({ server, code }) => server.exchangeAuthorizationCode(asOne, code, exchange, origin),
  'a refresh token is reused': async ({ server, pair, clock }) => {
    const asked = { scope: undefined, resources: [] };
    await server.refresh(asOne, pair.refreshToken, asked, origin);
    clock.now += 601_000;
    await server.refresh(asOne, pair.refreshToken, asked, origin);
  },
  'the user disconnects the app': ({ registries }) => registries.grants.disconnect(ada.id, one.id, user),
  'the operator revokes the grant': ({ registries, grantId }) =>
    registries.grants.revoke(grantId.toUpperCase(), operator),
  'the operator revokes all grants': ({ registries }) => registries.grants.revokeAll(operator),
  'the operator revokes the client’s grants': ({ registries }) => registries.clients.revokeGrants(one.id, operator),
  'the operator pauses the client': ({ registries }) => registries.clients.pause(one.id, operator),
  'the operator deletes the client': ({ registries }) => registries.clients.delete(one.id, operator),
  'the operator revokes the user’s grants': ({ registries }) => registries.accounts.revokeGrants(ada.email, operator),
  'the operator disables the user': ({ registries }) => registries.accounts.disable(ada.email, operator),
  'the operator deletes the user': ({ registries }) => registries.accounts.delete(ada.email, operator),
};
for (const [what, act] of Object.entries(acts)) {
  test(`interface: when ${what}, the token is refused and a notice that fits it is in the trail`, async (context) => {
    const protocol = await setUp(context);
    const code = await obtainCode(protocol);
    const pair = assertGood(await protocol.server.exchangeAuthorizationCode(asOne, code, exchange, origin));
    const [listed] = await protocol.store.listGrants({ limit: 1 });
    const grantId = grantIdText(listed?.grant.id ?? assert.fail());
    const before = await protocol.store.lastAuditSequence();
    await act({ ...protocol, registries: registriesOn(protocol), grantId, pair, code });
    assertRefusal(
      await protocol.server.checkAccessToken(pair.accessToken),
      'invalid_token',
      /revoked|paused|disabled|no such/,
    );
    const events = await protocol.store.listAuditEventsAfter(before, 100);
    const concerned = sampleResourceServer({ resource: null, scopes: null });
    const notices = events.map((each) => noticeFor(each, concerned));
    const fits = (notice: RevocationNotice | null) =>
      notice !== null &&
      (notice.grantId ?? grantId) === grantId &&
      (notice.clientId ?? one.id) === one.id &&
      (notice.resourceOwnerId ?? ada.id) === ada.id;
    assert.equal(notices.filter(fits).length, 1, JSON.stringify(notices));
    const other = sampleResourceServer({ resource: null, scopes: ['of-another'] });
    const named = events.map((each) => noticeFor(each, other)).flatMap((notice) => Object.keys(notice ?? {}));
    assert.ok(!named.includes('grantId') && named.length < 2, 'no other resource server learns of the grant');
  });
}
