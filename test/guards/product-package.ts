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
      "return this.#kept.isMac(query.get('mac') ?? '', ['answer', digest, answer]) ? answer : null;",
      "return this.#kept.isMac(query.get('mac') ?? '', ['answer', digest, answer]) || digest ? answer : null;",
    ],
    [
      'a button goes on as the person whom it named',
      'if (answer === null ? mustChoose : answer !== `as ${user.subject}`)',
      'if (answer === null ? mustChoose : false)',
    ],
  ]),
  ...guardsIn('packages/product/src/sign-in.ts', DEMANDS, [
    [
      'a login page that sends people straight back makes no loop',
      'if (!wasSent && signedInAt !== null) return',
      'if (signedInAt !== null) return',
    ],
    [
      'an old sign-in does not do for an app that wants a new one',
      'return isSince(time, needed) && ',
      'return needed > 0 && isSince(time, 0) && ',
    ],
    [
      'a product that keeps no times states none that it does not know',
      'if (time === null) return false;',
      'if (time === null) return true;',
    ],
  ]),
  ...guardsIn('packages/product/src/kept-request.ts', HOSTILE, [
    [
      'a kept request is as the product wrote it',
      "if (!this.isMac(mac, ['request', since, text, rest]) || digestOf",
      'if (digestOf',
    ],
    ['a browser keeps three requests at most', 'others.slice(0, MAX_REQUESTS - 1)', 'others'],
    ['kept requests have 7,000 characters at most', 'if (room >= 0) forgotten', 'if (room !== null) forgotten'],
  ]),
  ...guardsIn(
    'packages/product/src/call.ts',
    ['test/product/api.test.ts'],
    [
      ['the log of a product holds no request', "text.replace(/[\\w.~+/=-]{40,}/g, '…').slice(0, 300)", 'text'],
      [
        'a refused call is not repeated before Retry-After',
        'const pause = wait ?? 250 * tries;',
        'const pause = wait === undefined ? 250 * tries : Math.min(wait, 250);',
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
