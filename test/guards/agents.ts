/** The guards of what agents and other modern clients do by habit. */
import { type Guard, guardsIn } from './guard.ts';

/** Guards of what agents do. */
export const agentsGuards: readonly Guard[] = [
  ...guardsIn(
    'src/oauth/redirect-uri.ts',
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
];
