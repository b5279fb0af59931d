/** The guards of signing in at an identity provider. */
import { type Guard, guardsIn } from './guard.ts';

const TESTS = ['test/http/provider/sign-in.test.ts'];

/** Guards of sign-in requests, statements, tickets and the sessions that come from them. */
export const externalSignInGuards: readonly Guard[] = [
  ...guardsIn('src/accounts/providers/external-return.ts', TESTS, [
    [
      'a ticket is for the browser that began',
      'if (browser === undefined) return dead(',
      'if (browser === undefined) return shownAgain(parts, { stated } as Shown); dead(',
    ],
    [
      'a ticket that was replaced or never given is dead',
      'if (!stated || !timingSafeEqual(stated.ticket, read.digest))',
      'if (!stated)',
    ],
    ['a ticket lasts a minute', 'if (stated.ticketExpiresAt <= at)', 'if (stated.ticketExpiresAt <= 0)'],
    [
      'a ticket that was taken decides nothing more',
      'if (stated.takenAt !== null) return shownAgain(parts, shown);',
      '',
    ],
    [
      'a ticket whose session ended is dead',
      'if (await liveSession(parts, sessionToken)) return',
      'if (sessionToken !== null) return',
    ],
    ['a demanded sign-in gets a new session token', 'if (before && !demandsLogin && maxAge === null)', 'if (before)'],
    [
      'a provider that lost the right signs nobody in',
      " || !provider.rights.includes('sign-in')",
      '',
      'the write asks for the rights that were read, so that this answers a right that is lost for good',
    ],
    ['a paused provider signs nobody in', "provider?.status !== 'active' || ", '!provider || '],
    ['a provider that is left out signs nobody in', ' || !methods.includes(provider.id))', ')'],
    ['a disabled person does not come in', 'if (refusedPerson(known))', 'if (refusedPerson(null))'],
    [
      'prompt=login wants a sign-in after the request',
      'authTime + MAX_CLOCK_SKEW_MS < requestedAt',
      'authTime + MAX_CLOCK_SKEW_MS < 0',
    ],
    [
      'max_age wants a recent sign-in',
      'authTime + maxAge * 1000 + MAX_CLOCK_SKEW_MS < at',
      'authTime + maxAge * 1000 + MAX_CLOCK_SKEW_MS < 0',
    ],
    [
      'another person replaces the session',
      'present?.accountId === accountId && present.providerId',
      'present?.providerId',
    ],
  ]),
  ...guardsIn(
    'src/oauth/protocol/authorization-server.ts',
    ['test/http/provider/external-id.test.ts'],
    [
      [
        'only apps that the operator chose are told external ids',
        'client.seesExternalId ? grant.externalId : null',
        'grant.externalId',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/providers/external-return.ts',
    ['test/http/provider/external-id.test.ts'],
    [['own ids are told once', 'provider.ownIds ? null : subjectOf(identity)', 'subjectOf(identity)']],
  ),
  ...guardsIn(
    'src/operator/products-and-apis/provider-test.ts',
    ['test/operator/provider-test.test.ts'],
    [['a sign-in request is never printed', '.replaceAll(signInRequest, ', '.replaceAll(signInRequest + url.href, ']],
  ),
  ...guardsIn(
    'src/operator/products-and-apis/provider-ending.ts',
    ['test/storage/sqlite.test.ts', 'test/http/provider/end-all.test.ts'],
    [
      ['no time in the future ends everything of later', 'if (since > now)', 'if (since < 0)'],
      ['only tickets of that time die', 'statedAt(signIn) >= since &&', ''],
      ['only sessions of that time end', 'signedInSince(session, since) &&', ''],
      ['a walk begins before the ids of that time', 'oldestGrantId(since),', 'oldestGrantId(since + 7_200_000),'],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/grants/grants.ts',
    ['test/storage/sqlite.test.ts'],
    [
      ['what a sign-in of that time gave ends', '(granted_at >= $4 OR signed_in_at >= $4)', 'granted_at >= $4'],
      ['what was given at that time ends', '(granted_at >= $4 OR signed_in_at >= $4)', 'signed_in_at >= $4'],
      ['only what was given through the provider ends', 'provider_id = $3 AND', '$3 = $3 AND'],
    ],
  ),
  ...guardsIn('src/accounts/providers/external-sign-ins.ts', TESTS, [
    ['a request is its provider’s', 'if (request.providerId !== provider.id)', 'if (request.providerId === null)'],
    [
      'a request is bound to one person',
      'if (bound?.ticket.equals(ticket.digest)) return ticket.text;',
      'if (bound) return ticket.text;',
    ],
    ['a provider that was paused meanwhile is told so', 'if (refusedNow) return refusedNow;', ''],
    ['the sign-ins of a person are counted', 'throttle.count(key, at)', 'throttle.wait(key, at)'],
    ['a fresh sign-in has a time', 'demandsLogin || maxAge !== null', 'false'],
    ['a time is not ahead of us', 'said.authTime * 1000 > now + MAX_CLOCK_SKEW_MS', 'said.authTime < 0'],
  ]),
  ...guardsIn('src/accounts/people/provider-people.ts', TESTS, [
    ['a disabled person is refused at once', "account?.status === 'disabled' ? new", 'false ? new'],
    [
      'a name that another has is left out where it could never be written, which would be tried for ever',
      'if (hasNamesOfItsOwn(before) && account.username !== before.username',
      'if (before.password !== null && account.username !== before.username',
    ],
    [
      'an account with a password keeps its address',
      'if (hasNamesOfItsOwn(before)) return isSame ? { emailVerified } : {};',
      '',
    ],
  ]),
  ...guardsIn('src/accounts/people/session.ts', TESTS, [
    ['a session is good for its request alone', 'external.isBound ? null : createdAt', 'createdAt'],
    [
      'a session of a provider lasts ten minutes',
      'Math.min(request.at + lifetime, begun.createdAt + SESSION_LIFETIMES.absolute)',
      'begun.createdAt + SESSION_LIFETIMES.absolute',
    ],
    ['a session is good for five requests at most', '.slice(-MAX_REQUESTS)', ''],
  ]),
  ...guardsIn('src/accounts/providers/provider-authenticator.ts', TESTS, [
    ['a provider proves itself', 'if (provider && matching) return', 'if (provider) return'],
    [
      'a paused provider may nothing',
      "if (provider.status === 'paused')",
      "if (provider.status === ('gone' as string))",
    ],
    [
      'a provider that is left out may nothing',
      'if (!this.#parts.methods.includes(provider.id))',
      "if (this.#parts.methods.includes(''))",
    ],
  ]),
  ...guardsIn('src/accounts/providers/sign-in-request.ts', TESTS, [
    ['a request has a maximum length', 'return text.length > MAX_CHARACTERS ? null : text;', 'return text;'],
  ]),
  ...guardsIn(
    'src/storage/tables/accounts/external-sign-ins.ts',
    ['test/storage/sqlite.test.ts'],
    [
      ['the first statement binds', 'AND external_sign_in.identity_id IS NOT DISTINCT FROM excluded.identity_id', ''],
      ['a used request stays used', 'WHERE external_sign_in.taken_at IS NULL AND', 'WHERE'],
      ['a ticket is taken once', 'ticket = $2 AND taken_at IS NULL', 'ticket = $2'],
      [
        'the ticket that was replaced takes nothing',
        'nonce = $1 AND ticket = $2 AND taken_at',
        'nonce = $1 AND $2 <> $1 AND taken_at',
      ],
      ['no session begins for a disabled account', "account.id = $2 AND account.status = 'active'", 'account.id = $2'],
      [
        'nobody comes in through a provider that is paused meanwhile',
        "status = 'active' AND rights = $2",
        'rights = $2',
      ],
      [
        'nobody comes in through a provider that lost its right meanwhile',
        'AND rights = $2 AND session',
        'AND $2 = $2 AND session',
      ],
      [
        'a session is extended only from what it was',
        'digest = $1 AND external = $2 FOR',
        'digest = $1 AND $2 = $2 FOR',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/registrations/identity-providers.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'a provider that was paused meanwhile writes nothing',
        "id = $1 AND status = 'active' AND replace",
        'id = $1 AND replace',
      ],
      ['a provider that lost its right meanwhile writes nothing', "replace(rights, $2, '') <> rights", '$2 = $2'],
      [
        'a provider whose secret ended meanwhile writes nothing',
        "replace(secrets || keys, $3, '') <> secrets || keys",
        '$3 = $3',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/accounts/accounts.ts',
    ['test/storage/sqlite.test.ts'],
    [
      ['what was said before all sessions ended begins none', '{ sql: END_TICKETS, values: [id, at] },', ''],
      [
        'an account that got a password meanwhile keeps its address',
        "AND (NOT ${HAS_NAMES('account')} OR email IS NOT DISTINCT FROM $2)",
        '',
      ],
    ],
  ),
  ...guardsIn('src/http/browser/session/browser-session.ts', TESTS, [
    ['a cookie that we never gave is none of ours', ' && /^[0-9a-z]{17}$/.test(name.slice(start.length))', ''],
  ]),
  ...guardsIn('src/http/browser/sign-in/external-sign-in.ts', TESTS, [
    [
      'a page that is loaded ahead takes no ticket',
      'if (isLoadedAhead(request)) return lead(reply).code(204).send();',
      '',
    ],
    [
      'a sign-in at a product continues to a page of ours',
      "continuation(paths, query.get('continue')) ?? paths.apps",
      "query.get('continue') ?? continuation(paths, paths.apps) ?? paths.apps",
    ],
  ]),
  ...guardsIn('src/http/browser/authorize/choice-kept-over-sign-in.ts', TESTS, [
    [
      'an app chooses for nobody',
      'sessions.isChoiceMark(subjectOf(subject, scopes), mark)',
      'mark !== undefined && sessions',
    ],
  ]),
  ...guardsIn(
    'src/accounts/providers/external-return.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'tickets are compared in constant time',
        '!timingSafeEqual(stated.ticket, read.digest)',
        '!stated.ticket.equals(timingSafeEqual ? read.digest : read.digest)',
      ],
      [
        'browsers are compared in constant time',
        'timingSafeEqual(browserDigest(secret), stated.browser)',
        'browserDigest(secret).equals(timingSafeEqual ? stated.browser : stated.browser)',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/providers/return-ticket.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'a ticket has its random bits',
        'const secret = randomBytes(SECRET_BYTES);',
        'const secret = Buffer.alloc(SECRET_BYTES, randomBytes(8));',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/providers/external-sign-ins.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'the secret of a browser that signs in elsewhere has its random bits',
        "randomBytes(32).toString('base64url')",
        "Buffer.alloc(32, randomBytes(8)).toString('base64url')",
      ],
    ],
  ),
];
