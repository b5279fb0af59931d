/** The guards of signing in at an identity provider. */
import { type Guard, guardsIn } from './guard.ts';

const TESTS = ['test/http/provider/sign-in.test.ts'];

/** Guards of sign-in requests, statements, tickets and the sessions that come from them. */
export const externalSignInGuards: readonly Guard[] = [
  ...guardsIn('src/accounts/external-return.ts', TESTS, [
    ['a ticket is for the browser that began', 'if (own.length === 0)', 'if ((own.length as number) < 0)'],
    [
      'a ticket that was used or never given is dead',
      'if (!stated?.ticket || !timingSafeEqual(stated.ticket, read.digest))',
      'if (!stated?.ticket)',
    ],
    ['a ticket lasts a minute', 'if (stated.ticketExpiresAt <= at)', 'if (stated.ticketExpiresAt <= 0)'],
    [
      'of all who show a ticket one comes in',
      "return took ? outcome : dead('the ticket was shown at the same time');",
      "return took || !took ? outcome : dead('');",
    ],
    ['a paused provider signs nobody in', "provider?.status !== 'active' || ", '!provider || '],
    ['a provider that is left out signs nobody in', ' || !methods.includes(provider.id))', ')'],
    ['a disabled person does not come in', '!found || refusedPerson(provider, found.account)', '!found'],
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
    ['another person replaces the session', 'present?.accountId === id && present.providerId', 'present?.providerId'],
    [
      'a ticket that signed this browser in leads on',
      "if (shown) return { kind: 'already', continueTo: shown.continueTo };",
      '',
    ],
  ]),
  ...guardsIn(
    'src/oauth/authorization-server.ts',
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
    'src/accounts/external-return.ts',
    ['test/http/provider/external-id.test.ts'],
    [['own ids are told once', 'provider.ownIds ? null : subjectOf(identity)', 'subjectOf(identity)']],
  ),
  ...guardsIn(
    'src/operator/provider-test.ts',
    ['test/operator/provider-test.test.ts'],
    [['a sign-in request is never printed', '.replaceAll(signInRequest, ', '.replaceAll(signInRequest + url.href, ']],
  ),
  ...guardsIn(
    'src/operator/provider-ending.ts',
    ['test/storage/sqlite.test.ts', 'test/http/provider/end-all.test.ts'],
    [
      ['no time in the future ends everything of later', 'if (since > now())', 'if (since < 0)'],
      ['only tickets of that time die', 'statedAt(signIn) >= since &&', ''],
      ['only sessions of that time end', 'signedInSince(session, since) &&', ''],
      ['a walk begins before the ids of that time', 'oldestGrantId(since),', 'oldestGrantId(since + 7_200_000),'],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/grants.ts',
    ['test/storage/sqlite.test.ts'],
    [
      ['what a sign-in of that time gave ends', '(granted_at >= $4 OR signed_in_at >= $4)', 'granted_at >= $4'],
      ['what was given at that time ends', '(granted_at >= $4 OR signed_in_at >= $4)', 'signed_in_at >= $4'],
      ['only what was given through the provider ends', 'provider_id = $3 AND', '$3 = $3 AND'],
    ],
  ),
  ...guardsIn('src/accounts/external-sign-ins.ts', TESTS, [
    ['a request is its provider’s', 'if (request.providerId !== provider.id)', 'if (request.providerId === null)'],
    [
      'a request is bound to one person',
      'if (bound.identityId !== stated.identityId)',
      'if (bound.identityId === undefined)',
    ],
    [
      'a used request gets no ticket',
      "if (!bound.ticket?.equals(ticket.digest)) return refusedRequest('the sign-in request was used', USED);",
      '',
    ],
    ['a provider that is left out says nothing', 'if (!methods.includes(provider.id))', "if (methods.includes(''))"],
    ['a fresh sign-in has a time', 'demandsLogin || maxAge !== null', 'false'],
    ['a time is not ahead of us', 'said.authTime * 1000 > now + MAX_CLOCK_SKEW_MS', 'said.authTime < 0'],
  ]),
  ...guardsIn('src/accounts/people.ts', TESTS, [
    [
      'an operator signs in only with a provider for operators',
      'if (!account?.isOperator || forOperators) return null;',
      'if (!account?.isOperator || forOperators !== undefined) return null;',
    ],
    [
      'a disabled person is refused at once',
      "if (account?.status === 'disabled')",
      "if (account?.status === ('gone' as string))",
    ],
    [
      'a name that another has is left out where it could never be written, which would be tried for ever',
      'if (hasNamesOfItsOwn(before) && (await',
      'if (before.password !== null && (await',
    ],
  ]),
  ...guardsIn('src/accounts/session.ts', TESTS, [
    ['a session is good for its request alone', 'external.isBound ? null : createdAt', 'createdAt'],
    [
      'a session of a provider lasts ten minutes',
      'external?.expiresAt ?? Number.POSITIVE_INFINITY',
      'Number.POSITIVE_INFINITY',
    ],
    ['a session is good for five requests at most', '.slice(-MAX_REQUESTS)', ''],
  ]),
  ...guardsIn('src/accounts/provider-authenticator.ts', TESTS, [
    ['a provider proves itself', 'if (provider && matching) return provider;', 'if (provider) return provider;'],
    ['a paused provider may nothing', "if (proven.status === 'paused')", "if (proven.status === ('gone' as string))"],
  ]),
  ...guardsIn('src/accounts/sign-in-request.ts', TESTS, [
    ['a request has a maximum length', 'return text.length > MAX_CHARACTERS ? null : text;', 'return text;'],
  ]),
  ...guardsIn(
    'src/storage/tables/external-sign-ins.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'the first statement binds',
        '    AND external_sign_in.identity_id IS NOT DISTINCT FROM excluded.identity_id',
        '',
      ],
      ['a used request stays used', 'WHERE external_sign_in.ticket IS NOT NULL AND', 'WHERE'],
      [
        'a ticket is taken once',
        'SET ticket = NULL WHERE nonce = $1 AND ticket = $2',
        'SET ticket = NULL WHERE nonce = $1 AND $2 <> $1',
      ],
      [
        'no session begins for a disabled account',
        "WHERE id = $2 AND status = 'active' FOR SHARE",
        'WHERE id = $2 FOR SHARE',
      ],
    ],
  ),
  ...guardsIn('src/http/browser/browser-session.ts', TESTS, [
    ['a cookie that we never gave is none of ours', ' && /^[0-9a-z]{17}$/.test(name.slice(start.length))', ''],
  ]),
  ...guardsIn('src/http/browser/external-sign-in.ts', TESTS, [
    [
      'a page that is loaded ahead takes no ticket',
      'if (isLoadedAhead(request)) return lead(reply).code(204).send();',
      '',
    ],
  ]),
  ...guardsIn('src/http/browser/kept-choice.ts', TESTS, [
    [
      'an app chooses for nobody',
      'sessions.isChoiceMark(subjectOf(subject, scopes), mark)',
      'mark !== undefined && sessions',
    ],
  ]),
  ...guardsIn(
    'src/accounts/external-return.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'tickets are compared in constant time',
        '!timingSafeEqual(stated.ticket, read.digest)',
        '!stated.ticket.equals(timingSafeEqual ? read.digest : read.digest)',
      ],
      [
        'browsers are compared in constant time',
        'timingSafeEqual(digest, stated.browser)',
        'digest.equals(timingSafeEqual ? stated.browser : stated.browser)',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/ticket.ts',
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
    'src/accounts/external-sign-ins.ts',
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
