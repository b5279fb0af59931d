/** The guards of requests and pages. */
import { type Guard, guardsIn } from './guard.ts';

/** Guards of src/http that are no rules of revocations or connected apps. */
export const httpGuards: readonly Guard[] = [
  ...guardsIn(
    'src/pages/html/markdown.ts',
    ['test/pages/markdown.test.ts'],
    [
      [
        'foreign text is no markup in a Markdown document',
        "return escaped(decoded(text ?? '').replace(/\\s+/g, ' '));",
        "return decoded(text ?? '').replace(/\\s+/g, ' ');",
      ],
      ['code ends at more backticks than are in it', 'Math.max(least, longest + 1)', 'Math.min(least, longest + 3)'],
    ],
  ),
  ...guardsIn(
    'src/pages/developers/developers-examples.ts',
    ['test/http/browser/developers.test.ts'],
    [
      [
        'a link puts nothing into an example that ends its quotes',
        'return /^[\\w.~:/?&=@%+-]{1,255}$/.test(clientId);',
        'return /^[^]{1,255}$/.test(clientId);',
      ],
      ['a link puts no long text into an example', '{1,255}$/.test(clientId)', '+$/.test(clientId)'],
      [
        'a client ID in an address is one parameter of it',
        "encodeURIComponent(clientId ?? 'CLIENT_ID')",
        "(clientId ?? 'CLIENT_ID')",
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/authorize/authorize.ts',
    ['test/http/browser/prompt.test.ts'],
    [
      [
        'an app that wants no page meets none over a limit',
        'if (!wantsNoPage(outcome)) return answerProblem(pages.answers, request, reply, problem);',
        'if (outcome) return answerProblem(pages.answers, request, reply, problem);',
      ],
      [
        'an app that wants no page meets none while the store cannot serve',
        'if (!(error instanceof StoreUnavailable && wantsNoPage(outcome))) throw error;',
        'if (error instanceof Error) throw error;',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/authorize/authorize.ts',
    ['test/http/browser/person-fields.test.ts'],
    [
      [
        'the consent form is bound to what it names of the person',
        'JSON.stringify([requestFingerprint(outcome), fieldsThere(outcome.personFields, account)])',
        'JSON.stringify([requestFingerprint(outcome), (fieldsThere, account.id)])',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/checks/unknown-addresses.ts',
    ['test/http/unknown-addresses.test.ts'],
    [
      ['HTML is for those who name it', "type === 'text/html' &&", 'type !== undefined &&'],
      [
        'a page in another case is JSON for programs',
        'there && !there.isPage ? there.answers',
        'there ? there.answers',
      ],
      ['an empty id is none', '!request.is404 && !namesNothing(request)', '!request.is404'],
    ],
  ),
  ...guardsIn(
    'src/http/connection/reading.ts',
    ['test/http/connection/connection-bounds.test.ts'],
    [['what came is read before it counts as silence', 'setInterval(() => setImmediate(check),', 'setInterval(check,']],
  ),
  ...guardsIn(
    'src/http/servers.ts',
    ['test/http/connection/stop.test.ts'],
    [
      ['a stop looks for connections in several turns', 'const EMPTY_TURNS = 8;', 'const EMPTY_TURNS = 1;'],
      ['a burst waits to be accepted', 'const BACKLOG = 4096;', 'const BACKLOG = 511;'],
    ],
  ),
  ...guardsIn(
    'src/http/connection/request-batch.ts',
    ['test/http/connection/stop.test.ts'],
    [['requests wait while a stop accepts connections', 'if (this.#isHeld())', 'if (false as boolean)']],
  ),
  ...guardsIn(
    'src/http/connection/pipeline.ts',
    ['test/http/connection/pipelining.test.ts'],
    [
      ['of a connection one request is under way', '!isInBody && this.#isUnanswered', 'false'],
      ['the parser gets one head at a time', 'end + HEAD_END.length', 'bytes.length'],
    ],
  ),
  ...guardsIn(
    'src/http/browser/sign-in/invitation.ts',
    ['test/http/browser/invitation.test.ts'],
    [
      [
        'an invitation is used by our own page',
        "if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');",
        '',
      ],
      [
        'the form of an invitation is its browser’s',
        "if (shown !== 'good') return again(403, { kind: FORM_PROBLEMS[shown] });",
        '',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/send-page.ts',
    ['test/http/browser/invitation.test.ts'],
    [['no other request carries the address', "'strict-origin'", "'same-origin'"]],
  ),
  ...guardsIn(
    'src/http/request/decoding.ts',
    ['test/http/requests.test.ts'],
    [
      ['a body in another character set is of ASCII alone', ' && isAscii(body))', ')'],
      [
        'a member that is null and repeated is no absent one',
        ' && names.indexOf(name) === names.lastIndexOf(name)',
        '',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/api/revocations/event-stream.ts',
    ['test/http/requests.test.ts'],
    [['HEAD begins no stream', "if (request.method === 'HEAD') return reply.headers(HEADERS).send();", '']],
  ),
  ...guardsIn(
    'packages/verify/src/verifier.ts',
    ['test/verify/cache.test.ts'],
    [['a clock that is set back keeps no answer for longer', ' && performance.now() < kept.deadline', '']],
  ),
  ...guardsIn(
    'src/http/browser/sign-in/waiting-device.ts',
    ['test/http/browser/device.test.ts'],
    [
      [
        'what can be no code costs no try',
        "if (parseUserCode(typed) === null) return { kind: 'malformed' };",
        'void parseUserCode;',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/sign-in/waiting-device.ts',
    ['test/http/provider/sign-in.test.ts'],
    [
      [
        'a change of accounts does not tell codes to who guesses them',
        "if (retryAfterSeconds > 0) return { kind: 'throttled', retryAfterSeconds };",
        '',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/sign-in/must-change.ts',
    ['test/http/browser/must-change.test.ts'],
    [
      [
        'a password is changed at sign-in by our own page',
        "if (!sessions.isFromOwnPage(request)) return pages.sendError(request, reply, 403, 'form_refused');",
        '',
      ],
      [
        'the form is for whom the password was right',
        "if (shown !== 'good') return fromStart(FORM_PROBLEMS[shown]);",
        '',
      ],
      [
        'the form is one person’s',
        'JSON.stringify([id, passwordSetAt])',
        'JSON.stringify([id.slice(0, 0), passwordSetAt])',
      ],
      [
        'a password that is set ends the form',
        'JSON.stringify([id, passwordSetAt])',
        'JSON.stringify([id, 0 * passwordSetAt])',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/session/browser-session.ts',
    ['test/http/requests.test.ts'],
    [['a HEAD changes no cookie', "if (reply.request.method === 'HEAD') return;", '']],
  ),
  ...guardsIn(
    'src/http/browser/session/browser-session.ts',
    ['test/http/browser/prompt.test.ts'],
    [['a sign-in that was demanded is recent', 'now() - signedInAt <= DEMANDED_SIGN_IN_MS', 'DEMANDED_SIGN_IN_MS > 0']],
  ),
  ...guardsIn(
    'src/http/browser/session/browser-session.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'the value of a visitor has its random bits',
        "randomBytes(32).toString('base64url')",
        "randomBytes(8).toString('base64url').padEnd(43, 'A')",
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/session/browser-session.ts',
    ['test/http/browser/sign-in.test.ts'],
    [
      [
        'each visitor has a value of their own',
        "return randomBytes(32).toString('base64url');",
        "return randomBytes(1) && 'visitor';",
      ],
      [
        'a sign-in form needs its visitor’s cookie',
        "if (visitor === null) return this.#hasCookie(request) ? 'wrong' : 'no_cookies';",
        "if (visitor === null) return 'good';",
      ],
      ['a sign-in takes the visitor’s value', "this.#clear(reply, 'visitor');", ''],
    ],
  ),
  ...guardsIn(
    'src/http/browser/session/browser-session.ts',
    ['test/http/browser/consent.test.ts', 'test/http/browser/navigation.test.ts'],
    [
      ['a post comes from a window', 'if (!isNavigation(request)) return false;', ''],
      ['a post comes from our own page', "if (site !== undefined) return site === 'same-origin';", ''],
      [
        'where browsers say no more, the origin is looked at',
        'if (origin !== undefined) return origin === this.#service.appUrl;',
        '',
      ],
      [
        'where browsers say no more, the referrer is looked at',
        'return referer === undefined || URL.parse(referer)?.origin === this.#service.appUrl;',
        'return referer !== null;',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/session/navigation.ts',
    ['test/http/browser/navigation.test.ts', 'test/http/browser/consent-policy.test.ts'],
    [
      [
        'what is loaded ahead for a service worker is no navigation',
        "if (headers['service-worker-navigation-preload'] !== undefined) return false;",
        '',
      ],
      ['HEAD grants nothing', "if (method === 'HEAD') return true;", ''],
      ['a frame is no window', "(destination === 'document' && mode === 'navigate')", "mode === 'navigate'"],
      ['a fetch is no navigation', "(destination === 'document' && mode === 'navigate')", "destination === 'document'"],
    ],
  ),
  ...guardsIn(
    'src/http/browser/send-page.ts',
    ['test/http/browser/navigation.test.ts'],
    [['a page is for a window', 'isNavigation(reply.request)', '(isNavigation(reply.request) || true)']],
  ),
  ...guardsIn(
    'src/http/browser/send-page.ts',
    ['test/http/requests.test.ts'],
    [
      ['scripts run on one page alone', '...(mayRunScript ? ["script-src \'self\'"] : [])', '"script-src \'self\'"'],
      ['a page whose form stays says so', '...(formsStay ? ["form-action \'self\'"] : []), ', ''],
    ],
  ),
  ...guardsIn(
    'src/http/browser/send-page.ts',
    ['test/http/operator/console/copy-buttons.test.ts'],
    [['foreign text is no script', "String(page).includes('<script')", "String(page).includes('script')"]],
  ),
  ...guardsIn(
    'src/http/browser/send-page.ts',
    ['test/flows/shared-host.test.ts'],
    [
      ['a page is cut off from the windows of its host', ".header('Cross-Origin-Opener-Policy', 'same-origin')", ''],
      [
        'a page is cut off from windows of its host that are cut off themselves',
        ".header('Cross-Origin-Embedder-Policy', 'require-corp')",
        '',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/sign-in/page-after-sign-in.ts',
    ['test/http/browser/sign-in.test.ts'],
    [
      [
        'what continues is a page of ours',
        'return pages.includes(path) ? text : null;',
        "return pages && path.startsWith('/') ? text : null;",
      ],
      ['what continues has no fragment', '[\\x21\\x22\\x24-', '[\\x21-'],
    ],
  ),
];
