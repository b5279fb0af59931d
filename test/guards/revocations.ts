/** The guards of what resource servers are told of revocations, and identity providers of disconnects. */
import { type Guard, guardsIn } from './guard.ts';

const STREAM_TESTS = ['test/http/api/revocations.test.ts'];
const DISCONNECT_TESTS = ['test/http/provider/disconnects.test.ts'];
const BEGINNING_TESTS = ['test/http/api/revocation-beginnings.test.ts'];
const POSTGRESQL_TESTS = ['test/postgresql/revocations.test.ts', 'test/postgresql/instances.test.ts'];

/** Guards of the stream of revocations, in whichever folder. */
export const revocationGuards: readonly Guard[] = [
  ...guardsIn('src/storage/postgresql/audit.ts', POSTGRESQL_TESTS, [
    [
      'nobody is told that nothing happened while an event may be hidden',
      'if (!settled) throw await heldUp(connection);',
      'if (!settled) return [];',
    ],
    ['a missing place is waited for', 'if (isWithoutGap(events, sequence)) return events;', 'return events;'],
    [
      'a trail that lost its newest places is noticed',
      'if (events[0]?.sequence !== sequence) throw',
      'if (events[0]?.sequence !== sequence) return events; if (events[0]?.sequence !== sequence) throw',
    ],
  ]),
  ...guardsIn('src/http/api/event-stream.ts', POSTGRESQL_TESTS, [
    ['no stream begins while an event may be hidden', 'feed.isHeldUp || ', ''],
  ]),
  ...guardsIn('src/http/api/revocations.ts', BEGINNING_TESTS, [
    [
      'who proved itself before its stream had a place does so again',
      'if (still instanceof Refusal) return',
      'if ((still as unknown) === 0) return',
    ],
  ]),
  ...guardsIn('src/http/provider/disconnects.ts', BEGINNING_TESTS, [
    [
      'a provider that was changed before its stream had a place gets none',
      'if (await service.providers.refusalNow(provider))',
      'if (false as boolean)',
    ],
  ]),
  ...guardsIn('src/http/api/trail-feed.ts', DISCONNECT_TESTS, [
    ['who comes back is told what it missed', 'isBehind: place < this.#sequence', 'isBehind: false'],
  ]),
  ...guardsIn('src/http/provider/disconnect-feed.ts', DISCONNECT_TESTS, [
    [
      'a provider that lost its right, its secret or itself loses its streams',
      'isOver: news.some((event) => event.sequence > after && endsStreams(event, providerId))',
      'isOver: false',
    ],
  ]),
  ...guardsIn('src/accounts/stream-place.ts', DISCONNECT_TESTS, [
    [
      'a place of another provider is none',
      'return owner === providerId ? sequence : null;',
      'return owner ? sequence : null;',
    ],
    ['a place is good for a day', 'opened.expiresAt <= now || ', ''],
  ]),
  ...guardsIn('src/accounts/disconnect-notice.ts', DISCONNECT_TESTS, [
    ['a provider hears of its own people alone', 'identity.providerId === providerId &&', ''],
    ['a provider hears of nobody for what was before they were its own', 'identity.createdAt <= event.at', 'true'],
    ['a notice is of whom the event names', 'identity.accountId === event.resourceOwnerId &&', ''],
  ]),
  ...guardsIn('src/http/api/trail-feed.ts', BEGINNING_TESTS, [
    [
      'a place of before is kept',
      'if (this.#streams.size > 0) return; this.#sequence = last;',
      'this.#sequence = last;',
    ],
    [
      'no place is looked for while streams are open',
      'if (this.#streams.size > 0) return; this.#asked ??=',
      'this.#asked ??=',
    ],
    ['streams that begin together share a place', 'this.#asked ??= ', 'this.#asked = '],
  ]),
  ...guardsIn('src/http/api/revocation-feed.ts', STREAM_TESTS, [
    [
      'a retired secret ends its streams',
      'const isOver = resourceServer === null || news.some((event) => endsStreams(event, id));',
      'const isOver = resourceServer === null;',
    ],
    ['a resource server that is gone loses its streams', 'resourceServer === null || news.some', 'news.some'],
  ]),
  ...guardsIn(
    'src/oauth/revocation-notice.ts',
    [...STREAM_TESTS, 'test/oauth/revocation-notice.test.ts'],
    [
      [
        'the end of grants is told only to those that could have heard of them',
        'if (!notice || !isOfGrants(notice)) return notice;',
        'return notice;',
      ],
      [
        'what is not known to be its business is not named',
        'if (!resourceServer || !event.endedAccess) return {};',
        'if (!resourceServer || !event.endedAccess) return notice;',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/resource-server.ts',
    [...STREAM_TESTS, 'test/oauth/revocation-notice.test.ts'],
    [
      [
        'grants for another resource are not told',
        'isForResource(access, resourceServer.resource) && visibleScopes(',
        'visibleScopes(',
      ],
      [
        'grants without a scope that it may see are not told',
        ' && visibleScopes(resourceServer, access) !== null;',
        ';',
      ],
    ],
  ),
];
