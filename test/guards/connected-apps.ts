/** The guards of what people see of their grants, and of the limit of one app. */
import { type Guard, guardsIn } from './guard.ts';

const REGISTRY_TESTS = ['test/oauth/grant-registry.test.ts'];
const STORE_TESTS = ['test/storage/sqlite.test.ts'];
const PAGE_TESTS = ['test/http/browser/connected-apps.test.ts'];

/** Guards of the page, of src/oauth and of the store. */
export const connectedAppsGuards: readonly Guard[] = [
  ...guardsIn('src/http/browser/account/account.ts', PAGE_TESTS, [
    [
      'apps are removed by our own page',
      "if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');",
      '',
    ],
    [
      'apps are removed by a form of this session, in time',
      "formOf(request).get('form_token')) !== 'good'",
      "formOf(request).get('form_token')) === undefined",
    ],
    [
      'the form of one app does not remove all',
      "if (sessions.checkForm(signedIn, 'account', subject,",
      "const token = formOf(request).get('form_token'); if (sessions.checkForm(signedIn, 'account', '', token) !== 'good' && sessions.checkForm(signedIn, 'account', subject,",
    ],
  ]),
  ...guardsIn(
    'src/pages/layout/layout.ts',
    ['test/pages/pages.test.ts'],
    [['the way back leads to a site, and runs nothing', 'address !== null && HTTP.test(address)', 'address !== null']],
  ),
  ...guardsIn('src/storage/sqlite/store/grants.ts', PAGE_TESTS, [
    [
      'removing an app, or all, ends the person’s own grants alone',
      'WHERE resource_owner_id = $2 AND client_id = $3 AND redirect_uri IS NOT $4',
      'WHERE length($2) > 0 AND client_id = $3 AND redirect_uri IS NOT $4',
    ],
  ]),
  ...guardsIn('src/oauth/connected-apps/grant-registry.ts', REGISTRY_TESTS, [
    [
      'nobody takes back what is another person’s',
      'if (grant?.resourceOwnerId !== resourceOwnerId || grant.clientId !== clientId) return null;',
      'if (!grant || grant.clientId !== clientId) return null;',
    ],
    [
      'a line is of the app that the form names',
      'if (grant?.resourceOwnerId !== resourceOwnerId || grant.clientId !== clientId) return null;',
      'if (grant?.resourceOwnerId !== resourceOwnerId) return null;',
    ],
    [
      'taking back what waited ends it alone, also when it was fetched meanwhile',
      "if (taken.isWaiting || kind !== 'app')",
      "if (kind !== 'app')",
    ],
    ['taking back a device ends it alone', "if (taken.isWaiting || kind !== 'app')", 'if (taken.isWaiting)'],
    [
      'devices are lines of their own',
      "return isRedeemed && lineKind(summary, hasDocument) === 'app' ? clientId : grantIdText(id);",
      'return isRedeemed ? clientId : grantIdText(id);',
    ],
    [
      'what was not redeemed is no consent',
      'summary.isRedeemed && summary.resource === resource',
      'summary.resource === resource',
    ],
  ]),
  ...guardsIn('src/oauth/connected-apps/grant-registry.ts', PAGE_TESTS, [
    [
      'installations of an agent are taken back one by one',
      "return hasDocument ? 'installation' : 'app';",
      "return hasDocument === null ? 'installation' : 'app';",
    ],
  ]),
  ...guardsIn('src/storage/tables/grants/grant-summaries.ts', PAGE_TESTS, [
    [
      'alike grants of an agent are not put together',
      'OR client.document_sha256 IS NOT NULL THEN oauth_grant.id',
      'THEN oauth_grant.id',
    ],
  ]),
  ...guardsIn('src/oauth/protocol/grant-limit.ts', STORE_TESTS, [
    [
      'one grant more than the limit ends another',
      "if (redemption === 'overLimit') await",
      "if (redemption === ('never' as never)) await",
    ],
    [
      'of equals those redeemed just now stay',
      'one.usedAt - other.usedAt || isNew(one) - isNew(other) || Buffer.compare(one.id, other.id)',
      'one.usedAt - other.usedAt || isNew(other) - isNew(one) || Buffer.compare(one.id, other.id)',
    ],
    ['the least recently used goes', 'one.usedAt - other.usedAt ||', 'other.usedAt - one.usedAt ||'],
    ['ended grants do not gather', 'await store.deleteEndedGrants(resourceOwnerId, clientId, now);', ''],
  ]),
  ...guardsIn('src/storage/tables/grants/grants.ts', STORE_TESTS, [
    [
      'a use that is not written yet counts on the page',
      'async summarizeGrants(resourceOwnerId, liveAt, clientId) { await marks.flush();',
      'async summarizeGrants(resourceOwnerId, liveAt, clientId) {',
    ],
    [
      'and for the limit',
      'async listActiveGrants(resourceOwnerId, clientId, liveAt) { await marks.flush();',
      'async listActiveGrants(resourceOwnerId, clientId, liveAt) {',
    ],
    ['what is not redeemed does not count', 'AND generation > 0 AND expires_at', 'AND expires_at'],
    [
      'a code that can still be redeemed is not deleted',
      'WHEN generation = 0 THEN expires_at <= $3',
      'WHEN generation = 0 THEN 0 <= $3',
    ],
  ]),
  ...guardsIn('src/storage/sqlite/store/grants.ts', STORE_TESTS, [
    [
      'an app is disconnected but for its devices',
      "which === 'all' ? null : DEVICE_GRANT_TYPE",
      'which === undefined ? DEVICE_GRANT_TYPE : null',
    ],
  ]),
];
