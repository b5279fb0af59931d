/** The guards of signing in with OpenID Connect. */
import { type Guard, guardsIn } from './guard.ts';

const ON_THE_WIRE = ['test/http/browser/openid.test.ts'];
const REGISTRY = ['test/operator/client-registry.test.ts'];
const STORES = ['test/storage/sqlite.test.ts'];

/** Guards of signing in. */
export const openIdGuards: readonly Guard[] = [
  ...guardsIn('src/oauth/openid/openid-scope.ts', ON_THE_WIRE, [
    ['an app without the switch signs nobody in', 'return signIn && scopeNames', 'return scopeNames'],
    ['a request without openid is one as before', "signIn && scopeNames(requested ?? '').includes('openid')", 'signIn'],
    [
      'a field that the operator did not choose is not asked for',
      'personFields.filter((field) => asked.includes(field))',
      'asked',
    ],
    [
      'a field that no scope asks for is not given',
      'personFields.filter((field) => asked.includes(field))',
      'personFields',
    ],
  ]),
  ...guardsIn(
    'src/oauth/openid/openid-scope.ts',
    ['test/http/provider/openid.test.ts'],
    [['a field that was not allowed is no claim', 'visibleFields(owner, grant)', '(visibleFields, owner)']],
  ),
  ...guardsIn('src/oauth/openid/openid-request.ts', ON_THE_WIRE, [
    ['a nonce has 1 to 255 printable ASCII characters', '!NONCE.test', '(false as boolean) && !NONCE.test'],
    ['registration is refused', "if (parameters.get('registration') !== undefined)", 'if (false as boolean)'],
    ['response_mode is query', "?? 'query') === 'query'", "?? 'query') !== ''"],
  ]),
  ...guardsIn('src/oauth/protocol/authorization-request.ts', ON_THE_WIRE, [
    [
      'the published face signs nobody in',
      "if (face === 'published') return { isSignIn",
      "if (face === 'other' as string) return { isSignIn",
    ],
    [
      'a repeated nonce is refused by name',
      '[...STANDARD_PARAMETERS, ...OPENID_PARAMETERS] :',
      'STANDARD_PARAMETERS :',
    ],
    ['a consent form is bound to its nonce', 'openid ? [...asked, { nonce: openid.nonce }] : asked', 'asked'],
  ]),
  ...guardsIn('src/oauth/grants/scope.ts', ON_THE_WIRE, [
    ['APIs see no scope of a sign-in', 'filter((name) => !isSignInScope(name))', 'filter((name) => name)'],
    [
      'offline_access, address and phone are dropped',
      'isSignIn ? BESIDE_OPENID : OPENID_HABITS',
      'isSignIn ? [] : OPENID_HABITS',
    ],
  ]),
  ...guardsIn(
    'src/oauth/protocol/allow.ts',
    [...ON_THE_WIRE, 'test/http/provider/openid.test.ts'],
    [
      ['only a sign-in that nobody was asked about renews', "given !== 'allowed' && isSignInAlone", 'isSignInAlone'],
      ['only signing in alone renews', "given !== 'allowed' && isSignInAlone(scope)", "given !== 'allowed'"],
      ['a time that nobody said is not guessed', 'authTime === null ? {}', 'authTime === undefined ? {}'],
    ],
  ),
  ...guardsIn('src/oauth/resource-servers/resource-server.ts', ON_THE_WIRE, [
    [
      'a token for signing in alone is active nowhere',
      'access ? visibleScopes(resourceServer, access) : null',
      'access ? visibleScopes(resourceServer, access) : []',
    ],
  ]),
  ...guardsIn(
    'src/oauth/grants/granted-access.ts',
    [...ON_THE_WIRE, ...STORES],
    [
      ['a scope named openid without sign-in is a scope as any other', 'if (openid === null) return [access];', ''],
      ['no API hears of the end of a sign-in', 'grants.flatMap(accessForApis)', 'grants'],
    ],
  ),
  ...guardsIn('src/oauth/connected-apps/grant-registry.ts', ON_THE_WIRE, [
    ['consent to a sign-in alone is none to access', 'if (!summaries.some(counts)) return null;', ''],
    [
      'a scope that is only named openid is no consent to a sign-in',
      'signsIn === asksToSignIn ? scopeNames(scope) : withoutSignIn(scope)',
      'scopeNames(scope)',
    ],
  ]),
  ...guardsIn(
    'src/accounts/providers/external-return.ts',
    ['test/http/provider/openid.test.ts'],
    [['a time that was demanded is kept', 'laterOf({ authTime, amr }, before?.external ?? null)', '{ authTime, amr }']],
  ),
  ...guardsIn('src/http/api/standard.ts', ON_THE_WIRE, [
    ['signing in alone has no refresh token', 'result.isSignInAlone ? {} :', '(false as boolean) ? {} :'],
  ]),
  ...guardsIn('src/http/browser/authorize/posted-request.ts', ON_THE_WIRE, [
    ['a posted decision is no request', " || form.has('decision')", ''],
    ['a post of another app is refused as ever', "!asksToSignIn(client, form.get('scope'))", 'false'],
    ['an address has a maximum length', 'address.length > MAX_ADDRESS ? null : address', 'address'],
  ]),
  ...guardsIn('src/http/browser/authorize/authorize.ts', ON_THE_WIRE, [
    [
      'prompt=none answers the expected user alone',
      'if (wantsNoPage(outcome) && !(await',
      'if ((false as boolean) && !(await',
    ],
    ['a hint that is not for prompt=none is ignored', 'if (wantsNoPage(outcome) && !(await', 'if (!(await'],
  ]),
  ...guardsIn(
    'src/http/browser/authorize/authorize.ts',
    ['test/http/provider/openid.test.ts'],
    [
      [
        'a hint that is ignored is not carried',
        "withoutParameter(addressOf(request, outcome), 'id_token_hint')",
        'addressOf(request, outcome)',
      ],
    ],
  ),
  ...guardsIn('src/http/browser/authorize/permissions-on-pages.ts', ON_THE_WIRE, [
    ['a new sign-in counts as new', " || (signsIn && !granted.includes('openid'))", ''],
  ]),
  ...guardsIn('src/storage/tables/grants/grant-rows.ts', STORES, [
    [
      'a sign-in replaces what was redeemed before it alone',
      'earlier.generation > 0 AND earlier.rotated_at <= renewed.granted_at',
      'true',
    ],
    ['it replaces no access', 'AND earlier.openid IS NOT NULL', ''],
    ['it replaces none with another scope', 'AND earlier.scope = renewed.scope', ''],
    ['it replaces none where something else was left out', 'AND earlier.left_out = renewed.left_out', ''],
    ['it replaces none that ended before', 'AND ${hasItsEpochs((column) => `earlier.${column}`)}', ''],
    ['it replaces none with other profile fields', 'AND earlier.person_fields = renewed.person_fields', ''],
    ['it replaces none of another redirect URI', 'AND earlier.redirect_uri = renewed.redirect_uri', ''],
    ['it replaces none for another resource', 'AND earlier.resource IS NOT DISTINCT FROM renewed.resource', ''],
    ['it replaces none for a default resource', 'AND earlier.resource_is_default = renewed.resource_is_default', ''],
    ['it does not replace itself', 'earlier.id <> renewed.id AND', '', 'it was not redeemed before its Allow'],
  ]),
  ...guardsIn(
    'src/storage/postgresql/store/grants.ts',
    ['test/postgresql/conformance.test.ts'],
    [['a sign-in that is not redeemed replaces none', 'if (!redeemed) throw UNDONE;', '']],
  ),
  ...guardsIn('src/operator/apps/client-settings.ts', REGISTRY, [
    [
      'sign-in is refused beside a scope of its own',
      'scopes.find(({ name }) => isSignInScope(name))',
      'scopes.find(() => false)',
    ],
    ['sign-in is refused for a metadata document', 'if (documentSha256 !== null)', 'if (false as boolean)'],
  ]),
  ...guardsIn('src/operator/apps/client-update.ts', REGISTRY, [
    [
      'sign-in remembers consent',
      'before.signIn ? asked : { ...impliedBy(CLIENT_SETTINGS, asked), ...asked }',
      'asked',
    ],
    ['sign-in that was on before changes no consent', 'before.signIn ? asked : {', '{'],
  ]),
  ...guardsIn(
    'src/operator/fields/client-fields.ts',
    ['test/http/operator/api/writes.test.ts'],
    [
      ['to set sign-in needs clients.trust', "act: ['clients.set-sign-in', 'unless default'],", ''],
      [
        'sign-in remembers consent of a new app',
        "implies: { consent: 'remember' } satisfies Partial<ClientSettings>,",
        '',
      ],
    ],
  ),
];
