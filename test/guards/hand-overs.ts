/** The guards of hand-overs, and of what the authorization page refused. */
import { type Guard, guardsIn } from './guard.ts';

const STORE = ['test/storage/sqlite.test.ts'];
const PAGE = ['test/http/browser/pick-up.test.ts'];

/** Guards of the addresses at which developers make secrets. */
export const handOverGuards: readonly Guard[] = [
  ...guardsIn('src/storage/tables/registrations/hand-over-rows.ts', STORE, [
    ['a hand-over is used once', '=> `fetched_at IS NULL AND', '=> `TRUE AND'],
    ['an ended hand-over makes nothing', 'AND ended_at IS NULL AND', 'AND'],
    ['a hand-over expires in the write', 'expires_at > ${at}', '(${at} > 0 OR TRUE)'],
    ['a newer hand-over ends the one before', 'AND digest <> $5', 'AND digest = $5'],
  ]),
  ...guardsIn('src/storage/tables/registrations/hand-overs.ts', STORE, [
    ['the subject proves itself as it was read', 'AND ${proof.unchanged(2)}', 'AND (TRUE OR ${proof.unchanged(2)})'],
    ['a paused app is not handed over', "pick('status', 'type',", "pick('type',"],
  ]),
  ...guardsIn('src/storage/tables/registrations/registered-with-secrets.ts', STORE, [
    [
      'a change of secrets ends a hand-over',
      "also: [endingHandOver({ kind, id: expected.id }, event, 'secret changed')]",
      'also: endingHandOver && []',
    ],
  ]),
  ...guardsIn('src/storage/tables/registrations/clients.ts', STORE, [
    ['a pause of an app ends its hand-over', "also: status === 'paused' ? [", "also: status === ('' as string) ? ["],
  ]),
  ...guardsIn('src/storage/tables/registrations/identity-providers.ts', STORE, [
    ['a pause of a product ends its hand-over', "also: status === 'paused' ? [", "also: status === ('' as string) ? ["],
  ]),
  ...guardsIn('src/storage/tables/backups/backups.ts', STORE, [
    ['a restore ends open hand-overs', 'endingRestoredHandOvers(event.at)', 'endingRestoredHandOvers(0)'],
  ]),
  ...guardsIn('src/operator/hand-over/hand-overs.ts', PAGE, [
    ['the same answer comes again for a minute only', '>= AGAIN_MS', '>= AGAIN_MS * 99'],
    [
      'and to the same browser alone',
      "currentKey(keyring, 'hand-over'), token, browser",
      "currentKey(keyring, 'hand-over'), token",
    ],
    ['and only while its secret is the newest', 'isTheSame ? pickedUp', 'made.text ? pickedUp'],
    [
      'a secret is made for those alone that prove themselves with one',
      '!takesSecret(subject)',
      'takesSecret === null',
    ],
    [
      'looking tells that an address was used',
      "return { kind: 'used', at: handOver.fetchedAt };",
      "return { kind: 'dead' };",
    ],
  ]),
  ...guardsIn('src/operator/hand-over/hand-over.ts', PAGE, [
    ['two live secrets are refused', 'row.secrets.length > 1', 'row.secrets.length > 2'],
  ]),
  ...guardsIn(
    'src/operator/hand-over/hand-over.ts',
    ['test/random-bits.test.ts'],
    [
      [
        'the token of a hand-over has its random bits',
        "randomBytes(32).toString('base64url')",
        "randomBytes(8).toString('base64url').padEnd(43, 'A')",
      ],
    ],
  ),
  ...guardsIn(
    'src/http/browser/authorize/authorize.ts',
    ['test/http/browser/page-failures.test.ts'],
    [
      [
        'nobody unknown makes an entry in memory',
        'clientId !== undefined && namesClient(outcome)',
        'clientId !== undefined',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/activity/page-failures.ts',
    ['test/http/browser/page-failures.test.ts'],
    [
      ['refusals of an app are bounded', '.slice(1 - PAGE_FAILURES_KEPT)', '.slice(-9999)'],
      ['and those of all apps', 'this.#failures.size > MAX_APPS', 'this.#failures.size < 0'],
      ['and their texts', 'reason: copyOf(reason)', 'reason'],
      [
        'and the memory that their texts hold',
        "Buffer.from(text.slice(0, MAX_TEXT), 'utf16le').toString('utf16le')",
        'text.slice(0, MAX_TEXT)',
      ],
    ],
  ),
  ...guardsIn('src/http/browser/pick-up.ts', PAGE, [
    ['a post comes from our own page', '!sessions.isFromOwnPage(request)', 'reply.sent'],
    ['a post has the token of its form', "shown !== 'good'", 'reply.sent'],
  ]),
  ...guardsIn('src/http/browser/send-page.ts', PAGE, [
    ['no other request carries the address', "'strict-origin'", "'same-origin'"],
  ]),
];
