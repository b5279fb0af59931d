/** The guards of requests and pages. */
import { type Guard, guardsIn } from './guard.ts';

/** Guards of src/http that are no rules of revocations or connected apps. */
export const httpGuards: readonly Guard[] = [
  ...guardsIn(
    'src/http/browser/browser-session.ts',
    ['test/http/browser/sign-in.test.ts'],
    [
      [
        'each visitor has a value of their own',
        "const visitor = known ?? randomBytes(32).toString('base64url');",
        "const visitor = known ?? (randomBytes, 'visitor');",
      ],
      [
        'a sign-in form is its visitor’s',
        "    const visitor = request.cookies[this.#name('visitor')];\n    if (visitor === undefined) return 'wrong';",
        "    const visitor = (this.#name, '');",
      ],
      ['a sign-in takes the visitor’s value', "    this.#clear(reply, 'visitor');\n", ''],
    ],
  ),
  ...guardsIn(
    'src/http/browser/browser-session.ts',
    ['test/http/browser/consent.test.ts'],
    [
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
];
