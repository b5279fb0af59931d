/** The guards of operators' passkeys, sessions and pages. */
import { type Guard, guardsIn } from './guard.ts';

const ATTACKS = ['test/http/operator/attacks.test.ts'];
const PRESENCE = ['test/http/operator/presence-and-passkeys.test.ts'];
const FIRST = ['test/http/operator/first-passkey.test.ts'];
const TEXTS = ['test/http/operator/texts.test.ts'];
const SIGN_IN = ['test/http/operator/sign-in.test.ts'];

/** Guards of the operators' address. */
export const passkeyGuards: readonly Guard[] = [
  ...guardsIn('src/operator/access/passkey-challenge.ts', ATTACKS, [
    ['a challenge is of one browser', 'JSON.stringify([browser, purpose', 'JSON.stringify([browser.length, purpose'],
    ['a challenge is of one purpose', ', purpose, operatorId, keyring', ', operatorId, keyring'],
    [
      'a challenge is ours',
      'timingSafeEqual(proof(keyring, keyId, binding, head), proven)',
      'proof(keyring, keyId, binding, head) && proven',
    ],
    ['a challenge expires', 'expiresAt <= now ||', ''],
  ]),
  ...guardsIn('src/operator/access/passkey-challenge.ts', FIRST, [
    ['a first passkey is made in one session', "about: [session.toString('base64url'), act]", "about: ['', act]"],
    [
      'a first passkey is made for one act',
      "about: [session.toString('base64url'), act]",
      "about: [session.toString('base64url'), '']",
    ],
  ]),
  ...guardsIn('src/operator/access/webauthn.ts', ATTACKS, [
    [
      'a new passkey verifies its user',
      'expectedRPID: rp.id, requireUserVerification: true',
      'expectedRPID: rp.id, requireUserVerification: false',
    ],
    [
      'a passkey verifies its user',
      'counter: 0 }, requireUserVerification: true',
      'counter: 0 }, requireUserVerification: false',
    ],
    [
      'a passkey says whose it is',
      "!isUnnamed && userHandle !== Buffer.from(operatorId).toString('base64url')",
      'userHandle === 0',
    ],
    ['whoever signs in is named', "=== null && asked === 'one operator'", '=== null'],
    ['a counter goes on', 'return counter > before || (counter === 0 && before === 0);', 'return true;'],
    ['no passkey answers from a frame', '.crossOrigin) throw', '.crossOrigin && false) throw'],
    ['transports are words', 'TRANSPORTS.filter((each) => said.includes(each)) : []', 'said : (said as string[])'],
  ]),
  ...guardsIn('src/operator/access/operator-sign-in.ts', ATTACKS, [
    ['a repeated answer is recorded', 'await store.recordOperatorRefused({ digest', 'void ({ digest'],
    [
      'a confirmation is by one’s own passkey',
      "binding.operatorId !== '' && binding.operatorId !== operator.id",
      "binding.operatorId === 'nobody'",
      'the store replaces a session of the same operator alone',
    ],
  ]),
  ...guardsIn('src/operator/access/operator-sign-in.ts', SIGN_IN, [
    ['a one-time address has one purpose', 'found.address.purpose !== purpose', 'purpose === undefined'],
    ['a one-time address expires', 'expiresAt > now &&', ''],
    ['a one-time address is not of the future', ' && !isAheadOfClock(createdAt, 0, now)', ''],
    [
      'a sign-in ends the earlier session',
      'const replaces = isReplaced ? earlier.digest : null;',
      'const replaces = null;',
    ],
    [
      'a sign-in ends the session of another operator in its browser',
      'if (!isReplaced) await this.#endEarlier(earlier, session, browser);',
      '',
    ],
    [
      'a sign-in demands a session of its own operator alone',
      'earlier?.operatorId === operator.id && isLiveOperatorSession(earlier, now())',
      'earlier !== null',
    ],
    [
      'an enrollment ends the earlier session',
      "(earlier, begun.session, browser); return { kind: 'signed_in', token: begun",
      "(null, begun.session, browser); return { kind: 'signed_in', token: begun",
    ],
    [
      'a one-time address ends the earlier session',
      "(earlier, session, browser); return { kind: 'signed_in', token: sessionToken",
      "(null, session, browser); return { kind: 'signed_in', token: sessionToken",
    ],
    ['a confirmed session ends 12 hours after its sign-in', 'beginning: found.session,', ''],
  ]),
  ...guardsIn('src/storage/tables/operators/operator-sessions.ts', SIGN_IN, [
    ['the end of all sessions ends one-time links', '{ sql: END_ADDRESSES, values: [operatorId] },', ''],
  ]),
  ...guardsIn(
    'src/operator/access/operators.ts',
    ['test/operator/access/operators.test.ts'],
    [
      [
        'a program gets no one-time link',
        'await this.#add(operator, null, actor);',
        "await this.#add(operator, this.#newAddress(operator.id, 'enroll').address, actor);",
      ],
    ],
  ),
  ...guardsIn('src/operator/access/operators.ts', PRESENCE, [
    ['no admin is noticed', "role === 'admin' && status === 'active')", "role === 'admin' || status !== 'active')"],
    ['a program is no admin on the pages', 'passkeys.some(({ length }) => length > 0)', 'passkeys.length > 0'],
  ]),
  ...guardsIn(
    'src/cli/operators/operator.ts',
    ['test/cli/transcripts.test.ts'],
    [['only what takes an admin away warns', "if (role !== 'admin' || (await", 'if ((await']],
  ),
  ...guardsIn('src/oauth/readable-text.ts', TEXTS, [
    ['a label holds no control', 'label: /[\\p{Cc}\\p{Cf}', 'label: /[\\p{Cf}'],
    ['a label changes no direction', 'label: /[\\p{Cc}\\p{Cf}', 'label: /[\\p{Cc}'],
    ['a label is no half of a character', 'label: /[\\p{Cc}\\p{Cf}\\p{Cs}', 'label: /[\\p{Cc}\\p{Cf}'],
    ['a label is one line', 'label: /[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}', 'label: /[\\p{Cc}\\p{Cf}\\p{Cs}'],
    ['words are readable', '(?![\\u200c\\u200d])[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]', '(?!)'],
    ['a name has an end', '&& [...name].length <= most', ''],
    ['a name is seen', 'VISIBLE.test(name) ? null', 'name ? null'],
  ]),
  ...guardsIn('src/accounts/people/account.ts', TEXTS, [
    ['a person’s name is readable', "return nameProblem(name, 'words');", 'return name && null;'],
    ['an email address is readable', "isReadable(email, 'label') &&", ''],
  ]),
  ...guardsIn('src/accounts/import/user-import.ts', TEXTS, [
    ['an imported user name is readable', 'return nameProblem(name,', 'return name ? null : nameProblem(name,'],
  ]),
  ...guardsIn(
    'src/accounts/import/user-import.ts',
    ['test/accounts/user-import.test.ts'],
    [
      [
        'who has a password here has no longer name than others here',
        'hash === null ? foreignNameProblem(name) : personNameProblem(name)',
        'foreignNameProblem(name)',
      ],
    ],
  ),
  ...guardsIn('src/operator/apps/app-profile.ts', TEXTS, [
    ['a contact is readable', 'emailProblem(contact) === null', "contact.includes('@')"],
  ]),
  ...guardsIn('src/settings/setting-readers.ts', TEXTS, [
    ['the address for help is readable', "isAddress && isReadable(text, 'label')", 'isAddress'],
    ['the name of the product is readable', "const problem = nameProblem(text, 'words');", 'const problem = null;'],
  ]),
  ...guardsIn('src/operator/access/operator-sign-in.ts', TEXTS, [
    ['a passkey’s name is readable', "if (problem) return { kind: 'name', detail: problem };", ''],
  ]),
  ...guardsIn('src/http/operator/console/sign-in/sign-in.ts', TEXTS, [
    [
      'a name is cut between characters',
      "return [...(typed ?? '').trim()].slice(0, MAX_NAME).join('').trim()",
      "return (typed ?? '').trim().slice(0, MAX_NAME)",
    ],
  ]),
  ...guardsIn('src/operator/access/operator-sign-in.ts', PRESENCE, [
    [
      'a confirmed session is still of the passkey that began it',
      'beginning: found.session,',
      'beginning: { ...found.session, begunBy: null },',
    ],
    [
      'a passkey takes its sessions with it',
      'store.removePasskey(id, operator.id, by.digest',
      'store.removePasskey(id, operator.id, Buffer.alloc(0)',
    ],
    [
      'a copy that answered beside the other is noticed',
      'if (!isDone) return this.#suspect(passkey, assertion, operator, browser);',
      "if (!isDone) return wrong('late');",
    ],
    [
      'a counter that went back takes sessions with it',
      'await store.suspectPasskey(assertion, operator.id, now(), refused(COPIED))',
      'now() < 0',
    ],
  ]),
  ...guardsIn('src/storage/tables/operators/operator-sessions.ts', PRESENCE, [
    ['a passkey begins nothing that outlives it', '(begun_by = $3 OR confirmed_by = $3)', 'confirmed_by = $3'],
    ['a passkey confirms nothing that outlives it', '(begun_by = $3 OR confirmed_by = $3)', 'begun_by = $3'],
    ['a removed passkey leaves no session at an address', '{ sql: END_BY_ADDRESS, values: [operatorId] },', ''],
    ['a removed passkey leaves presence nowhere', '{ sql: TAKE_PRESENCE, values },', ''],
    ['a session loses the presence that a removed passkey gave', '(digest <> $2 OR confirmed_by = $3)', 'digest <> $2'],
    [
      'a repeated answer is no copied passkey',
      'demands: [isActive(operatorId), isFirst], first: { sql: SUSPECT',
      'demands: [isActive(operatorId)], first: { sql: SUSPECT',
    ],
    ['a passkey is marked', 'suspected_at = COALESCE(suspected_at, $4)', 'suspected_at = CASE WHEN $4 < 0 THEN 0 END'],
  ]),
  ...guardsIn(
    'src/storage/tables/operators/operator-sessions.ts',
    ['test/storage/sqlite.test.ts'],
    [
      ['a counter that went on is no copied passkey', ' AND counter >= $3 AND', ' AND $3 >= 0 AND'],
      ['a passkey that counts nothing is no copied one', ' AND counter > 0', ''],
      [
        'what a passkey gave writes nothing any more',
        '{ sql: TAKE_PRESENCE, values }, raisingEpoch(operatorId)]',
        '{ sql: TAKE_PRESENCE, values }]',
      ],
    ],
  ),
  ...guardsIn('src/http/operator/console/sign-in/guard.ts', ATTACKS, [
    ['whoever signed in meanwhile is asked anew', 'form.get(ANSWERER) !== access.operator.id', 'false'],
    ['a wrong answer does nothing', "if (outcome.kind !== 'signed_in') {", "if (outcome.kind === 'dead') {"],
    ['a form that is loaded again raises no alarm', '&& !isPresent(access.by, service.now())', ''],
    [
      'a post comes from our own page',
      "request.method === 'POST' && !sessions",
      "request.method === 'none' && !sessions",
    ],
  ]),
  ...guardsIn(
    'src/http/operator/console/sign-in/guard.ts',
    ['test/http/operator/operators.test.ts'],
    [
      [
        'an act that asks for a passkey is done with one alone',
        'if (still !== null) return refuse',
        'if (false) return refuse',
      ],
      ['a refused act is recorded', 'await operators.access.refused(act, access, refusal, originOf(request));', ''],
    ],
  ),
  ...guardsIn(
    'src/http/operator/console/sign-in/guard.ts',
    ['test/http/operator/console/app-forms.test.ts'],
    [
      [
        'an act needs what the table says',
        'if (refusal !== null) return refuse',
        "if (refusal === 'disabled') return refuse",
      ],
    ],
  ),
  ...guardsIn('src/http/operator/console/sign-in/unsent-form.ts', ATTACKS, [
    ['an answer of a passkey is never sent back', 'OURS = [ANSWER, ANSWERER', 'OURS = [ANSWERER'],
  ]),
  ...guardsIn('src/http/operator/console/console-session.ts', ATTACKS, [
    ['a post comes from a window', '!isNavigation(request) || (site', '(site'],
    [
      'a post says where it comes from',
      "return origin === this.#origin || (origin === undefined && site === 'same-origin');",
      'return true;',
    ],
  ]),
  ...guardsIn('src/http/operator/console/console-session.ts', SIGN_IN, [
    ['cookies are for this site alone', "sameSite: 'strict'", "sameSite: 'lax'"],
    ['cookies are tied to the host', "this.#isHttps ? '__Host-' : ''", "''"],
  ]),
  ...guardsIn('src/http/operator/console/sign-in/continue-to.ts', ATTACKS, [
    ['a sign-in does not lead in a circle', "test(address) ? '/' : address;", 'test(address) ? address : address;'],
  ]),
  ...guardsIn('src/http/operator/console/console-pages.ts', ATTACKS, [
    ['a page is for a window', 'isNavigation(reply.request) ?', 'isNavigation(reply.request) || true ?'],
  ]),
  ...guardsIn(
    'src/http/browser/send-page.ts',
    ['test/flows/operators-in-a-browser.test.ts'],
    [['a one-time address is in no Referer', "reply.header('Referrer-Policy', 'strict-origin');", '']],
  ),
  ...guardsIn(
    'src/settings/contradictions.ts',
    ['test/settings/configuration.test.ts'],
    [['the operators’ host is not shared', "isShared && hostname !== 'localhost'", 'isShared && hostname === null']],
  ),
  ...guardsIn(
    'src/settings/setting-readers.ts',
    ['test/settings/configuration.test.ts'],
    [
      [
        'the operators’ host is a name',
        "isIP(new URL(origin).hostname.replace(/^\\[|\\]$/g, '')) !== 0",
        'isIP(origin) === 7',
      ],
    ],
  ),
];
