/** The guards of what resource servers are told of revocations, and identity providers of disconnects. */
import { type Guard, guardsIn } from './guard.ts';

const STREAM_TESTS = ['test/http/api/revocations.test.ts', 'test/http/api/revocation-crowds.test.ts'];
const DISCONNECT_TESTS = ['test/http/provider/disconnects.test.ts'];
const BEGINNING_TESTS = ['test/http/api/revocation-beginnings.test.ts'];
const POSTGRESQL_TESTS = ['test/postgresql/revocations.test.ts', 'test/postgresql/instances.test.ts'];

/** Guards of the stream of revocations, in whichever folder. */
export const revocationGuards: readonly Guard[] = [
  ...guardsIn('src/storage/postgresql/store/audit-trail.ts', POSTGRESQL_TESTS, [
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
  ...guardsIn('src/http/api/revocations/event-stream.ts', POSTGRESQL_TESTS, [
    ['no stream begins while an event may be hidden', 'feed.isHeldUp || ', ''],
  ]),
  ...guardsIn('src/http/api/revocations/revocations.ts', BEGINNING_TESTS, [
    [
      'who proved itself before its stream had a place does so again',
      'if (still instanceof Refusal) return',
      'if ((still as unknown) === 0) return',
    ],
  ]),
  ...guardsIn('src/accounts/providers/disconnect-cursor.ts', DISCONNECT_TESTS, [
    [
      'a cursor of another provider is none',
      'return owner === providerId ? sequence : null;',
      'return owner ? sequence : null;',
    ],
    ['a cursor is good for a day', 'opened.expiresAt <= now || ', ''],
  ]),
  ...guardsIn('src/accounts/providers/disconnects.ts', DISCONNECT_TESTS, [
    ['a page of disconnects reads one window', 'const EVENTS_OF_PAGE = 500;', 'const EVENTS_OF_PAGE = 5000;'],
    ['a page is told to go on', 'goesOn: events.length === EVENTS_OF_PAGE', 'goesOn: false'],
    [
      'what a limit cuts off is behind the cursor',
      'last = event.sequence;',
      'last = read.events.at(-1)?.sequence ?? last;',
    ],
    [
      'nothing is told while an event may be hidden',
      'const end = await store.lastAuditSequence();',
      'const end = Number.MAX_SAFE_INTEGER;',
    ],
  ]),
  ...guardsIn('src/accounts/providers/disconnect-notice.ts', DISCONNECT_TESTS, [
    ['a provider hears of its own people alone', 'identity.providerId === providerId &&', ''],
    ['a provider hears of nobody for what was before they were its own', 'identity.createdAt <= event.at', 'true'],
    ['a notice is of whom the event names', 'identity.accountId === event.resourceOwnerId &&', ''],
  ]),
  ...guardsIn('src/http/api/revocations/trail-feed.ts', BEGINNING_TESTS, [
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
  ...guardsIn('src/http/api/revocations/revocation-feed.ts', STREAM_TESTS, [
    [
      'a retired secret ends its streams',
      'const endsStream = resourceServer === null || news.some((event) => endsStreams(event, id));',
      'const endsStream = resourceServer === null;',
    ],
    ['a resource server that is gone loses its streams', 'resourceServer === null || news.some', 'news.some'],
  ]),
  ...guardsIn(
    'src/oauth/resource-servers/revocation-notice.ts',
    [...STREAM_TESTS, 'test/oauth/revocation-notice.test.ts'],
    [
      [
        'the end of grants is told only to those that could have heard of them',
        'if (!notice || !isOfGrants(notice)) return notice;',
        'return notice;',
      ],
      [
        'only a new user name is told of a person',
        "if (action === 'user_updated' && !changesUsername(event)) return null;",
        '',
      ],
      [
        'a new user name is told only to those that could have heard the old one',
        'return isTold ? notice : null;',
        'return notice;',
      ],
      ['who gets no user name hears of none', "personFieldsOf(each).includes('username') && ", ''],
      [
        'what is not known to be its business is not named',
        'if (!resourceServer || !event.endedAccess) return {};',
        'if (!resourceServer || !event.endedAccess) return notice;',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/resource-servers/resource-server.ts',
    [...STREAM_TESTS, 'test/oauth/revocation-notice.test.ts'],
    [
      [
        'grants for another resource are not told',
        'isGoodAt(resourceServer, access) && visibleScopes(',
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
