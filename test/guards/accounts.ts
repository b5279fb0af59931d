/** The guards of signing in. */
import { type Guard, guardsIn } from './guard.ts';

const ADDRESS_TESTS = ['test/http/provider/addresses.test.ts'];

const ACCOUNTS_TESTS = ['test/accounts/accounts.test.ts'];
const USERS_TESTS = ['test/http/provider/users.test.ts'];

/** Guards of src/accounts. */
export const accountsGuards: readonly Guard[] = [
  ...guardsIn(
    'src/accounts/guessing/account-pace.ts',
    ['test/accounts/account-pace.test.ts'],
    [
      ['one stranger at a time tries an account', 'if (!line || line.isTaken) return;', 'if (!line) return;'],
      ['networks wait for the pace of the account', 'waits[at] === 0', 'true'],
      [
        'a network that tried an account often has the slower pace',
        "accountAndNetwork.wait([pair], now()) === 0 ? 'seldom' : 'often'",
        "accountAndNetwork.wait([pair], now()) >= 0 ? 'seldom' : 'often'",
      ],
      [
        'who tried often is not kept waiting by who did not',
        "const PACES = ['often', 'seldom']",
        "const PACES = ['seldom', 'often']",
      ],
      [
        'tries of one pace do not count for the other',
        'this.#parts[which].count([account], now());',
        'this.#parts.often.count([account], now());',
      ],
      ['nobody waits without end', 'stranger.forgetTimeout = this.#parts.later(leave, TURN_TIMEOUT_MS);', ''],
      ['who hangs up leaves', "else signal?.addEventListener('abort', leave);", ''],
      ['who hung up before does not wait', 'if (signal?.aborted) leave();', 'if (false as boolean) leave();'],
      ['of a network few wait for one account', 'ofNetworkForOne >= this.#bounds.ofNetworkForOne ||', ''],
      ['of a network few wait for all accounts', '|| ofNetwork >= this.#bounds.ofNetwork)', ')'],
      ['those who wait are bounded', 'while (this.#inAll > this.#bounds.inAll)', 'while (this.#inAll > 1e9)'],
      ['the account that most wait for loses', '([, each]) => sizeOf(each)', '([, each]) => -sizeOf(each)'],
      [
        'who tried often loses first',
        'line.often.loseOne() ?? line.seldom.loseOne()',
        'line.seldom.loseOne() ?? line.often.loseOne()',
      ],
      ['what is right is no guess', 'if (!isWrong) {', 'if (false as boolean) {'],
      ['a stop turns away', 'this.#bounds = { ...this.#bounds, inAll: 0 };', ''],
    ],
  ),
  ...guardsIn(
    'src/accounts/guessing/fair-line.ts',
    ['test/accounts/fair-slot.test.ts', 'test/accounts/account-pace.test.ts'],
    [
      [
        'shares have their turn one after the other',
        'this.#shares.delete(share); const waiter',
        'if (waiting.length === 1) this.#shares.delete(share); const waiter',
      ],
      ['the fullest share loses', '(share) => this.sizeOf(share)', '() => 0'],
      ['of equal shares loses who had a turn last', '(each) => this.#turns.get(each) ?? 0', '() => 0'],
      ['among equals the lot decides', 'all[randomInt(all.length)]', 'all.at(-1)'],
    ],
  ),
  ...guardsIn(
    'src/accounts/guessing/fair-slot.ts',
    ['test/accounts/fair-slot.test.ts'],
    [
      ['of a share few wait', 'if (this.#line.sizeOf(share) >= this.#bounds.ofOneShare)', 'if (false as boolean)'],
      ['those who wait are bounded', 'while (this.#line.size > this.#bounds.inAll)', 'while (false as boolean)'],
      ['who hangs up leaves', "else signal?.addEventListener('abort', leave);", ''],
      ['who hung up before does not wait', 'if (signal?.aborted) leave();', 'if (false as boolean) leave();'],
      ['a stop turns away', 'this.#bounds = { ...this.#bounds, inAll: 0 };', ''],
    ],
  ),
  ...guardsIn('src/accounts/guessing/guess-budget.ts', ACCOUNTS_TESTS, [
    [
      'guesses at an account count for wider networks',
      'return networksOf(source).map',
      'return networksOf(source).slice(0, 1).map',
    ],
    ['a spent budget refuses', 'if (wait > 0) return wait;', ''],
    ['guesses count for their source', 'pairs, now), this.#source.wait(networks, now)', 'pairs, now), 0'],
    ['a success forgets guesses of its very source', 'this.#accountAndSource.reset(', 'void ('],
    [
      'who is turned away is counted for their source',
      'this.#accountAndSource.refund(pairsOf(guess), now);',
      'this.#accountAndSource.refund(pairsOf(guess), now); this.#source.refund(networksOf(guess.source), now);',
    ],
  ]),
  ...guardsIn(
    'src/accounts/sign-in/known-browser.ts',
    ['test/accounts/known-browser.test.ts', ...ACCOUNTS_TESTS],
    [
      [
        'a mark was made by this service',
        'timingSafeEqual(macOf(key, account, head), shown)',
        'macOf(key, account, head) !== shown',
      ],
      ['a mark is one account’s', 'JSON.stringify([id, passwordSetAt', 'JSON.stringify([id.slice(0, 0), passwordSetAt'],
      ['a new password ends marks', 'passwordSetAt, head.toString', '0 * passwordSetAt, head.toString'],
      ['a mark lives for a year', 'return isOurs && now', 'return isOurs && 0 * now'],
      ['ten wrong passwords end a mark', 'knownBrowserFailures.wait([mark], now) > 0 ||', ''],
      ['right passwords are counted', '|| knownBrowsers.wait([account.id], now) > 0', ''],
      [
        'a right password is no wrong one',
        'succeed({ mark }: KnownBrowser, now: number): void { this',
        'succeed({ mark }: KnownBrowser, now: number): void { if (now < 0) this',
      ],
      ['of a cookie five marks are looked at', "split('.', MAX_MARKS)", "split('.')"],
      ['a browser knows five accounts', '.slice(0, MAX_MARKS).join', '.join'],
    ],
  ),
  ...guardsIn(
    'src/accounts/passwords/invitation.ts',
    ['test/http/browser/invitation.test.ts'],
    [
      [
        'the token of an invitation must be right',
        "timingSafeEqual(Buffer.from(digest, 'base64url'), digestOf(token))",
        'timingSafeEqual(digestOf(digest), digestOf(digest)) && token !== null',
      ],
      ['an invitation is good for a day', '|| found.expiresAt <= now()', ''],
      ['who pressed twice hears that the password is set', "isThere ? 'set' : 'dead'", "'dead'"],
      ['who typed another password than was set hears that', "isThere ? 'set' : 'dead'", "'set'"],
      [
        'of a made-up token only text comes to the store',
        'accountId === undefined ? null : await store.findAccount(accountId)',
        'await store.findAccount(accountId ?? token)',
        'SQLite looks for any text; PostgreSQL refuses a NUL with an error, which is then a 500',
      ],
      [
        'dead addresses are counted as guesses',
        "if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };",
        '',
      ],
      ['good addresses are no guesses', 'budget.refundSource(source, now());', ''],
      ['rules for passwords hold for invited people', 'if (problem) return', 'if (problem && !invited) return'],
    ],
  ),
  ...guardsIn(
    'src/accounts/passwords/new-password.ts',
    ['test/http/browser/must-change.test.ts'],
    [
      [
        'a password that must be changed is not set again',
        'if (account.mustChangePassword &&',
        'if (false as boolean &&',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/sign-in/password-change.ts',
    ['test/http/browser/password.test.ts', 'test/http/browser/must-change.test.ts'],
    [
      [
        'who pressed twice hears that the password is changed',
        'return signInWithSame(parts, id, replacement, origin);',
        "return { kind: 'wrong_credentials' };",
      ],
      [
        'nobody is signed in whose new password another one was faster than',
        'if (!isThere || !account',
        'if (!account',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/sign-in/sign-in.ts',
    ['test/http/browser/must-change.test.ts'],
    [
      [
        'a password that must be changed begins no session',
        "if (checked.account.mustChangePassword) return { kind: 'must_change', account: checked.account };",
        '',
      ],
    ],
  ),
  ...guardsIn('src/accounts/sign-in/sign-in.ts', ACCOUNTS_TESTS, [
    ['a known browser has its lane', 'if (known) return hasher', 'if (known && hasher === null) return hasher'],
    ['known browsers have their turn by account', 'share: known.accountId', "share: 'all'"],
    ['a known browser is not counted with strangers', 'known ? 0 : budget.count', 'budget.count'],
    ['a password must be right', 'if (!isRight || !account)', 'if (!account)'],
  ]),
  ...guardsIn(
    'src/accounts/guessing/throttle.ts',
    ['test/postgresql/counters.test.ts'],
    [
      [
        'an answer lacks what was counted since',
        'this.#learn(key, window, { arrival, now }, waiting);',
        'this.#learn(key, window, { arrival, now }, []);',
      ],
      [
        'a busy key learns of other instances',
        'if (arrival !== null) this.#learn',
        'if (arrival !== null && waiting.length === 0) this.#learn',
      ],
      ['a guess after a success is counted', 'if (!last || last.isReset) waiting.push', 'if (!last) waiting.push'],
      ['the answer counts downwards too', 'else this.#arrivals.delete(key);', ''],
    ],
  ),
  ...guardsIn(
    'src/accounts/passwords/password-hash.ts',
    ['test/accounts/decoy-hash.test.ts'],
    [
      [
        'where there is no account a password is hashed, too',
        'const usable = ',
        'if (stored === null) return false; const usable = ',
      ],
      [
        'the decoy costs as much',
        'const DECOY_PHC = `${PARAMETERS_IN_PHC}',
        "const DECOY_PHC = `${'$argon2id$v=19$m=8,t=1,p=1$'}",
      ],
      [
        'where a hash waits for being wrapped, a decoy is hashed',
        'const usable = stored === null || isUnwrapped(stored) ? null : stored;',
        'if (stored !== null && isUnwrapped(stored)) return false; const usable = stored;',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/people/account.ts',
    ['test/accounts/foreign-password.test.ts', 'test/accounts/user-import.test.ts'],
    [
      [
        'nobody signs in with a hash that is not wrapped',
        "return 'sealed' in stored && !isStrong(stored.foreign);",
        "return 'sealed' in stored && stored.keyId < 0 && !isStrong(stored.foreign);",
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/import/user-links.ts',
    ['test/accounts/user-links.test.ts'],
    [
      ['a subject that somebody has stays theirs', 'if (found) throw', 'if (found && now() < 0) throw'],
      [
        'with own ids nobody is linked',
        'if (providers.some(({ ownIds }) => ownIds))',
        'if (providers.some(({ id }) => !id))',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/import/line-groups.ts',
    ['test/accounts/user-links.test.ts', 'test/accounts/user-import.test.ts'],
    [['of two lines for one person the first counts', ' || names.some((name) => taken.has(name))', '']],
  ),
  ...guardsIn(
    'src/accounts/people/foreign-function.ts',
    ['test/accounts/foreign-hash.test.ts'],
    [
      ['only argon2id is as strong as ours', "it.type !== 'id' || ", ''],
      ['an old argon2 is not as strong', ' || it.version !== 19) return false;', ') return false;'],
      ['strong hashes take as much memory as ours', 'it.memory >= STRONG.memory && ', ''],
      ['strong hashes make as many passes as ours', 'it.passes >= STRONG.passes && ', ''],
      ["bcrypt's cost is bounded", '|| cost > MAX.cost', ''],
      ['iterations of PBKDF2 are bounded', '|| iterations > MAX.iterations', ''],
      [
        'the memory of imported functions is bounded',
        'if (memory > MAX.memory) return',
        'if (false as boolean) return',
      ],
      [
        'scrypt is not taken that cannot be computed, which would end every sign-in',
        '?? memoryProblem(((2 ** logN + p + 2) * r) / 8 / SCRYPT_SLACK, 1)',
        '',
      ],
      [
        'the time of imported functions is bounded',
        'memory * passes > MAX.memoryTimesPasses',
        'memory * passes > 1e12',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/passwords/foreign-hash.ts',
    ['test/accounts/foreign-hash.test.ts'],
    [['a digest is not so short that wrong passwords fit', 'digest.length < DIGEST_BYTES.min || ', '']],
  ),
  ...guardsIn(
    'src/accounts/passwords/password-hash.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'what another program hashed is compared in constant time',
        'timingSafeEqual(Buffer.from(given), Buffer.from(this.#opened(stored)))',
        'timingSafeEqual !== undefined && given === this.#opened(stored)',
      ],
    ],
  ),
  ...guardsIn('src/accounts/sign-in/sign-in.ts', ACCOUNTS_TESTS, [
    [
      'while there are foreign hashes, what was checked is answered when the floor is over',
      'await floorIsOver();',
      'await parts.floor;',
    ],
  ]),
  ...guardsIn(
    'src/accounts/sign-in/sign-in-floor.ts',
    ['test/accounts/sign-in-floor.test.ts'],
    [['the floor is beyond what the slowest takes', 'const MARGIN = 2;', 'const MARGIN = 1;']],
  ),
  ...guardsIn(
    'src/accounts/sign-in/sign-in.ts',
    ['test/accounts/decoy-hash.test.ts'],
    [
      [
        'nobody looks whether there is an account before the password was hashed',
        'const isRight = await',
        "if (account === null) return { kind: 'wrong_credentials' }; const isRight = await",
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/sign-in/form-token.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'form tokens are compared in constant time',
        'timingSafeEqual(digest(keyring, keyId, binding, madeAt), presented)',
        'digest(keyring, keyId, binding, madeAt).equals(timingSafeEqual ? presented : presented)',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/sign-in/known-browser.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'marks are compared in constant time',
        'timingSafeEqual(macOf(key, account, head), shown)',
        'macOf(key, account, head).equals(timingSafeEqual ? shown : shown)',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/passwords/invitation.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'tokens of invitations are compared in constant time',
        "timingSafeEqual(Buffer.from(digest, 'base64url'), digestOf(token))",
        "digestOf(token).equals(timingSafeEqual ? Buffer.from(digest, 'base64url') : digestOf(token))",
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/passwords/invitation.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'the token of an invitation has its random bits',
        "randomBytes(32).toString('base64url')",
        "randomBytes(8).toString('base64url').padEnd(43, 'A')",
      ],
    ],
  ),
  ...guardsIn(
    'src/cli/input/password-input.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'a password that was made has its random bits',
        "return [group(), group(), group(), group()].join('-');",
        "return [group(), 'aaaaa', 'aaaaa', group()].join('-');",
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/sign-in/form-token.ts',
    ['test/http/browser/sign-in.test.ts'],
    [
      [
        'a form is of the browser that it was shown to',
        'JSON.stringify([binding.session, binding.purpose',
        'JSON.stringify([binding.purpose',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/sign-in/form-token.ts',
    ['test/http/browser/consent.test.ts'],
    [['a form is about what it was shown for', 'binding.subject, madeAt', 'madeAt']],
  ),
  ...guardsIn(
    'src/accounts/sign-in/form-token.ts',
    ['test/accounts/form-token.test.ts'],
    [
      ['a form is for one purpose', 'binding.purpose, binding.subject, madeAt', 'binding.subject, madeAt'],
      ['the time of a form is part of its proof', 'binding.subject, madeAt', 'binding.subject'],
      ['a form counts for ten minutes', 'now - madeAt > lifetime || ', ''],
      [
        'a form from ahead of the clock is none',
        ' || isAheadOfClock(madeAt, 0, now) ?',
        ' || isAheadOfClock === null ?',
      ],
    ],
  ),
  ...guardsIn('src/accounts/passwords/password-hash.ts', ACCOUNTS_TESTS, [
    [
      'lanes have a slot each',
      'this.#lanes = { known: new FairSlot(bounds), unknown: new FairSlot(bounds) };',
      'const slot = new FairSlot(bounds); this.#lanes = { known: slot, unknown: slot };',
    ],
    ['a stop turns away who waits to be hashed', 'this.#lanes.unknown.stop();', ''],
  ]),
  ...guardsIn(
    'src/oauth/device/device-authorization.ts',
    ['test/oauth/device-authorization.test.ts'],
    [
      [
        'a network takes no more places than it leaves',
        'return waiting * MAX_WEIGHT < free * weight;',
        'return waiting < free && weight > 0;',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/store/device-requests.ts',
    ['test/postgresql/conformance.test.ts'],
    [
      [
        'a network takes no more places than it leaves',
        'WHERE of_1 * 32 < free AND of_4 * 32 < free * 4 AND of_32 * 32 < free * 32',
        'WHERE free > 0',
      ],
    ],
  ),
  ...guardsIn('src/accounts/providers/provider-users.ts', USERS_TESTS, [
    [
      'a provider reaches its own subjects alone',
      'findIdentity(provider.id, subject)',
      "findIdentity(provider && 'product', subject)",
    ],
    [
      'who writes many people takes turns, and leaves connections to others',
      'await this.#writing.run(provider.id, () => this.#write(provider, people, actor));',
      'await this.#write(provider, people, actor);',
    ],
    ['a provider has a limit of its own', 'if (wait > 0) return', 'if (wait > 1000) return'],
    ['the last epoch of an id that may come again stays', 'provider.ownIds,', 'false,'],
    [
      'a subject comes once in a list',
      'if (earlier !== undefined) return',
      'if (earlier !== undefined && earlier < 0) return',
    ],
  ]),
  ...guardsIn('src/accounts/providers/provider-authenticator.ts', USERS_TESTS, [
    ['a right that was not given is none', 'return provider.rights.includes(right)', 'return provider && right'],
  ]),
  ...guardsIn('src/accounts/people/provider-people.ts', USERS_TESTS, [
    [
      'people are written in one order',
      'said.toSorted((one, other) => (one.subject < other.subject ? -1 : 1))',
      '[...said]',
    ],
  ]),
  ...guardsIn(
    'src/accounts/sign-in/accounts.ts',
    ['test/http/browser/password-left-out.test.ts'],
    [
      [
        'a password that is no way to sign in is neither checked nor set',
        "return this.#parts.methods.includes('password');",
        'return this.#parts.methods.length > 0;',
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/sign-in/sign-in.ts',
    ['test/accounts/accounts.test.ts'],
    [['the sign-ins of an account are counted', 'parts.signInThrottle.count(counted, parts.now())', 'parts.now()']],
  ),
  ...guardsIn(
    'src/storage/tables/accounts/sessions.ts',
    ['test/storage/sqlite.test.ts'],
    [
      ['an account has at most 50 live sessions', 'OFFSET ${MAX_SESSIONS - 1}', 'OFFSET ${MAX_SESSIONS + 1000}'],
      ['sessions that ended go before live ones', 'THEN 0 ELSE 1 END', 'THEN 0 ELSE 0 END'],
    ],
  ),
  ...guardsIn('src/accounts/people/named-account.ts', ADDRESS_TESTS, [
    ['an address that a product brought names nobody', 'all.filter(ownsEmail)', 'all.filter(() => true)'],
    [
      'an address names one account',
      'if (account && others.length === 0) return account;',
      'if (account) return account;',
    ],
  ]),
  ...guardsIn('src/accounts/people/provider-people.ts', ADDRESS_TESTS, [
    ['what an operator set stays verified', 'if (isSame && before.emailSetHere) return {};', ''],
    [
      'what a product brings was not set here',
      '{ email, emailVerified, emailSetHere: false }',
      '{ email, emailVerified }',
    ],
  ]),
  ...guardsIn('src/accounts/people/profile.ts', ADDRESS_TESTS, [
    [
      'an address without email_verified is not verified',
      'email === undefined && email_verified === undefined',
      'email_verified === undefined',
    ],
  ]),
  ...guardsIn('src/storage/tables/accounts/accounts.ts', ADDRESS_TESTS, [
    [
      'an address that was set here is found, however many claimed it',
      "ORDER BY CASE WHEN email_set_here OR ${HAS_NAMES('account')} THEN 0 ELSE 1 END, created_at",
      'ORDER BY created_at',
    ],
  ]),
  ...guardsIn('src/storage/tables/grants/grants-in-context.ts', ADDRESS_TESTS, [
    ['an app is told verified addresses alone', 'emailVerified ? email : null', 'emailVerified ? email : email'],
  ]),
  ...guardsIn('src/oauth/grants/person-fields.ts', ADDRESS_TESTS, [
    ['consent names verified addresses alone', 'person.emailVerified ? person.email : null', 'person.email'],
  ]),
  ...guardsIn('src/http/browser/send-page.ts', ADDRESS_TESTS, [
    ['pages show verified addresses alone', 'email: verifiedEmail(account)', 'email: account.email'],
  ]),
  ...guardsIn(
    'src/http/provider/users.ts',
    ['test/http/provider/users.test.ts'],
    [['what ends something is counted by itself', "ENDINGS.has(operation) ? 'endings' : 'calls'", "'calls'"]],
  ),
  ...guardsIn(
    'src/storage/sqlite/store/grants.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'a provider that was paused meanwhile takes no app back',
        'proof && !tables.isAny(',
        'proof === null && !tables.isAny(',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/statements/runner.ts',
    ['test/storage/sqlite.test.ts'],
    [['a walk lets others have their turn', 'rows.length >= MANY_ROWS', 'rows.length >= 1000 * MANY_ROWS']],
  ),
];
