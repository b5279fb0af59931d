/** The guards of the audit trail: what makes it provable. */
import { type Guard, guardsIn } from './guard.ts';

const CHAIN_TESTS = ['test/storage/audit-chain.test.ts'];

/** Guards of chains, checkpoints and their verification, in whichever folder. */
export const auditTrailGuards: readonly Guard[] = [
  ...guardsIn('src/operator/trail-verification.ts', CHAIN_TESTS, [
    [
      'a changed event is found',
      'linkMac(key, before, text).equals(chain.mac)',
      '(linkMac(key, before, text).equals(chain.mac) || true)',
    ],
    ['a removed event is found', 'if (missing === 0) return followed.mac;', 'if (missing >= 0) return followed.mac;'],
    [
      'an event after its successor was moved or added',
      'if (followed && chain.number <= followed.number)',
      'if (followed && chain.number < 0)',
      'the event is complained of without it too, in other words: its number shows it, and its MAC',
    ],
    ['a dropped chain is found', 'if (after > (this.#start?.upTo ?? 0))', 'if (after < 0)'],
    [
      'a cut end is found with a checkpoint',
      'for (const { upTo: missing, at } of this.#kept)',
      'for (const { upTo: missing, at } of this.#kept.slice(0, 0))',
    ],
    [
      'what only a key proves that is not here is said',
      'if (unproven && unproven.sequence > this.#proven)',
      'if (unproven && unproven.sequence < 0)',
    ],
    ['nobody goes on with the chain of a retired key', 'if (this.#retiredKeys.has(keyId))', 'if (keyId < 0)'],
  ]),
  ...guardsIn('src/operator/registered-chains.ts', CHAIN_TESTS, [
    [
      'a chain whose events are all gone is found',
      'for (const { number, firstEvent } of this.#open.values())',
      'for (const { number, firstEvent } of [...this.#open.values()].slice(0, 0))',
    ],
    ['the newest chain too', 'number > (this.#certain ?? 0)', 'number > 0'],
    [
      'what the retention took away is not complained of',
      'if (firstEvent > this.#parts.start) this.#open.set(id, row);',
      'this.#open.set(id, row);',
    ],
    [
      'a chain that is not registered is named',
      'if (registration?.firstEvent === sequence) return;',
      'if (registration?.firstEvent !== -1) return;',
    ],
    ['a registration that was removed is found', 'if (missing > 0)', 'if (missing < 0)'],
    ['a registration covers itself and the one before it', 'else if (key && !linkMac', 'else if (!key && !linkMac'],
  ]),
  ...guardsIn(
    'src/operator/newer-trail.ts',
    ['test/storage/newer-trail.test.ts'],
    [
      [
        'what a restore registered itself is not looked for in the trail that it is told',
        'return rows.filter(({ firstEvent }) => firstEvent <= last);',
        'return rows;',
      ],
    ],
  ),
  ...guardsIn(
    'src/cli/audit-export.ts',
    ['test/flows/audit-export.test.ts'],
    [['an export that follows goes on', 'if (!follow) break;', 'break;']],
  ),
  ...guardsIn(
    'src/operator/trail-checkpoints.ts',
    ['test/operator/trail-checkpoints.test.ts'],
    [
      ['a stop leaves no event without a checkpoint', 'await this.#record(MAX_AT_STOP);', ''],
      ['checkpoints go on', 'this.#cancel = this.#next(); }, CHECKPOINT_EVERY_MS', '}, CHECKPOINT_EVERY_MS'],
    ],
  ),
  ...guardsIn('src/operator/audit-trail.ts', CHAIN_TESTS, [
    ['a service notices that the end was cut off', 'if (upTo < this.#seen)', 'if (upTo < 0)'],
    [
      'no checkpoint goes on from a forged one',
      'if (isSigned(keyring, checkpoint) === false)',
      'if (isSigned(keyring, checkpoint) === undefined)',
    ],
    ['a key is not retired while the trail is wrong', 'if (first && !accepted)', 'if (first && accepted)'],
  ]),
  ...guardsIn('src/storage/sqlite/chained-events.ts', CHAIN_TESTS, [
    ['each chain is registered', 'if (number === 1) this.#registerChain(id, sequence, key);', ''],
    [
      'an event covers the one before it',
      'const before = newest ? asBuffer(newest[3]) : NO_MAC;',
      'const before = newest ? NO_MAC : NO_MAC;',
    ],
    [
      'a new root key begins another chain',
      'if (readChainId(id)?.keyId !== this.#keyring.currentKeyId) return null;',
      '',
    ],
  ]),
  ...guardsIn('src/storage/postgresql/open.ts', CHAIN_TESTS, [
    [
      'no connection goes on under an earlier root key',
      'chainKeyId !== null && chainKeyId !== keyring.currentKeyId',
      'chainKeyId !== null && chainKeyId === -1',
    ],
  ]),
];
