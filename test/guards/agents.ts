/** The guards of what agents and other modern clients do by habit. */
import { type Guard, guardsIn } from './guard.ts';

const KEY_TESTS = ['test/oauth/client-keys.test.ts', 'test/http/api/client-keys.test.ts'];

/** Guards of what agents do. */
export const agentsGuards: readonly Guard[] = [
  ...guardsIn(
    'src/oauth/clients/redirect-uri.ts',
    ['test/oauth/redirect-uri.test.ts'],
    [
      [
        'the port of localhost varies for public clients alone',
        "host === 'localhost' && type !== 'public' ? `:${port}` : ''",
        "''",
      ],
      ['a scheme that is somebody else’s is refused', 'if (refused !== null) return', 'if (false as boolean) return'],
      ['a slash is added on loopback alone', 'LOOPBACK.test(requested) && ', ''],
      ['an origin is an origin and no address', 'URL.parse(origin)?.origin !== origin', 'false'],
      ["scripts of confidential clients' origins are not let in", "type !== 'public' || URL", 'URL'],
    ],
  ),
  ...guardsIn(
    'src/http/checks/cross-origin.ts',
    ['test/http/cross-origin.test.ts'],
    [
      [
        "only a client's own pages read what its credentials brought",
        'if (client && isOriginOf(client, origin))',
        'if (client)',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/grants/scope.ts',
    ['test/http/api/client-habits.test.ts'],
    [
      ['no scope but those of habit is left out', '!dropped.includes(name) || ', ''],
      ['a registered name is no habit', ' || registered.some((scope) => scope.name === name)', ''],
    ],
  ),
  ...guardsIn(
    'src/http/api/metadata.ts',
    ['test/http/api/client-habits.test.ts'],
    [['no name of OpenID Connect is listed', '.filter((name) => !isOpenIdHabit(name))', '']],
  ),
  ...guardsIn(
    'src/http/api/metadata.ts',
    ['test/http/api/metadata.test.ts'],
    [['metadata documents are announced only while one is admitted', 'hasDocuments ? DOCUMENTS : {}', 'DOCUMENTS']],
  ),
  ...guardsIn(
    'src/storage/tables/registrations/clients.ts',
    ['test/http/api/metadata.test.ts'],
    [
      [
        'a paused client announces no metadata documents',
        "AND status = 'active' AND document_sha256",
        'AND document_sha256',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/protocol/authorization-request.ts',
    ['test/http/api/client-habits.test.ts'],
    [
      [
        'authorization details are not ignored',
        'return parameters.isSent(name) ? new',
        'return (false as boolean) ? new',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/protocol/authorization-request.ts',
    ['test/oauth/authorization-request.test.ts'],
    [
      [
        'an id that can be no document is not shown as one',
        "if (documentAddressProblem(id) !== null) return shownError('unknown_client'",
        "if (false as boolean) return shownError('unknown_client'",
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/apps/document-refresh.ts',
    ['test/cli/client-refresh.test.ts'],
    [
      ['another redirect host ends remembered consent', ' || hostsOf(before) !== hostsOf(owned)', ''],
      ['another method ends remembered consent', 'before.type !== owned.type || ', ''],
      [
        'another redirect host ends consent that is skipped',
        'consent: consentAfter(before, { ...before, ...owned }),',
        '',
      ],
      ['another redirect host ends vouching at a refresh', ' && !endsVouching(before, { ...before, ...owned })', ''],
    ],
  ),
  ...guardsIn(
    'src/operator/apps/client-update.ts',
    ['test/cli/client-refresh.test.ts'],
    [
      [
        'what a document owns is not changed by hand',
        'if (before.documentSha256 !== null && (given.redirectUris ?? given.keys))',
        'if (false as boolean)',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/apps/client-registry.ts',
    ['test/cli/client-refresh.test.ts'],
    [
      [
        'a client of a document gets no secret',
        'if (client.documentSha256 !== null) throw',
        'if (false as boolean) throw',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/registrations/clients.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'a refresh ends consent also where clocks differ',
        'remembersSince === expected.remembersSince ? [] : [{',
        'remembersSince !== Number.NaN ? [] : [{',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/registrations/clients.ts',
    ['test/cli/client-refresh.test.ts'],
    [
      [
        'a refresh asks again for what the document was compared with',
        'WHERE id = $1 AND ${OF_DOCUMENT.unchanged(2 + REFRESHED.columns.length)}',
        'WHERE id = $1 AND (${OF_DOCUMENT.unchanged(2 + REFRESHED.columns.length).replaceAll("AND", "OR")})',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/apps/client-documents.ts',
    ['test/cli/client-refresh.test.ts'],
    [['a document differs by its SHA-256 as well', ' || sha256 !== documentSha256', '']],
  ),
  ...guardsIn(
    'src/process/outbound.ts',
    ['test/process/outbound.test.ts'],
    [
      ['no address is asked that is not public', 'if (isPublic(plain)) return null;', 'if (plain) return null;'],
      ['every address of a name is judged', 'found.map((address) =>', 'found.slice(0, 1).map((address) =>'],
      [
        'IPv4 in NAT64 is judged as IPv4',
        '.match(WELL_KNOWN_NAT64, 96)',
        ".match(WELL_KNOWN_NAT64, 96) && range === 'unicast'",
      ],
      ['a local NAT64 prefix is not taken apart', '.match(WELL_KNOWN_NAT64, 96)', '.match(WELL_KNOWN_NAT64, 32)'],
      ['an IPv4-compatible address is no mapped one', ".replace(/^::(?=\\d+\\.)/, '0::')", ''],
      ["Azure's host is not public", ' || address.toString() === AZURE_HOST', ''],
      ['IPv4 in 6to4 is judged as IPv4', "if (range === '6to4')", "if (range === ('none' as string))"],
      ['what IANA has not given out is not public', '(address as ipaddr.IPv6).match(GLOBAL_UNICAST, 3)', 'true'],
      ['an installation on loopback asks loopback alone', "plain.range() === 'loopback'", 'true'],
      [
        'the address that was judged is the one that is asked',
        'lookup: pinnedTo(judged.address), certificateAuthority',
        'lookup: ((host, { all }, found) => void this.#world.resolve(host).then(([address = ""]) => (all ? found(null, [{ address, family: 4 }]) : found(null, address, 4)))) as LookupFunction, certificateAuthority',
      ],
      ['a redirect is no document', 'if (status !== 200)', 'if (status === 404)'],
      ['a compressed body is not read', "(answer.headers['content-encoding'] ?? 'identity') !== 'identity'", 'false'],
      ['a document is JSON by its type', '!/^application\\/([\\w.-]+\\+)?json$/.test(type.trim())', 'false'],
      ['a document has a maximum size', 'if (Buffer.byteLength(body) > maxBytes)', 'if (false as boolean)'],
      ['a name that is never found is given up', 'await within(TIMEOUT_MS,', 'await within(60 * TIMEOUT_MS,'],
    ],
  ),
  ...guardsIn(
    'src/process/request-to-configured-address.ts',
    ['test/process/outbound.test.ts'],
    [
      ['reading ends at the limit', 'if (text.length >= maxBytes) done();', ''],
      ['a change of protocol is an end', "asking.on('upgrade',", "asking.on('information',"],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/client-document.ts',
    ['test/operator/client-documents.test.ts'],
    [
      ['the id of a document is its address', 'if (id !== address)', 'if (false as boolean)'],
      ['a document holds no secret', 'if (secret !== undefined)', 'if (false as boolean)'],
      ['a document is for codes', "!grants.includes('authorization_code')", 'false'],
      [
        'a method that needs a secret is refused',
        "return offered.includes('none') || !namesMethod(members) ? 'none' : null;",
        "return 'none';",
      ],
      ['a document without a method is read as none', ' || !namesMethod(members)', ''],
      ['an address is in its normal form', 'if (url.href !== text)', 'if (false as boolean)'],
      ['an address has a path', "if (url.pathname === '/')", 'if (false as boolean)'],
      ['an address has no user name', 'if (url.username || url.password)', 'if (false as boolean)'],
      ['an address is https', "url.protocol !== 'https:' &&", 'false &&'],
      [
        'a homepage is at the origin of the document',
        'homepage: sameOrigin(address, textOf(client_uri))',
        'homepage: textOf(client_uri)',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/apps/client-documents.ts',
    ['test/operator/client-documents.test.ts'],
    [
      ['no document takes the name of another app', 'if (other) throw', 'if (false as boolean) throw'],
      [
        'nothing is asked for an id that is registered',
        'if (await store.findClient(address)) throw',
        'if (false as boolean) throw',
      ],
    ],
  ),
  ...guardsIn(
    'src/pages/consent/app-profile.ts',
    ['test/pages/pages.test.ts'],
    [
      [
        'the host of a metadata document is shown',
        'documentHost !== null &&',
        '(false as boolean) && documentHost !== null &&',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/request/client-authentication.ts',
    ['test/http/unadmitted-documents.test.ts'],
    [['nothing of an address with a query is logged', "!named.includes('?') && ", '']],
  ),
  ...guardsIn(
    'src/oauth/resource-servers/resource-uri.ts',
    ['test/oauth/resource-uri.test.ts'],
    [
      ['the path of a resource counts exactly', '${ownPort}${path}`', '${ownPort}${path.toLowerCase()}`'],
      ['the port of a resource counts', "port === '' || port === DEFAULT_PORTS[name]", 'true'],
    ],
  ),
  ...guardsIn(
    'src/oauth/resource-servers/resource-server.ts',
    ['test/oauth/resource-server.test.ts'],
    [
      [
        'a resource is answered as the API is registered',
        'resource: grant.resource === null ? null : resourceServer.resource',
        'resource: grant.resource',
      ],
      [
        'an unbound token is good only where the operator lets it be',
        'return resource === null || acceptsUnbound;',
        'return true;',
      ],
      ['a default resource alone does not bind at the own API', 'grant.resourceIsDefault || isFor', 'isFor'],
      ['a resource that was asked for binds at the own API', 'grant.resourceIsDefault || isFor', 'true || isFor'],
    ],
  ),
  ...guardsIn(
    'src/oauth/protocol/introspection.ts',
    ['test/http/api/introspect.test.ts'],
    [['introspection asks if a token is good there', '=> isGoodAt(resourceServer, grant)', '=> true']],
  ),
  ...guardsIn(
    'src/oauth/protocol/authorization-request.ts',
    ['test/http/api/default-resource.test.ts'],
    [
      ['a request without a resource is for the default one', 'resource: named ?? defaultResource', 'resource: named'],
      [
        'a default resource is marked as one',
        'resourceIsDefault: named === null && defaultResource !== null',
        'resourceIsDefault: false',
      ],
      [
        'a resource that is sent is marked as none',
        'resourceIsDefault: named === null && defaultResource',
        'resourceIsDefault: defaultResource',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/device/device-flow.ts',
    ['test/http/api/default-resource.test.ts'],
    [
      [
        'a device that names no resource gets the default one',
        '...grantedResource(client, named)',
        'resource: named, resourceIsDefault: false',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/connected-apps/grant-registry.ts',
    ['test/oauth/grant-registry.test.ts'],
    [['consent for the default resource stands for itself', ' && summary.resourceIsDefault === resourceIsDefault', '']],
  ),
  ...guardsIn(
    'src/operator/registration/default-resource.ts',
    ['test/operator/client-registry.test.ts'],
    [
      [
        'a default resource is that of a registered API',
        'if (registered !== null) return registered;',
        'return named;',
      ],
    ],
  ),
  ...guardsIn('src/oauth/clients/client-assertion.ts', KEY_TESTS, [
    [
      'an assertion of an algorithm that is not taken fetches no keys',
      'if (!ASSERTION_ALGORITHMS.includes(String(header.alg)))',
      'if (false as boolean)',
    ],
    [
      'an assertion of wrong claims fetches no keys',
      'UnsecuredJWT.decode(unsigned(assertion, header), demands)',
      'UnsecuredJWT.decode(unsigned(assertion, header), { clockTolerance: Number.MAX_SAFE_INTEGER, currentDate: new Date(0) })',
    ],
    ['an assertion for others as well fetches no keys', 'if (problem) return invalidClient(problem);', ''],
  ]),
  ...guardsIn('src/oauth/clients/client-authenticator.ts', KEY_TESTS, [
    ['keys are fetched for an unknown kid', 'proven instanceof WrongKey && proven.isUnknown', 'false as boolean'],
    [
      'only one right but for its key refreshes old keys',
      'else if (proven instanceof WrongKey || !(proven instanceof Refusal))',
      'else',
    ],
  ]),
  ...guardsIn(
    'src/process/outbound.ts',
    ['test/http/outbound-rules.test.ts', 'test/process/outbound.test.ts'],
    [
      ['no private address is asked for what others wrote', 'if (isPublic(plain)) return null;', 'return null;'],
      [
        'networks are allowed by the operator',
        'privateNetworks.check(plain.toString(), plain.kind())',
        'false as boolean',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/registration/registration-checks.ts',
    ['test/operator/client-registry.test.ts'],
    [
      [
        'a given set of which no key can be used is refused',
        'set.keys.length === 0 && set.omitted.length > 0',
        'false',
      ],
      [
        'a given set with a secret key is refused',
        "if (typeof set === 'string') throw",
        "if (typeof set === 'string') return []; if (false as boolean) throw",
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/key-set.ts',
    ['test/oauth/client-keys.test.ts'],
    [['a set of which no key can be used is a mistake', 'set.omitted.length > 0', 'false']],
  ),
  ...guardsIn(
    'src/oauth/clients/public-key.ts',
    ['test/oauth/client-assertion.test.ts'],
    [['a kid can be printed', "!isReadable(key.kid, 'label')", "key.kid === ''"]],
  ),
  ...guardsIn(
    'src/oauth/clients/public-key.ts',
    ['test/operator/client-registry.test.ts'],
    [['a private key of a kind that is not known refuses its set', "'k', 'priv'", "'k'"]],
  ),
  ...guardsIn(
    'src/operator/apps/document-refresh.ts',
    ['test/cli/client-refresh.test.ts'],
    [['consent never comes back by a refresh', 'Math.max(at, before.remembersSince ?? 0)', 'at']],
  ),
  ...guardsIn('src/oauth/clients/client-keys.ts', KEY_TESTS, [
    [
      'of many requests one fetches the keys',
      'if (!(await store.noteKeysAsked({ id, jwksUri }, askedAt, KEYS_PAUSE_MS))) return false;',
      'await store.noteKeysAsked({ id, jwksUri }, askedAt, KEYS_PAUSE_MS);',
    ],
    [
      'keys of a paused client are not fetched',
      " || status !== 'active'",
      '',
      'the write of the mark asks for it again',
    ],
    ['a failed fetch keeps the keys', "if (typeof set === 'string') {", "if (set === '') {"],
    [
      'old keys are fetched at a use',
      '!isNear(client.jwksFetchedAt, this.#parts.now(), KEYS_ARE_OLD_AFTER_MS)',
      'false as boolean',
    ],
  ]),
  ...guardsIn(
    'src/storage/tables/registrations/clients.ts',
    ['test/storage/sqlite.test.ts'],
    [
      ['a refresh never sets back when keys were asked for', '${name} > ${given}', '${name} < ${given}'],
      [
        'consent never comes back by a resume',
        'CASE WHEN remembers_since > $3',
        'CASE WHEN remembers_since > $3 AND FALSE',
      ],
      [
        'only an active client has its keys fetched',
        "id = $1 AND status = 'active' AND jwks_uri = $2",
        'id = $1 AND jwks_uri = $2',
      ],
      [
        'only keys at the address that was asked are written',
        "status = 'active' AND jwks_uri = $2",
        "status = 'active' AND $2 = $2",
      ],
      ['keys are asked for by one', 'jwks_asked_at NOT BETWEEN $4 AND $5', '$4 < $5'],
      ['keys are written by who asked last', ' AND jwks_asked_at = $3 AND keys = $5', ' AND keys = $5'],
      [
        'keys are written in place of those that were read',
        ' AND jwks_asked_at = $3 AND keys = $5',
        ' AND jwks_asked_at = $3 AND $5 = $5',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/client-document.ts',
    ['test/operator/client-documents.test.ts'],
    [['keys are at the origin of the document', 'if (sameOrigin(address, uri) === null)', 'if (false as boolean)']],
  ),
  ...guardsIn(
    'src/oauth/clients/key-set.ts',
    ['test/operator/client-documents.test.ts'],
    [
      ['a set with a secret key is refused', 'if (secret) return', 'if (false as boolean) return'],
      ['a set has five keys at most', 'all.length > MAX_KEYS', 'false as boolean'],
      ['certificates are not kept', 'keys.push(publicPart(key));', 'keys.push(key);'],
      ['a key set has 65,536 bytes at most', 'fetchJson(jwksUri, MAX_KEY_SET_BYTES)', 'fetchJson(jwksUri, 1e9)'],
    ],
  ),
  ...guardsIn(
    'packages/verify/src/introspection.ts',
    ['test/verify/introspection.test.ts'],
    [
      [
        'an unbound token is refused by default',
        'audience.includes(resource) : acceptUnbound',
        'audience.includes(resource) : true',
      ],
      ['a token for another API is refused', 'audience ? audience.includes(resource)', 'audience ? true'],
    ],
  ),
];
