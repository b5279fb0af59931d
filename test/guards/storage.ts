/** The guards of what is on disk. */
import { type Guard, guardsIn } from './guard.ts';

/** Guards of the files of a SQLite database, and of the keys file. */
export const storageGuards: readonly Guard[] = [
  ...guardsIn(
    'src/storage/tables/operators/idempotency-keys.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'a key that is alive makes nothing again',
        'WHERE idempotency_key.at <= excluded.at - ${IDEMPOTENCY_KEY_MS}',
        'WHERE TRUE',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/unchanged-since-etag.ts',
    ['test/storage/sqlite.test.ts'],
    [
      ['If-Match holds in the write', 'WHERE ${table.unchanged(1)}', 'WHERE (TRUE OR ${table.unchanged(1)})'],
      ['nobody who signed in since a page is deleted', 'AND created_at >= $2', 'AND created_at > $2'],
      ['nobody who allowed an app since a page is deleted', 'AND granted_at >= $2', 'AND granted_at > $2'],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/unchanged-since-etag.ts',
    ['test/postgresql/conformance.test.ts'],
    [['a deletion waits for an Allow that began', 'WHERE account_id = $1 FOR UPDATE)', 'WHERE account_id = $1)']],
  ),
  ...guardsIn(
    'src/operator/apps/app-activity.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'no failure is listed from before',
        'listFailures(clientId, since, limit)',
        'listFailures(clientId, countedSince, limit)',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/activity/app-tally.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'no day is counted from that is not kept',
        'Math.max(since, now - TALLIES_KEPT_MS.day)',
        'Math.max(since, 0 * TALLIES_KEPT_MS.day)',
      ],
    ],
  ),
  ...guardsIn(
    'src/oauth/activity/page-failures.ts',
    ['test/http/operator/api/reads.test.ts'],
    [['no refusal on the authorization page is listed from before', 'at >= since', 'at >= 0 * since']],
  ),
  ...guardsIn(
    'src/storage/tables/registrations/activity.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'nobody unknown makes a row',
        "sql: 'SELECT id FROM client WHERE id = $1 FOR SHARE'",
        "sql: 'SELECT $1 FOR SHARE'",
      ],
      [
        'an app that is deleted leaves no activity',
        'DELETE FROM ${table} WHERE key > $1',
        'DELETE FROM ${table} WHERE FALSE AND key > $1',
      ],
      ['a clock that was ahead hides no failure', '{ sql: FORGET_AHEAD,', "{ sql: 'SELECT $1, $2',"],
      [
        'the last failures of an app are kept, and no more',
        'DESC LIMIT 1 OFFSET ${FAILURES_KEPT}',
        'DESC LIMIT 1 OFFSET 100000',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/statements/read-transaction.ts',
    ['test/storage/read-transaction.test.ts'],
    [
      [
        'a snapshot is younger than the input that is answered from it',
        'process.nextTick(() => this.end())',
        'setTimeout(() => this.end(), 1)',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/grants/grant-windows.ts',
    ['test/storage/crowds.test.ts'],
    [['the grants of one person are read in windows', 'LIMIT 1 OFFSET ${WALK_WINDOW - 1}', 'LIMIT 0']],
  ),
  ...guardsIn(
    'src/storage/tables/grants/grants.ts',
    ['test/storage/crowds.test.ts'],
    [['and so are those of one app', 'ORDER BY 2 LIMIT ${WALK_WINDOW}', 'ORDER BY 2']],
  ),
  ...guardsIn(
    'src/storage/tables/accounts/accounts.ts',
    ['test/storage/sqlite.test.ts', 'test/http/provider/users.test.ts'],
    [
      [
        'an account is changed only from what was read',
        'AND ${PROFILE.unchanged(9)}',
        'AND (TRUE OR ${PROFILE.unchanged(9)})',
      ],
      ['an account that got a password meanwhile keeps an address', 'AND (password IS NULL OR $3 IS NOT NULL)', ''],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/registrations/registered-with-secrets.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'a secret is replaced only by the proof that was read',
        'WHERE id = $1 AND ${proof.unchanged(3)}',
        'WHERE id = $1 AND (TRUE OR ${proof.unchanged(3)})',
      ],
      [
        'settings are changed only from what was read',
        'AND ${settings.unchanged(2 + settings.columns.length)}',
        'AND (TRUE OR ${settings.unchanged(2 + settings.columns.length)})',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/accounts/accounts.ts',
    ['test/storage/sqlite.test.ts'],
    [
      [
        'an invitation is used once, and only the last one',
        'WHERE id = $1 AND invitation = $4',
        'WHERE id = $1 AND $4 IS NOT NULL',
      ],
      [
        'another address ends an invitation',
        'invitation = CASE WHEN email_key = $3 THEN invitation END',
        'invitation = invitation',
      ],
      ['disabling ends an invitation', 'SET status = $2, invitation = NULL WHERE', 'SET status = $2 WHERE'],
      ['a password that is set ends an invitation', 'is_unwrapped = FALSE, invitation = NULL', 'is_unwrapped = FALSE'],
      [
        'nobody is invited who is disabled',
        "WHERE id = $1 AND status = 'active' AND email_key = $3",
        'WHERE id = $1 AND email_key = $3',
      ],
      ['nobody is invited at an address that was theirs', 'AND email_key = $3 AND', 'AND $3 IS NOT NULL AND'],
      [
        'nobody is invited to the address of somebody else',
        "AND email_key = $3 AND ${IS_FREE('account.email_key', 'account.username')}",
        'AND email_key = $3',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/statements/write-queue.ts',
    ['test/doctor/installation.test.ts'],
    [
      [
        'a command that read ends while others write',
        'const isIdle = this.#queued.length === 0 &&',
        'const isIdle = this.#queued.length < 0 &&',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/schema/catalogue.ts',
    ['test/storage/catalogue.test.ts'],
    [
      ['what is missing is wrong', '...missing.map(missingFault), ', ''],
      ['an object is the same by its definition', ' && one.definition === definition', ''],
      [
        'an extra index is told of',
        'if (extra.length === 0) return [objects];',
        'if (extra.length >= 0) return [objects];',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/check.ts',
    ['test/flows/damaged-database.test.ts'],
    [['a damaged file gives a report', 'code === undefined ? hasHeader(path) : !isDamage', 'path !== null']],
  ),
  ...guardsIn(
    'src/storage/clean-up/clean-up-time.ts',
    ['test/storage/clean-up.test.ts'],
    [
      [
        'what is deleted is dead by a time that no clock moves ahead',
        'Math.min(now, this.#time + PACE * passed)',
        'now + 0 * passed',
      ],
      ['the time of the clean-up outlives the process', 'await this.#kept.keep(time);', ''],
      ['a jump of the clock is told', 'if (Math.abs(jump) > MIN_REPORTED_JUMP_MS) report', 'if (jump === 0.5) report'],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/grants/grants.ts',
    ['test/storage/sqlite.test.ts'],
    [
      ['no grant is issued in a session that ended', '{ sql: HAS_SESSION, values: [basis.session] },', ''],
      [
        'no grant is issued with an epoch that was raised',
        '{ sql: HAS_EPOCHS, values: EPOCHS_OF_GRANT.values(grant) },',
        '',
      ],
      ['no grant is issued by consent that was taken back', 'AND ${IS_REMEMBERED} FOR SHARE', 'FOR SHARE'],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/file/files-in-place.ts',
    ['test/flows/moved-database.test.ts'],
    [
      ['the stamp is looked at', 'if (this.#stamp?.isThere() === false)', 'if (this.#stamp?.isThere() === null)'],
      ['a file is one and the same', 'if (!isSame(stat, found))', 'if (false as boolean)'],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/file/files-in-place.ts',
    ['test/flows/moved-database.test.ts'],
    [['the log is one and the same, too', '{ path: `${path}-wal`, stat: log },', '']],
  ),
  ...guardsIn(
    'src/storage/opening/opening.ts',
    ['test/storage/refusals.test.ts'],
    [
      ['keys are looked at again under the lock', 'await requireFitting(database, options); return', 'return'],
      ['the prefix is looked at again', 'requireSamePrefix(record, settings); const { id,', 'const { id,'],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/open.ts',
    ['test/flows/wiring.test.ts', 'test/storage/sync-order.test.ts'],
    [
      [
        'what commits sync by themselves is not synced again',
        "commitSyncs: options.role === 'command' || options.durability === 'full',",
        'commitSyncs: false,',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/file/checkpoint.ts',
    ['test/power/start-cuts.test.ts'],
    [
      [
        'a start does not cut the log short',
        "database.prepare('PRAGMA wal_checkpoint(RESTART)')",
        "database.prepare('PRAGMA wal_checkpoint(TRUNCATE)')",
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/file/connection.ts',
    ['test/flows/wiring.test.ts', 'test/storage/checkpoints.test.ts'],
    [
      ['a commit copies no log', "['wal_autocheckpoint', 0],", ''],
      [
        'a commit syncs by itself where that is set',
        "['synchronous', isSyncedByQueue ? 1 : 2]",
        "['synchronous', isSyncedByQueue ? 1 : 1]",
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/statements/write-queue.ts',
    ['test/storage/write-queue.test.ts'],
    [
      [
        'writes that wait are bounded',
        'if (this.#queued.length >= MAX_QUEUED)',
        'if (this.#queued.length >= Infinity * MAX_QUEUED)',
      ],
      [
        'writes of a commit are bounded',
        'this.#queued.splice(0, MAX_PER_COMMIT)',
        'this.#queued.splice(0, Infinity * MAX_PER_COMMIT)',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/late-writes/write-behind.ts',
    ['test/storage/use-marks.test.ts'],
    [
      ['marks that wait are bounded', 'if (isNew && this.#marks.size >= MAX_MARKS) return false;', 'void MAX_MARKS;'],
      [
        'marks are written in the order of their rows',
        '[...this.#marks.values()].sort((one, other) => (one.key < other.key ? -1 : 1))',
        '[...this.#marks.values()]',
      ],
      [
        'marks of a write are bounded',
        'const { maxPerWrite } = this.#parts;',
        'const maxPerWrite = this.#parts.maxPerWrite * 1e6;',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/file/file-stamp.ts',
    ['test/storage/file-stamp.test.ts'],
    [
      ['a file has a head', 'if (!found || !this.#seen) return false;', 'if (!found || !this.#seen) return true;'],
      ['another stamp is noticed', 'if (stamp !== found.stamp && this.#stamp !== found.stamp) return false;', ''],
      ['the stamp from before no longer counts', "'RESTART')(); this.#seen = this.#read();", "'RESTART')();"],
      ["a backup's schema version is noticed", '|| found.schema > this.#latestSchema()', ''],
      ['a change of the schema is let pass', '(found.schema < schema || found.schema > this.#latestSchema())', 'true'],
    ],
  ),
  ...guardsIn(
    'src/storage/sqlite/file/errors.ts',
    ['test/storage/write-queue.test.ts'],
    [['pending writes are told that the files moved', "error instanceof DatabaseMoved ? '' : ", '']],
  ),
  ...guardsIn(
    'src/settings/served-installations.ts',
    ['test/flows/served-keys.test.ts'],
    [['a link stays a link', 'const path = realpathSync(keysFile);', 'const path = (realpathSync, keysFile);']],
  ),
  ...guardsIn(
    'src/settings/served-installations.ts',
    ['test/settings/served-installations.test.ts'],
    [
      ['drafts are removed', 'removeDrafts(path); return null;', 'return null;'],
      ['only drafts are removed', ' && DRAFT.test(other.slice(name.length))', ''],
      ['another start may have noted it', 'return wasNoted(keysFile, installation) ? null : ', 'return '],
    ],
  ),
  ...guardsIn(
    'src/settings/keys-file.ts',
    ['test/settings/served-installations.test.ts'],
    [
      [
        'what somebody else changes is kept',
        "if (readFileSync(path, 'utf8') !== before) throw",
        'if (false as boolean) throw',
      ],
      ['the owner is kept', 'fchownSync(descriptor, uid, gid);', 'void fchownSync;'],
      ['the mode is kept', 'fchmodSync(descriptor, mode & 0o777);', 'void mode;'],
    ],
  ),
];
