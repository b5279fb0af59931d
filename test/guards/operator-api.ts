/** The guards of the operators' API: who may call it, how often, and how far a page reads. */
import { type Guard, guardsIn } from './guard.ts';

const FRAME = ['test/http/operator/api/frame.test.ts'];
const RIGHTS = ['test/http/operator/api/rights.test.ts'];
const READS = ['test/http/operator/api/reads.test.ts'];
const WRITES = ['test/http/operator/api/writes.test.ts'];
const STORES = ['test/storage/sqlite.test.ts'];

/** Guards of src/http/operator/api and src/operator/lists. */
export const operatorApiGuards: readonly Guard[] = [
  ...guardsIn('src/http/operator/api/key-guard.ts', RIGHTS, [
    [
      'a route’s act is asked for',
      'if (refusal !== null) await refuse(service, request, access, act, refusal); found.set',
      'if (refusal !== null) void refuse; found.set',
    ],
    [
      'a refusal is in the audit trail',
      'await service.operators.access.refused(act, access, refusal, originOf(request));',
      '',
    ],
  ]),
  ...guardsIn('src/http/operator/api/key-guard.ts', FRAME, [
    ['a key has a limit', 'if (wait > 0) throw', 'if (wait < 0) throw'],
    [
      'a key comes as a Bearer token',
      "if (key === null) throw new ApiError('missing_key'",
      "if (key !== null) throw new ApiError('missing_key'",
    ],
  ]),
  ...guardsIn('src/http/operator/api/key-guard.ts', RIGHTS, [
    ['acts that a body makes of a call are asked for', 'if (!also || !access) return;', 'if (also) return;'],
  ]),
  ...guardsIn('src/operator/fields/client-fields.ts', WRITES, [
    ['an own sentence is changed with trust alone', 'changesSentence(scopes, had) || ', ''],
    ['an own sentence is removed with trust alone', ' || changesSentence(had, scopes)', ''],
    ['a scope that keeps its sentence needs no trust', 'scope.sentence !== null && !has(scope)', 'has(scope) || true'],
  ]),
  ...guardsIn('src/operator/fields/identity-provider-fields.ts', RIGHTS, [
    [
      'a home page that users are led to needs the further right',
      "act: ['identity-providers.trust', 'unless default'],",
      '',
    ],
  ]),
  ...guardsIn('src/operator/products-and-apis/identity-provider-registry.ts', WRITES, [
    [
      'a home page is an https address, or one on this machine',
      'homePage === null ? null : homePageProblem(homePage)',
      'homePage === null ? null : homePageProblem("https://a.test")',
    ],
  ]),
  ...guardsIn('src/http/operator/changes/registrations.ts', RIGHTS, [
    [
      'a sentence of the catalogue needs trust',
      "also: () => ['scopes.set-sentences'], }, { ...route('DELETE',",
      "}, { ...route('DELETE',",
    ],
    [
      'the removal of a sentence of the catalogue needs trust',
      "also: () => ['scopes.set-sentences'], }, ]; }",
      '}, ]; }',
    ],
  ]),
  ...guardsIn(
    'src/operator/apps/app-profile.ts',
    ['test/operator/client-registry.test.ts'],
    [['another name or page ends the vouching', 'VOUCHED.some((member) => before[member] !== after[member]) ||', '']],
  ),
  ...guardsIn('src/http/operator/changes/change.ts', WRITES, [
    ['If-Match is compared', 'if (!matchesTag(ifMatch, etagOf(await its.json(row)))) throw changedSince();', ''],
    ['a key is of its whole request', 'request.url, JSON.stringify(membersOf(request))', "''"],
    [
      'a call that takes no body refuses one',
      'if (name !== undefined) throw invalidParameter(name',
      'if (!name) throw invalidParameter(name',
    ],
  ]),
  ...guardsIn(
    'src/http/operator/changes/change.ts',
    ['test/http/operator/changes.test.ts'],
    [
      [
        'the write of a call demands its If-Match',
        'conditions: { unchanged: { noun: its.noun, row } }',
        'conditions: {}',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/registration/registry.ts',
    ['test/operator/client-registry.test.ts'],
    [
      ['an act takes no name of an app', 'const row = await this.#rows.find(id)', 'const row = await this.show(id)'],
      ['a change is permitted for the row that it replaces', 'await permit(before);', ''],
    ],
  ),
  ...guardsIn(
    'src/accounts/sign-in/accounts.ts',
    ['test/accounts/accounts.test.ts'],
    [
      [
        'an act on a found account takes no other name of one',
        'findExactly(store, named)',
        'findNamed(store, named.id)',
      ],
    ],
  ),
  ...guardsIn('src/http/provider/requests.ts', WRITES, [
    ['a merge patch is the body of a PATCH alone', "request.method !== 'PATCH'", 'request.method === null'],
  ]),
  ...guardsIn('src/operator/apps/client-update.ts', WRITES, [
    ['users are asked where codes reach another host', 'hostsOf(before) !== hostsOf(after) ||', ''],
  ]),
  ...guardsIn(
    'src/operator/apps/client-update.ts',
    ['test/operator/client-registry.test.ts'],
    [
      ['users are asked where an app may get more scopes', 'scopeNamesOf(after).some((name) => !had.has(name)) ||', ''],
      [
        'users are asked where an app learns more about them',
        'after.personFields.some((field) => !before.personFields.includes(field)) ||',
        '',
      ],
    ],
  ),
  ...guardsIn('src/http/operator/api/route.ts', WRITES, [
    ['a condition that is not checked does not seem to hold', 'refuseIfMatch(request, operation);', ''],
  ]),
  ...guardsIn(
    'src/operator/idempotency.ts',
    ['test/operator/idempotency.test.ts'],
    [
      ['keys of two operators do not meet', 'digestOf([actor.id, key])', 'digestOf([key])'],
      ['a key is for one request', 'if (!found.request.equals(request)) throw', 'if (false) throw'],
      ['a key ends after 24 hours', '|| found.at <= at - IDEMPOTENCY_KEY_MS', ''],
      ['who lost a race gets what was made', 'if (beside === null) throw error;', 'throw error;'],
    ],
  ),
  ...guardsIn('src/http/operator/api/query.ts', FRAME, [
    ['an unknown parameter is refused', 'if (unknown !== undefined)', 'if (false)'],
    ['a page has a maximum', '|| number > PAGE_LIMITS.most', ''],
  ]),
  ...guardsIn('src/http/operator/api/etag.ts', READS, [
    ['a use is no change', 'MOVES.test(name) ? undefined : value', 'value'],
  ]),
  ...guardsIn('src/http/operator/api/etag.ts', WRITES, [
    ['a tag covers whole keys', "settled + (json[KEYS] ?? '')", 'settled'],
  ]),
  ...guardsIn('src/operator/lists/cursor.ts', STORES, [
    ['a cursor is bound to list and filter', 'bound === textOf(name) ? place : null', 'place'],
    ['a cursor expires', '|| opened.expiresAt <= now', ''],
  ]),
  ...guardsIn('src/operator/lists/page.ts', STORES, [
    ['a page has a time', '|| stopwatch() - start >= MAX_MS', ''],
    ['a page that is full goes on behind its last row', 'placeOf(found.at(-1) as Row)', 'placeOf(rows.at(-1) as Row)'],
  ]),
  ...guardsIn('src/operator/lists/grant-pages.ts', READS, [
    ['grants of what is gone are no grants', 'epochsNow !== null &&', 'epochsNow !== undefined &&'],
  ]),
  ...guardsIn(
    'src/operator/lists/lists.ts',
    ['test/operator/blast-radius.test.ts'],
    [['a page counts to a bound', 'MAX_COUNTED = 10_000', 'MAX_COUNTED = 1_000_000']],
  ),
  ...guardsIn('src/operator/lists/event-pages.ts', STORES, [
    ['the clock may step back', 'since - TRAIL_CLOCK_STEP_MS)) - 1', 'since)) - 1'],
  ]),
];
