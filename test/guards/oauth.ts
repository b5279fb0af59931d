/** The guards of the protocol's rules. */
import { type Guard, guardsIn } from './guard.ts';

const REQUEST_TESTS = ['test/oauth/authorization-request.test.ts', 'test/oauth/authorization-request-standard.test.ts'];

/** Guards of src/oauth. */
export const oauthGuards: readonly Guard[] = [
  ...guardsIn(
    'src/oauth/activity/activity.ts',
    ['test/oauth/activity.test.ts', 'test/http/api/app-failures.test.ts'],
    [
      [
        'of an app at most ten failures are recorded in a second',
        'recorded <= MAX_FAILURES_PER_SECOND && this.#waiting < MAX_WAITING',
        'this.#waiting < MAX_WAITING',
      ],
      [
        'failures that wait are bounded',
        'recorded <= MAX_FAILURES_PER_SECOND && this.#waiting < MAX_WAITING',
        'recorded <= MAX_FAILURES_PER_SECOND',
      ],
      [
        'what may be written is not added twice',
        'if (error instanceof OutcomeUnknown) this.#reportLost',
        'if (false as boolean) this.#reportLost',
      ],
      ['a store that is away loses nothing', 'return this.#putBack(clientId, counting);', 'return;'],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/client-authenticator.ts',
    ['test/http/api/app-failures.test.ts'],
    [
      [
        'who proves nothing leaves no failure',
        'if (!(client instanceof Refusal)) this.#parts.activity.answered(client.id, refusal, request);',
        "this.#parts.activity.answered('clientId' in credentials ? (credentials.clientId ?? '') : '', refusal, request);",
      ],
      [
        'a request without an id or a secret is no guess',
        'if (credentials.clientId === undefined || credentials.clientSecret === undefined) return;',
        '',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/client.ts',
    ['test/http/api/app-failures.test.ts'],
    [['the name of a public client proves nothing', "return method !== 'none';", 'return true;']],
  ),
  ...guardsIn(
    'src/oauth/protocol/consent.ts',
    ['test/oauth/needs-consent.test.ts', 'test/http/browser/person-fields.test.ts'],
    [
      [
        'an app is told no field that consent did not name',
        "if (consent.given === 'allowed') return consent.shownFields;",
        "if (consent.given === 'allowed') return personFields;",
      ],
      [
        'nobody is asked again for what they do not have',
        'fieldsThere(personFields, owner).every(',
        '(fieldsThere(client.personFields, owner), client.personFields).every(',
      ],
      [
        'remembered consent gives what was named before',
        'personFields.filter((field) => consent.remembered.personFields.includes(field))',
        'personFields',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/protocol/allow.ts',
    ['test/oauth/authorization-server.test.ts'],
    [
      [
        'a revocation after a change of the client ends what was allowed of it before',
        'epochs: { ...made.epochs, client: client.epoch },',
        'epochs: made.epochs,',
      ],
    ],
  ),
  ...guardsIn('src/oauth/protocol/authorization-request.ts', REQUEST_TESTS, [
    [
      'an unregistered redirect URI is never redirected to',
      'if (!isRegisteredRedirectUri(client.redirectUris, redirectUri, client.type))',
      'if (redirectUri === "")',
    ],
    ['a paused client is refused', "if (client.status === 'paused')", "if (client.status === 'nothing' as never)"],
    [
      'the published face tells no issuer',
      "issuer: face === 'standard' ? context.issuer : null",
      'issuer: context.issuer',
    ],
    [
      'published: a repeated parameter is refused',
      'const problem = parameters.problem(PUBLISHED_PARAMETERS);',
      'const problem = null as string | null;',
    ],
    ['published: state is required', "if (!parameters.get('state')) return", 'if (false as boolean) return'],
    [
      'published: public clients are refused',
      "if (client.type === 'public') return new",
      'if (false as boolean)\n    return new',
    ],
    [
      'standard: a repeated parameter is refused',
      "const problem = parameters.problem(read, ['resource']);",
      'const problem = null as string | null;',
    ],
    ['standard: request objects are refused', "['request',", "['nothing',"],
    ['standard: a foreign request_uri is refused', "['request_uri',", "['nothing',"],
    [
      'standard: without state there is a challenge',
      "if (!parameters.get('state') && !parameters.get('code_challenge'))",
      'if (false as boolean)',
    ],
    [
      'standard: response_type is required',
      'if (responseType === undefined) return invalidRequest',
      'if (false as boolean) return invalidRequest',
    ],
    ['the length of state is bounded', '.length > MAX_STATE_LENGTH)', '.length > Infinity)'],
    ['no response type but code', "if (responseType !== 'code') return", 'if (false as boolean) return'],
    [
      'a method without a challenge is no request without PKCE',
      "(method !== undefined || parameters.has('code_challenge'))",
      'false',
    ],
    ['PKCE can be required of a client', 'client.requirePkce || ', ''],
    ['PKCE is required of public clients', "client.requirePkce || client.type === 'public'", 'client.requirePkce'],
    ['the challenge method is S256', "if (method !== 'S256') return", 'if (false as boolean) return'],
    ['a challenge has its form', 'return isCodeChallenge(challenge) ? null', 'return challenge ? null'],
    ['one resource at a time', 'if (asked.length > 1) return', 'if (asked.length > 9) return'],
    ['a resource is known', 'asked.every((uri) => knownResource(known, uri))', 'asked'],
    ['a prompt is one of three', 'if (!prompts.every((prompt) => PROMPTS.includes(prompt)))', 'if (false as boolean)'],
    ['prompt none stands alone', "prompts.includes('none') && prompts.length > 1", 'false'],
  ]),
  ...guardsIn(
    'src/oauth/protocol/consent.ts',
    ['test/oauth/needs-consent.test.ts', 'test/http/browser/consent-policy.test.ts'],
    [
      ['prompt=consent asks whatever the policy', "prompt.includes('consent') || ", ''],
      [
        'an app that another may pass for is always asked for',
        "if (client.type === 'public' && isAppBound(redirectUri)) return true;",
        '',
      ],
      ['remembered consent covers every scope', 'remembered.granted.includes(name) : mayStayOut', 'true : mayStayOut'],
      ['what was left out is not granted unasked', '!remembered.leftOut.includes(name)', 'true'],
      ['more of the person is asked for', 'isEachDecided && hasFields &&', 'isEachDecided && (hasFields || true) &&'],
      ['who left out everything that is asked for is asked', '&& (chosen.length > 0 || scope.length === 0)', ''],
      [
        'what must not stay out any more is asked for',
        'optionalNames(client.scopes, remembered.leftOut)',
        'remembered.leftOut',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/protocol/authorization-request.ts',
    ['test/oauth/needs-consent.test.ts', 'test/http/browser/consent.test.ts'],
    [
      [
        'the consent form is bound to the redirect URI',
        'id, redirectUri, state, scope, optional',
        'id, state, scope, optional',
      ],
      ['the consent form is bound to the state', 'redirectUri, state, scope, optional', 'redirectUri, scope, optional'],
      ['the consent form is bound to the challenge', 'optional, codeChallenge, resource, ', 'optional, resource, '],
      [
        'the consent form is bound to the resource',
        'codeChallenge, resource, resourceIsDefault]',
        'codeChallenge, resourceIsDefault]',
      ],
      ['the consent form says if the resource is the default', ', resource, resourceIsDefault]', ', resource]'],
      ['the consent form is bound to what was optional', 'scope, optional, code', 'scope, code'],
      ['the consent form is bound to the face', 'asked = [face, ', 'asked = ['],
    ],
  ),
  ...guardsIn(
    'src/oauth/grants/person-fields.ts',
    ['test/http/browser/person-fields.test.ts'],
    [
      [
        'an app gets nothing of the person but what was allowed',
        'fields.includes(field) ? value : null',
        'fields.includes(field) ? value : value',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/resource-servers/resource-server.ts',
    ['test/http/browser/person-fields.test.ts'],
    [['nor does an API', 'visibleFields(resourceOwner, grant)', '(visibleFields, resourceOwner)']],
  ),
  ...guardsIn(
    'src/oauth/protocol/authorization-response.ts',
    ['test/oauth/authorization-response.test.ts'],
    [
      ['values are encoded', '${encodeURIComponent(value)}', '${value}'],
      ["a redirect URI's own query stays", "!redirectUri.includes('?') ? '?' : ", "true ? '?' : "],
      [
        'iss is told where the issuer is',
        'return withQuery(redirectUri, { code, state, iss: issuer });',
        'return withQuery(redirectUri, { code, state });',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/redirect-uri.ts',
    ['test/oauth/redirect-uri.test.ts'],
    [
      ['a registered URI is printable ASCII', 'if (!/^[\\x21-\\x7e]+$/.test(uri))', 'if (false as boolean)'],
      ['a registered URI has no fragment', "if (uri.includes('#'))", 'if (false as boolean)'],
      ['a registered URI has no wildcard', "if (uri.includes('*'))", 'if (false as boolean)'],
      ['a registered URI has no user info', 'if (url.username || url.password)', 'if (false as boolean)'],
      ["a registered URI has none of the answer's names", 'if (taken !== undefined)', 'if (false as boolean)'],
      [
        'http is for loopback alone',
        "if (url.protocol === 'http:' && !LOOPBACK_HOSTS.has(url.hostname))",
        'if (false as boolean)',
      ],
      ['a host does not end with a dot', "if (url.hostname.endsWith('.'))", 'if (false as boolean)'],
      ['a registered URI is in its normal form', 'return normal === uri ? null', 'return normal ? null'],
      [
        'private-use schemes are for public clients',
        "if (clientType !== 'public') return",
        'if (false as boolean) return',
      ],
      ['a loopback port is a port', 'Number(port) > 65535', 'false'],
      ['a private-use or loopback URI leads to any app', "new URL(uri).protocol !== 'https:'", 'false'],
    ],
  ),
  ...guardsIn(
    'src/oauth/tokens/pkce.ts',
    ['test/oauth/pkce.test.ts'],
    [
      ['a challenge is 43 characters', '[A-Za-z0-9_-]{43}$/;', '[A-Za-z0-9_-]+$/;'],
      ['a verifier is 43 to 128 characters', '{43,128}', '+'],
      ['the verifier is hashed', "Buffer.from(hash('sha256', verifier, 'base64url'))", 'Buffer.from(verifier)'],
    ],
  ),
  ...guardsIn(
    'src/oauth/tokens/authorization-code.ts',
    ['test/oauth/authorization-code.test.ts'],
    [
      ['a code is proven', '!isGenuine(keyring, credential, grant.seed) || ', ''],
      ['a code is of generation 0', ' || credential.generation !== 0', ''],
      ["a code is its own client's", 'if (grant.clientId !== client.id) return', 'if (false as boolean) return'],
      ['the redirect URI is repeated', '!isRepeatedRedirectUri(grant.redirectUri, redirectUri))', 'false)'],
      ['without a challenge the redirect URI is demanded', 'grant.codeChallenge === null : ', 'false : '],
      ['the verifier is asked for', 'if (pkceRefusal) return pkceRefusal;', ''],
      ['a code asks for no more than was granted', 'if (beyond) return beyond;', ''],
      [
        'an ended grant has no code',
        'const refused = whyRefused(grant, standing);',
        'const refused = null as string | null;',
      ],
      ['a second use is a replay', 'if (isUsed) { ', 'if (false as boolean) { '],
      ['a code expires', 'if (credential.expiresAt <= now) return', 'if (false as boolean) return'],
      ['a verifier has its form', 'if (verifier !== undefined && !isCodeVerifier(verifier))', 'if (false as boolean)'],
      [
        'a verifier without a challenge is a downgrade',
        'if (challenge === null) return',
        'if (challenge === null && (false as boolean)) return',
      ],
      [
        'a challenge wants its verifier',
        'if (verifier === undefined) return refuse(',
        'if (verifier === undefined) return null; refuse(',
      ],
      ['the verifier matches', 'return verifiesChallenge(verifier, challenge) ', 'return verifier '],
    ],
  ),
  ...guardsIn(
    'src/oauth/grants/scope.ts',
    ['test/http/api/named-mistakes.test.ts'],
    [
      ['a refused scope is named only in the form of one', 'return isToken && ', 'return '],
      ['no markup comes back in a refused scope', "/[<>&']|[\\w-]{40}/", '/[\\w-]{40}/'],
      ['no credential comes back in a refused scope', "/[<>&']|[\\w-]{40}/.test", "/[<>&']/.test"],
    ],
  ),
  ...guardsIn(
    'src/oauth/tokens/refusal-reason.ts',
    ['test/http/api/reasons.test.ts'],
    [
      ['no public client is told a reason', "if (client.type === 'public') return refusal;", ''],
      ['who ended what is not told', "kind: 'ended', text: '", "kind: 'ended', text: 'the user ended it: "],
    ],
  ),
  ...guardsIn(
    'src/oauth/protocol/authorization-server.ts',
    ['test/http/api/reasons.test.ts'],
    [
      [
        'a paused client is told so about its own credentials alone',
        'answered(ownGrant() ? explain(proven, client, CLIENT_PAUSED) : proven)',
        'answered(explain(proven, client, CLIENT_PAUSED))',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/keys/credential.ts',
    ['test/oauth/credential.test.ts'],
    [
      ['another kind or prefix is refused unread', ' || !text.startsWith(start)) return null', ') return null'],
      [
        'another length is refused unread',
        'text.length !== start.length + BODY_CHARACTERS + CHECKSUM_CHARACTERS || ',
        '',
      ],
      ['another alphabet is refused', '!ALPHABET.test(body) || ', ''],
      ['a wrong checksum is refused', '|| !hasChecksum(text)) return null; const bytes', ') return null; const bytes'],
      ['another version is refused', 'bytes[0] === VERSION ? ', 'bytes ? '],
      ['a key that is not in the ring proves nothing', 'if (!key) return false;', 'if (!key) return true;'],
      ['the MAC is compared', 'return timingSafeEqual(expected, unproven.subarray(HEADER_BYTES));', 'return true;'],
      ['the MAC covers the header', 'kind, unproven.subarray(0, HEADER_BYTES), seed)', 'kind, derivedHeader, seed)'],
      ['the MAC covers the seed', 'mac(key, kind, header, seed)', 'mac(key, kind, header)'],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/client-assertion.ts',
    ['test/oauth/client-assertion.test.ts'],
    [
      [
        'an assertion from before a restore is refused',
        'if (restoredAt !== null && madeAt * 1000 <= restoredAt)',
        'if (false as boolean)',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/keys/sealed.ts',
    ['test/oauth/sealed.test.ts'],
    [
      ['one text only opens', " || bytes.toString('base64url') !== sealed) return null", ') return null'],
      ['what is too short opens nothing', 'bytes.length < HEADER_BYTES + NONCE_BYTES + TAG_BYTES || ', ''],
      ['another version opens nothing', 'bytes[0] !== VERSION || ', ''],
      ['what expires is of one history', ' : mac(key, day, keyring.history)', ' : mac(key, day)'],
      ['the header is authenticated', 'decipher.setAAD(header);', 'decipher.setAAD(Buffer.alloc(0));'],
    ],
  ),
  ...guardsIn(
    'src/oauth/keys/sealed.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'each value has a nonce of its own',
        'const nonce = randomBytes(NONCE_BYTES);',
        'const nonce = Buffer.alloc(NONCE_BYTES);',
      ],
      ['no key seals for longer than a day', 'Math.floor(expiresAt / DAY_MS)', 'Math.floor(expiresAt / 1e15)'],
    ],
  ),
  ...guardsIn(
    'src/oauth/keys/secret.ts',
    ['test/oauth/secret.test.ts', 'test/random-bits.test.ts'],
    [
      [
        'a secret has 256 random bits',
        'bits: Buffer = randomBytes(32)',
        'bits: Buffer = Buffer.concat([randomBytes(16), Buffer.alloc(16)])',
      ],
      ['without secrets nothing matches', ': [NO_SECRET];', ': [{ ...NO_SECRET, digest: digestOf(presented) }];'],
      ['a secret is compared', 'timingSafeEqual(digest, secret.digest)', 'digest.length === secret.digest.length'],
      ['a secret is stored as its digest', "hash('sha256', text, 'buffer')", 'Buffer.from(text.slice(-32))'],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/client.ts',
    ['test/oauth/client.test.ts'],
    [
      ['a text that cannot be an id is looked up nowhere', '/^[\\x21-\\x7e]{1,255}$/.test(text)', 'text.length > 0'],
      ['no id, no client', "if (credentials.clientId === undefined) return missingCredential('client_id');", ''],
      [
        'only public clients are taken by their word',
        "if (client?.type === 'public') return client;",
        'if (client) return client;',
      ],
      [
        'no secret, no proof',
        "if (credentials.clientSecret === undefined) return missingCredential('client_secret');",
        "if (credentials.clientSecret === undefined) return client ?? invalidClient('x');",
      ],
      [
        'a wrong secret proves nothing',
        'if (!secret) return invalidClient(',
        'if (!secret) return client; invalidClient(',
      ],
      [
        'a public client has no secret',
        "if (client.type === 'public') return invalidClient(",
        "if (client.type === 'public') return client; invalidClient(",
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/client.ts',
    ['test/http/api/named-mistakes.test.ts'],
    [
      [
        'what is told of a secret does not tell which clients there are',
        'if (!client) return invalidClient(',
        'if (!client) return ((said: string, _mistake: unknown) => invalidClient(said))(',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/keys/mistaken-credential.ts',
    ['test/http/api/named-mistakes.test.ts'],
    [
      [
        'of a whole token no mistake is told',
        'isLength && hasChecksum(text) ? undefined :',
        'isLength === null ? undefined :',
      ],
      ['a secret with a line break is told', 'if (/\\s/.test(secret)) return', 'if (false as boolean) return'],
    ],
  ),
  ...guardsIn(
    'src/oauth/grants/scope.ts',
    ['test/oauth/scope.test.ts'],
    [
      ['a scope that is not registered is refused', '[...asked].every((name) => names.includes(name))', 'true'],
      ['a blank text names no scope', 'if (asked.size === 0) return names;', ''],
      ['an optional scope is granted where it was chosen', '!isOptional.get(name) || chosen.includes(name)', 'true'],
      ['a scope that is no longer registered is not granted', 'isOptional.has(name) && ', ''],
      ['nothing left is nothing allowed', 'allowed.length === 0 && requested.length > 0 ? null : allowed', 'allowed'],
      ["a scope's name has its alphabet", 'SCOPE_TOKEN.test(name) && !name', '!name'],
      ['a sentence has nothing invisible', " || !isReadable(sentence, 'words')", ''],
    ],
  ),
  ...guardsIn(
    'src/oauth/parameters.ts',
    ['test/oauth/parameters.test.ts'],
    [
      ['half a character is no text', 'value?.isWellFormed() ? value : null', 'value'],
      ['a repeated parameter has no value', 'this.#repeated.has(name) ? undefined : ', ''],
      [
        'a repeated known parameter is a problem',
        'if (all && !repeatable.includes(name)) return `${name} is repeated`;',
        '',
      ],
      [
        'a repeated unknown parameter is a problem',
        'if (!repeatable.includes(name)) return',
        'if (false as boolean) return',
      ],
      [
        'what is not text is a problem',
        'this.#values.get(name) === null) return',
        'this.#values.get(name) === null) return null; else if (false as boolean) return',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/tokens/token-request.ts',
    [
      'test/oauth/authorization-code.test.ts',
      'test/oauth/refresh-token.test.ts',
      'test/http/api/standard-token.test.ts',
    ],
    [
      [
        'a token request asks for no wider scope',
        '!scopeNames(scope).every((name) => granted.includes(name))',
        'false',
      ],
      [
        'a token request names no other resource',
        'grant.resource !== null && isSameResource(resource, grant.resource)',
        'true',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/protocol/pushed-request.ts',
    ['test/oauth/pushed-request.test.ts', 'test/http/api/pushed-request.test.ts'],
    [
      ['a reference that was not opened in time expires', 'if (pushed && isExpired) return null;', ''],
      [
        'one that was opened in time is over at last',
        'const isExpired = found.expiresAt <= now;',
        'const isExpired = pushed !== null && found.expiresAt <= now;',
      ],
      [
        "a reference is its own client's",
        "if (parameters.get('client_id') !== clientId) return null;",
        'if (!clientId) return null;',
      ],
      ['a pushed request has a maximum size', '(signsInElsewhere ? MAX_BYTES_ELSEWHERE : MAX_BYTES)', '1e6'],
      ['the pushed client_id does not count', "filter((name) => name !== 'client_id')", 'filter(() => true)'],
    ],
  ),
  ...guardsIn(
    'src/oauth/keys/keyring.ts',
    ['test/oauth/keyring.test.ts'],
    [
      ['a short root key is refused', 'if (rootKey.length < ROOT_KEY_BYTES)', 'if (false as boolean)'],
      ['a keyring without keys is refused', 'if (rootKeys.length === 0)', 'if (false as boolean)'],
      [
        'each purpose has a key of its own',
        'createSecretKey(expand(rootKey, purpose, 32))',
        "createSecretKey(expand(rootKey, 'one', 32))",
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/resource-servers/resource-server.ts',
    ['test/oauth/resource-server.test.ts', 'test/http/api/introspect.test.ts'],
    [
      [
        'a wrong secret of an API proves nothing',
        'if (!matching) return invalidClient(',
        'if (!matching) return resourceServer; invalidClient(',
      ],
      ['an API sees its own scopes', '= granted.filter((name) => scopes.includes(name))', '= granted'],
      [
        'an API without any of its scopes sees nothing',
        'return visible.length > 0 ? visible : null;',
        'return visible;',
      ],
      [
        'a token for one resource is good there alone',
        'granted === null || (resource !== null && isSameResource(granted, resource))',
        'true',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/device/device-flow.ts',
    ['test/http/browser/device.test.ts'],
    [['an Allow that is being written is not denied', "if (!grant) return 'pending';", 'if (!grant) return null;']],
  ),
  ...guardsIn(
    'src/oauth/device/device-authorization.ts',
    ['test/oauth/device-authorization.test.ts', 'test/oauth/device-flow.test.ts'],
    [
      [
        "a device's code is its own grant's",
        ' || codeChallenge === null || !verifiesChallenge(verifier, codeChallenge))',
        ')',
      ],
      ["a device's grant is its client's", 'grant.clientId !== clientId || ', ''],
      ['an ended grant has no pair for a device', 'if (refused) return invalidDeviceCode(refused);', ''],
      [
        'a second redemption is a replay',
        "return { grant, revoke: 'code_replay', refusal: invalidDeviceCode(",
        "return { grant, again: currentGeneration(grant) }; void { grant, revoke: 'code_replay', refusal: invalidDeviceCode(",
      ],
      ['a fast poll slows down', 'interval: isTooFast ? interval + POLL_INTERVAL : interval', 'interval'],
    ],
  ),
  ...guardsIn(
    'src/oauth/tokens/authorization-code.ts',
    ['test/oauth/authorization-code.test.ts', 'test/flows/clock-steps.test.ts'],
    [
      [
        'a code whose redirect URI was removed is refused',
        'if (!isRegisteredRedirectUri(client.redirectUris, grant.redirectUri, client.type))',
        'if (false as boolean)',
      ],
      [
        'a code does not outlive its time by a step of the clock',
        'if (isAheadOfClock(credential.expiresAt, grant.expiresAt - grant.rotatedAt, now))',
        'if (false as boolean)',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/tokens/access-token.ts',
    ['test/oauth/access-token.test.ts'],
    [
      [
        'an access token is proven',
        'if (!isGenuine(keyring, credential, grant.seed)) return',
        'if (false as boolean) return',
      ],
      [
        'an access token is no newer than its grant',
        'if (isOfAnotherHistory(credential, grant, grant.accessTokenExpiresAt))',
        'if (false as boolean)',
      ],
      ['an ended grant has no access token', 'if (refused) return invalidToken(refused);', ''],
      ['an access token expires', 'if (credential.expiresAt <= now) return', 'if (false as boolean) return'],
      [
        'an access token does not outlive its time by a step of the clock',
        'if (isAheadOfClock(credential.expiresAt, accessTokenLifetime(grant), now))',
        'if (false as boolean)',
      ],
      ['an access token is good where it is presented', 'if (!isGoodHere(grant))', 'if (false as boolean)'],
    ],
  ),
  ...guardsIn(
    'src/oauth/tokens/refresh-token.ts',
    ['test/oauth/refresh-token.test.ts'],
    [
      [
        'a refresh token is proven',
        'if (!isGenuine(keyring, credential, grant.seed)) return',
        'if (false as boolean) return',
      ],
      [
        "a refresh token is its own client's",
        'if (grant.clientId !== client.id) return',
        'if (false as boolean) return',
      ],
      [
        'an ended grant has no refresh token',
        'const refused = whyRefused(grant, standing);',
        'const refused = null as string | null;',
      ],
      ['a refresh asks for no more than was granted', 'if (beyond) return beyond;', ''],
      [
        'a refresh token is no newer than its grant',
        'if (isOfAnotherHistory(credential, grant, grant.expiresAt)) {',
        'if (false as boolean) {',
      ],
      ['a refresh token expires', 'if (grant.expiresAt <= now) return', 'if (false as boolean) return'],
      [
        'only the predecessor gets the pair again',
        'const isPredecessor = credential.generation === grant.generation - 1;',
        'const isPredecessor = true as boolean;',
      ],
      ['the overlap ends', 'const inOverlap = age < times.overlap * 1000;', 'const inOverlap = true as boolean;'],
      [
        'a used pair closes the retry window',
        '(isUnused && age < times.retryWindow * 1000)',
        'age < times.retryWindow * 1000',
      ],
      ['the retry window ends', '(isUnused && age < times.retryWindow * 1000)', 'isUnused'],
      ['inside the overlap nothing is revoked for age', 'if (inOverlap) ', 'if (false as boolean) '],
      [
        'after a step of the clock no window is open and nothing ends',
        'if (age === null) return',
        'if (false as boolean) return',
      ],
      [
        'the overlap is no longer than the access token',
        'Math.min(client.refreshOverlap ?? defaults.overlap, lifetime)',
        'client.refreshOverlap ?? defaults.overlap',
      ],
      [
        'the retry window is no longer than the access token',
        'Math.min(client.refreshRetryWindow ?? defaults.retryWindow, lifetime)',
        'client.refreshRetryWindow ?? defaults.retryWindow',
      ],
      [
        'public clients have windows of their own',
        "client.type === 'public' ? PUBLIC_CLIENT",
        '(false as boolean) ? PUBLIC_CLIENT',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/grants/grant.ts',
    ['test/oauth/grant.test.ts', 'test/oauth/access-token.test.ts', 'test/oauth/refresh-token.test.ts'],
    [
      ['a revoked grant is ended', 'grant.revokedAt !== null || ', ''],
      ["the installation's epoch ends grants", 'grant.epochs.installation !== epochs.installation ||', ''],
      ["the client's epoch ends grants", 'grant.epochs.client !== epochs.client || ', ''],
      ["the resource owner's epoch ends grants", '|| grant.epochs.resourceOwner !== epochs.resourceOwner', ''],
      ['a paused client is refused', 'if (standing.clientPaused) return', 'if (false as boolean) return'],
      ['a disabled account is refused', 'if (standing.resourceOwnerDisabled) return', 'if (false as boolean) return'],
    ],
  ),
  ...guardsIn(
    'src/oauth/tokens/token-pair.ts',
    ['test/oauth/grant.test.ts', 'test/oauth/access-token.test.ts', 'test/oauth/refresh-token.test.ts'],
    [
      [
        'no refresh token outlives the absolute expiry',
        'Math.min(now + lifetimes.refreshTokenIdle * 1000, grant.absoluteExpiresAt)',
        'now + lifetimes.refreshTokenIdle * 1000',
      ],
      [
        'no access token outlives its refresh token',
        'Math.min(now + lifetimes.accessToken * 1000, expiresAt)',
        'now + lifetimes.accessToken * 1000',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/grants/clock-steps.ts',
    ['test/oauth/grant.test.ts', 'test/oauth/access-token.test.ts', 'test/oauth/refresh-token.test.ts'],
    [['two seconds ahead is now', 'age < -CLOCK_DIFFERENCE_MS ? null', 'age < 0 ? null']],
  ),
  ...guardsIn(
    'src/oauth/connected-apps/grant-registry.ts',
    ['test/http/browser/consent-policy.test.ts'],
    [
      [
        'consent is remembered for its redirect URI',
        'isRegisteredRedirectUri([summary.redirectUri], redirectUri, type) &&',
        '',
      ],
      [
        'consent is not remembered from before a pause',
        '(remembersSince === null || summary.lastGrantedAt > remembersSince)',
        'true',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/keys/credential.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'credentials are compared in constant time',
        'return timingSafeEqual(expected, unproven.subarray(HEADER_BYTES));',
        'return expected.equals((timingSafeEqual, unproven.subarray(HEADER_BYTES)));',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/tokens/pkce.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'verifiers are compared in constant time',
        'timingSafeEqual(Buffer.from(hash(',
        '(timingSafeEqual, (a: Buffer, b: Buffer) => a.equals(b))(Buffer.from(hash(',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/keys/secret.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'secrets are compared in constant time',
        'timingSafeEqual(digest, secret.digest)',
        'digest.equals((timingSafeEqual, secret.digest))',
      ],
      [
        'every secret of a client is compared',
        'candidates.filter((secret) => timingSafeEqual(digest, secret.digest))[0]',
        'candidates.find((secret) => timingSafeEqual(digest, secret.digest))',
      ],
      [
        'where there is no secret one is compared',
        'secrets.length > 0 ? secrets : [NO_SECRET]',
        'secrets.length >= 0 ? secrets : [NO_SECRET]',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/people/session.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'a session token has its random bits',
        "randomBytes(32).toString('base64url')",
        "randomBytes(8).toString('base64url').padEnd(43, 'A')",
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/clients/registered-id.ts',
    ['test/random-bits.test.ts'],
    [['the id of a client has its random bits', '[...randomBytes(16)]', '[...Buffer.alloc(16, randomBytes(4))]']],
  ),
  ...guardsIn(
    'src/oauth/device/device-authorization.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'a user code has its random bits',
        'LETTERS[randomInt(LETTERS.length)]',
        'LETTERS[randomInt(LETTERS.length) % 10]',
      ],
      [
        'the verifier in a device code has its random bits',
        "randomBytes(32).toString('base64url')",
        "Buffer.alloc(32, randomBytes(8)).toString('base64url')",
      ],
    ],
  ),
  ...guardsIn(
    'src/settings/root-keys.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'a root key has its random bits',
        'randomBytes(ROOT_KEY_BYTES)',
        'Buffer.alloc(ROOT_KEY_BYTES, randomBytes(16))',
      ],
    ],
  ),
];
