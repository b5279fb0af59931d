/** The guards of packages/product, and of the connections that a product lists and ends. */
import { type Guard, guardsIn } from './guard.ts';

const HOSTILE = ['test/product/hostile.test.ts'];
const DEMANDS = ['test/product/demands.test.ts'];
const CONNECTIONS = ['test/http/provider/connections.test.ts'];

/** Guards of the package, and of the calls for a settings page. */
export const productPackageGuards: readonly Guard[] = [
  ...guardsIn('packages/product/src/sign-in.ts', HOSTILE, [
    [
      'a post from another site is refused by the product',
      'if (isPost && !this.#isFromOwnPage(visit))',
      'if (isPost && !visit)',
    ],
    [
      'an answer needs the MAC of its own request',
      "this.#kept.isMac(query.get('mac') ?? '', 'says', kept.digest, says) ? says : ''",
      'says',
    ],
    [
      'a button goes on as the person whom it named',
      "if (answer === '' ? kept.mustChoose && !isNew : answer !== goOn)",
      "if (answer === '' ? kept.mustChoose && !isNew : false)",
    ],
  ]),
  ...guardsIn('packages/product/src/kept-request.ts', HOSTILE, [
    ['the name of an app is cut between characters', '/^.{0,100}/su', '/^.{0,100}/s'],
    ['the expected address is cut between characters', '/^.{0,254}/su', '/^.{0,254}/s'],
  ]),
  ...guardsIn('packages/product/src/sign-in.ts', DEMANDS, [
    [
      'a login page that sends people straight back makes no loop',
      "if (step !== 'sent' && time !== null) return",
      'if (time !== null) return',
    ],
    [
      'an old sign-in does not do for an app that wants a new one',
      '(time !== null && isSince(time, kept.oldest))',
      '(time !== null && isSince(time, 0))',
    ],
    [
      'a product that keeps no times states none that it does not know',
      '(time !== null && isSince(time, kept.oldest))',
      '(time === null || isSince(time, kept.oldest))',
    ],
  ]),
  ...guardsIn('packages/product/src/kept-request.ts', HOSTILE, [
    [
      'a kept request is as the product wrote it',
      "if (!this.isMac(mac, 'request', text, rest) || digestOf",
      'if (digestOf',
    ],
    ['a browser keeps three requests at most', '[request, ...others].slice(0, MAX_REQUESTS)', '[request, ...others]'],
    [
      'kept requests have 7,000 characters at most',
      "while (kept.map((one) => this.#format(one)).join('').length > MAX_CHARACTERS)",
      'while (kept.length > MAX_REQUESTS)',
    ],
  ]),
  ...guardsIn(
    'packages/product/src/valetkey.ts',
    ['test/product/api.test.ts'],
    [
      ['the log of a product holds no request', "text.replace(/[\\w.~+/=-]{40,}/g, '…').slice(0, 300)", 'text'],
      [
        'a refused call is not repeated before Retry-After',
        'const wait = retryAfter && Number(retryAfter) >= 0 ? Number(retryAfter) * 1000 : 250 * tries;',
        'const wait = retryAfter === null ? 0 : 250 * tries;',
      ],
    ],
  ),
  ...guardsIn('src/oauth/connected-apps/grant-registry.ts', CONNECTIONS, [
    [
      'a product ends connections of the named person alone',
      'if (grant?.resourceOwnerId !== resourceOwnerId) return false;',
      'if (!grant) return false;',
    ],
    [
      'a connection is ended only while the product may end it',
      'return this.#store.revokeGrant(grant.id, revokerOf(event), event, proof);',
      'return this.#store.revokeGrant(grant.id, revokerOf(event), event, proof && undefined);',
    ],
    [
      'an app is ended only while the product may end it',
      "event, 'butForDevices', proof)) > 0",
      "event, 'butForDevices', proof && undefined)) > 0",
    ],
  ]),
];
