/** The guards of the audit trail: what makes it provable. */
import { type Guard, guardsIn } from './guard.ts';

const CHAIN_TESTS = ['test/storage/audit-chain.test.ts'];
const FORGERY_TESTS = ['test/storage/audit-forgery.test.ts'];
const ACTORS_TESTS = ['test/operator/actors.test.ts'];
const ATTACK_TESTS = ['test/storage/audit-attacks.test.ts'];

const MEMBERS_TESTS = ['test/oauth/event-members.test.ts'];

/** Guards of chains, checkpoints and their verification, in whichever folder. */
export const auditTrailGuards: readonly Guard[] = [
  ...guardsIn('src/oauth/trail/event-members.ts', MEMBERS_TESTS, [
    [
      'only a JSON object has members',
      "if (!detail?.startsWith('{')) return null;",
      'if (detail === null) return null;',
    ],
    ['no NUL and no lone surrogate is recorded', "value.toWellFormed().replaceAll('\\0', '\\ufffd')", 'value'],
    ['a change in another form is none', 'changes.filter(isChange)', 'changes'],
  ]),
  ...guardsIn(
    'src/oauth/installation/since-backup.ts',
    ['test/oauth/since-backup.test.ts'],
    [
      ['grants of devices go on where an event says so', "members?.['but_for_devices'] === true", 'false'],
      ['a lower role is told by its setting', "name === 'role' && after", 'after'],
    ],
  ),
  ...guardsIn(
    'src/http/operator/console/investigation/events.ts',
    ['test/http/operator/event-members.test.ts'],
    [['the acts of one key are listed apart', "...(key !== '' && { actorBy: key }),", '']],
  ),
  ...guardsIn(
    'src/operator/access/access.ts',
    ['test/http/operator/event-members.test.ts'],
    [['an act names its key', 'requestId, by: meansOf(by), standing', 'requestId, standing']],
  ),
  ...guardsIn('src/operator/registration/registry.ts', ACTORS_TESTS, [
    ['the one who acted is named', 'auditEvent(action, operator,', "auditEvent(action, { ...operator, id: 'root' },"],
  ]),
  ...guardsIn('src/accounts/import/user-links.ts', ACTORS_TESTS, [
    [
      'the one who acted is named',
      "auditEvent('user_linked', operator,",
      "auditEvent('user_linked', { ...operator, id: 'root' },",
    ],
  ]),
  ...guardsIn('src/operator/trail/trail-verification.ts', CHAIN_TESTS, [
    ['a changed event is found', 'mac(key, text).equals(chain.mac)', '(mac(key, text).equals(chain.mac) || true)'],
    ['a removed event is found', 'if (missing > 0)', 'if (missing < 0)'],
    [
      'an event after its successor was moved or added',
      'if (followed && number <= followed.number)',
      'if (followed && number < 0)',
      'the event is complained of without it too, in other words: its MAC shows it',
    ],
    [
      'a cut end is found with a checkpoint',
      'for (const { upTo: missing, at } of this.#kept)',
      'for (const { upTo: missing, at } of this.#kept.slice(0, 0))',
    ],
    [
      'nobody goes on with the chain of a retired key',
      'if (this.#absentKeys.isRetired(',
      'if (keyId < 0 && this.#absentKeys.isRetired(',
    ],
  ]),
  ...guardsIn('src/operator/trail/trail-verification.ts', FORGERY_TESTS, [
    [
      'an event under a key that nobody knows is not believed',
      'for (const { keyId, sequence } of this.#absentKeys.unproven())',
      'for (const { keyId, sequence } of this.#absentKeys.unproven().slice(0, 0))',
    ],
    [
      'an event at a place that no event gets is seen',
      'if (await store.hasMisplacedEvents())',
      'if (!store.hasMisplacedEvents)',
    ],
    [
      'the signature of a shortening is read',
      'isSigned(parts.keyring, shortening) !== false',
      'isSigned(parts.keyring, shortening) !== undefined',
      'whyNotOwn complains of it too; without this the walk begins where the forger says, and complains of less',
    ],
    [
      'checkpoints that were not compared are counted',
      'this.#kept.shift()) this.#uncompared += 1;',
      'this.#kept.shift()) this.#uncompared += 0;',
    ],
    ['a signature is read', 'const isGood = isSigned(keyring, stated);', 'const isGood = true;'],
    ['what the retention is to take away is counted', 'this.#leftOver += 1;', ''],
    ['what is removed right after a checkpoint is found', 'for (const row of before) walk.goOnAfter(row);', ''],
  ]),
  ...guardsIn('src/operator/trail/trail-verification.ts', ATTACK_TESTS, [
    [
      'a checkpoint or a shortening stands after what it is about',
      'stated === null || place <= stated.upTo',
      'stated === null',
    ],
    ['events that no checkpoint covers are counted', '(this.#covered ?? this.#start).events', 'this.#state.events'],
  ]),
  ...guardsIn('src/operator/trail/audit-trail.ts', ATTACK_TESTS, [
    ['a service knows how far the chains were', 'own?.checkpoint.upTo === start.upTo ? own.heads : null', 'null'],
    ['a retirement signs no forged shortening', 'if (shortening && isOwn && ', 'if (shortening && '],
  ]),
  ...guardsIn('src/storage/tables/trail/audit-events.ts', ATTACK_TESTS, [
    ['an event beyond all integers is seen', ' OR sequence > ${LAST_PLACE} LIMIT 1', ' LIMIT 1'],
  ]),
  ...guardsIn('src/storage/sqlite/statements/chained-events.ts', ATTACK_TESTS, [
    [
      'an act whose event is swallowed has no effect',
      '(this.#tables.change({ sql: CHAINED_EVENT.insertion, values }) !== 1)',
      '(this.#tables.change({ sql: CHAINED_EVENT.insertion, values }) < 0)',
    ],
  ]),
  ...guardsIn('src/operator/trail/events-of-absent-keys.ts', FORGERY_TESTS, [
    [
      'a retirement under an absent key is itself to be proven',
      'this.#isHere(by) ? proven : isProven ? sequence : 0',
      'this.#isHere(by) ? proven : sequence',
    ],
  ]),
  ...guardsIn('src/operator/trail/events-of-absent-keys.ts', CHAIN_TESTS, [
    ['the checkpoint of a retirement covers the event', 'this.#isHere(by) ? proven :', 'this.#isHere(by) ? sequence :'],
  ]),
  ...guardsIn('src/oauth/trail/audit-checkpoint.ts', FORGERY_TESTS, [
    ['no checkpoint passes for a shortening', '.filter(([, word]) => word === what)', ''],
  ]),
  ...guardsIn(
    'src/oauth/trail/audit-checkpoint.ts',
    ['test/operator/trail-checkpoints.test.ts'],
    [['a stranger writes no checkpoint into the log', '(?<=^|[\\s"]|\\scheckpoint=)valetkey-', '\\bvaletkey-']],
  ),
  ...guardsIn('src/operator/trail/audit-trail.ts', FORGERY_TESTS, [
    ['nothing is signed that was not verified', 'if (first) throw notAsRecorded(first.sentence);', ''],
    ['a service notices that the end was cut off', 'this.#own = { checkpoint, heads };', ''],
    ['the signed time of a checkpoint counts', 'end && end.at >= before ?', 'end && end.at < 0 ?'],
    ['nothing is taken away that the checkpoint does not say', 'await this.#requireSame(start, end);', ''],
    [
      'nothing is taken away for a forged shortening',
      'const why = whyNotOwn(this.#parts, start, row.sequence);',
      'const why = null;',
    ],
  ]),
  ...guardsIn(
    'src/cli/trail/audit-export.ts',
    ['test/flows/audit-export.test.ts'],
    [
      ['an export that follows goes on', 'if (!follow) break;', 'break;'],
      ['the cursor has the MAC of its event', "Buffer.from(mac, 'hex') };", 'null };'],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/store/audit-trail.ts',
    ['test/flows/audit-export.test.ts'],
    [
      [
        'whoever follows the trail notices another file',
        'async lastAuditSequence() { requireInPlace();',
        'async lastAuditSequence() {',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/trail/trail-checkpoints.ts',
    ['test/operator/trail-checkpoints.test.ts'],
    [
      ['a stop leaves no event without a checkpoint', 'await this.#record(MAX_AT_STOP);', ''],
      ['checkpoints go on', 'this.#cancel = this.#next(); }, CHECKPOINT_EVERY_MS', '}, CHECKPOINT_EVERY_MS'],
      ['a figure tells since when there was none', 'this.verifiedAt = now();', ''],
    ],
  ),
  ...guardsIn('src/operator/trail/audit-trail.ts', CHAIN_TESTS, [
    ['a key is not retired while the trail is wrong', 'if (first && !accepted)', 'if (first && accepted)'],
    [
      'the number of an event in another history is noticed',
      'if (mac && sequence > start && !taken?.chain.mac.equals(mac))',
      'if (mac && sequence < 0 && !taken?.chain.mac.equals(mac))',
    ],
    [
      'a shortening is signed anew before its key goes',
      'isOwn && shortening.keyId !== keyring.currentKeyId',
      'isOwn && shortening.keyId === -1',
    ],
  ]),
  ...guardsIn('src/storage/sqlite/statements/chained-events.ts', CHAIN_TESTS, [
    ['a new root key begins another chain', 'if (chainKeyId(id) !== this.#keyring.currentKeyId) return null;', ''],
  ]),
  ...guardsIn('src/storage/postgresql/open.ts', CHAIN_TESTS, [
    [
      'no connection goes on under an earlier root key',
      'chainKeyId !== null && chainKeyId !== keyring.currentKeyId',
      'chainKeyId !== null && chainKeyId === -1',
    ],
  ]),
  ...guardsIn(
    'src/process/gathered-lines.ts',
    ['test/process/gathered-lines.test.ts'],
    [
      ['lines that nobody reads are bounded', 'this.#waiting + line.length > MAX_WAITING', 'this.#waiting < 0'],
      ['what is missing stands in its place', 'if (this.#missing > 0 || ', 'if ('],
    ],
  ),
  ...guardsIn(
    'src/process/log.ts',
    ['test/process/log.test.ts', 'test/operator/trail-checkpoints.test.ts'],
    [
      [
        'checkpoints are logged at every level',
        "always: (members: object) => write(members, 'info'),",
        'always: () => {},',
      ],
    ],
  ),
  ...guardsIn(
    'src/http/request/refusal-warnings.ts',
    ['test/http/log.test.ts'],
    [
      ['refusals do not fill the log', 'warned.left === 0 && now - warned.at < THEN_EVERY_MS', 'warned.left < 0'],
      ['a refused source is heard of again', 'now - warned.at < THEN_EVERY_MS', 'now >= 0'],
    ],
  ),
  ...guardsIn(
    'src/http/request/request-log.ts',
    ['test/http/log.test.ts'],
    [["a device's waiting is no refusal", "= ['authorization_pending', ", '= [']],
  ),
];
