/** The guards of backups and of a restore: what keeps an older database from bringing back what ended since. */
import { type Guard, guardsIn } from './guard.ts';

const STORES = ['test/storage/sqlite.test.ts'];
const LOG = ['test/flows/restore-over-a-log.test.ts'];
const TRAIL = ['test/storage/newer-trail.test.ts'];

/** Guards of what ends, of the newer trail, and of databases that nobody restored. */
export const restoreGuards: readonly Guard[] = [
  ...guardsIn('src/storage/tables/backups/backups.ts', STORES, [
    ['every grant ends, unless they are kept', '...ending, ...records', '...records'],
    ['codes and waiting devices end', '{ sql: END_UNREDEEMED, values: [event.at] },', ''],
    ['sessions end', "'session',", ''],
    ['tickets of sign-ins elsewhere end', "'external_sign_in',", ''],
    ["operators' sessions end", "'operator_session',", ''],
    ['one-time addresses of operators end', "'operator_one_time_address',", ''],
    [
      'invitations end',
      "'UPDATE account SET invitation = NULL WHERE invitation IS NOT NULL'",
      "'UPDATE account SET invitation = invitation'",
    ],
    ['what ended since ends', '...(ended ? endingOf(ended, event.at, runner.dialect) : []),', ''],
    ['what is back to life is taken away', '...endingRevived(revived),', ''],
    ['what it ended is told in the trail', '...ending, ...records', '...ending'],
  ]),
  ...guardsIn('src/storage/tables/backups/end-what-ended-since.ts', STORES, [
    ['operators who are disabled again have no keys', "'DELETE FROM operator_key WHERE operator_id = $1',", ''],
    [
      'passkeys of a lost laptop end again',
      "'DELETE FROM operator_passkey WHERE operator_id = $1'",
      "'DELETE FROM operator_passkey WHERE operator_id = $1 AND FALSE'",
    ],
  ]),
  ...guardsIn('src/operator/installation/backups.ts', TRAIL, [
    [
      'a trail that is not what was recorded is refused',
      'if (newer && !trail.isAccepted) ',
      'if (newer && trail.isAccepted) ',
    ],
  ]),
  ...guardsIn('src/operator/trail/newer-trail.ts', TRAIL, [
    ['a trail reaches back to the backup', 'if (!isJoined) throw', 'if (false as boolean) throw'],
    ['the events of a trail are in their order', 'if (sequence <= before) throw', 'if (sequence < 0) throw'],
    [
      'a trail is of the history of the backup',
      'if (known && !known.chain.mac.equals(chain.mac)) throw',
      'if (known && sequence < 0) throw',
    ],
    [
      'a restore that was served is of the backup',
      "if (!isAfterIt && readMembers(detail)?.['by_restore'] !== true) return last;",
      'if (sequence < 0) return last;',
    ],
  ]),
  ...guardsIn(
    'src/oauth/tokens/token-pair.ts',
    ['test/oauth/refresh-token.test.ts', 'test/oauth/access-token.test.ts'],
    [
      ['a newer token is of another history', 'return token.generation > generation;', 'return false;'],
      [
        'a token of the same generation with another expiry or key is of another history',
        'return token.expiresAt !== expiresAt || token.keyId !== keyId;',
        'return false;',
      ],
    ],
  ),
  ...guardsIn(
    'src/cli/service/restore.ts',
    ['test/cli/transcripts.test.ts'],
    [
      [
        'nobody keeps tokens without the trail, or without saying so',
        'if (keepTokens && audit === null && !withoutAudit) throw',
        'if (keepTokens && audit === null && withoutAudit) throw',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/opening/opening.ts',
    ['test/flows/backup.test.ts'],
    [
      [
        'a backup is not served',
        "if (record.isBackup && role === 'service') throw",
        "if (record.isBackup && role !== 'service') throw",
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/served-elsewhere.ts',
    ['test/postgresql/own-place.test.ts'],
    [
      [
        'a database that was served elsewhere is refused',
        'if (place !== undefined && place !== found?.own) throw',
        'if (place === null) throw',
      ],
      ['another timeline is warned of', 'if (place !== undefined) warn(', 'if (place === null) warn('],
    ],
  ),
  ...guardsIn(
    'src/wiring/open-database.ts',
    ['test/flows/before-restore.test.ts'],
    [['what was sealed before a restore is refused', 'keyring.sealIn(history);', '']],
  ),
  ...guardsIn(
    'src/wiring/shared-parts.ts',
    ['test/flows/before-restore.test.ts'],
    [
      [
        'assertions of before a restore are refused',
        'const { restoredAt } = installation;',
        'const restoredAt = null;',
      ],
    ],
  ),
  ...guardsIn(
    'src/wiring/database-commands.ts',
    ['test/flows/backup-refused.test.ts'],
    [['a backup that is not sound is none', 'requireSound(findings,', 'void (findings,']],
  ),
  ...guardsIn(
    'src/wiring/database-commands.ts',
    ['test/flows/backup-postgresql.test.ts'],
    [
      [
        'a database that is served is not restored',
        'if (storage.backUp === null && running.length > 0) throw',
        'if (storage.backUp === null && running.length < 0) throw',
      ],
    ],
  ),
  ...guardsIn(
    'src/backup/kept-copies.ts',
    ['test/flows/kept-copies.test.ts'],
    [['the copy just made stays', ' && name !== basename(made)', '']],
  ),
  ...guardsIn(
    'src/backup/file-named-when-complete.ts',
    ['test/flows/kept-copies.test.ts'],
    [['a run that goes on keeps its file', ' && now - written > LEFT_AFTER_MS', '']],
  ),
  ...guardsIn('src/backup/put-backup-in-place.ts', LOG, [
    ['a restored file meets no other log', 'for (const end of beside) rmSync(path + end);', ''],
    ['the mark stands while a log is taken away', 'if (beside.length > 0) {', 'if (beside.length < 0) {'],
    ['what was there is kept with its log', "['-wal', '-journal', ''].filter", "[''].filter"],
  ]),
  ...guardsIn('src/storage/sqlite/file/database-file.ts', LOG, [
    ['nothing is opened that is half restored', 'if (existsSync(restoreMark(path)))', 'if (false as boolean)'],
    ['a log without its file is not touched', 'if (!isNothing(log) && isNothing(path))', 'if (log === path)'],
  ]),
  ...guardsIn('src/storage/sqlite/file/checkpoint.ts', LOG, [
    [
      'a log that somebody reads is not put away',
      'if (result.failure === null && result.left > 0)',
      'if (result.failure === null && result.left < 0)',
    ],
    ['a damaged file does not take up the log', 'connect(path, { readOnly: true }).close();', ''],
  ]),
  ...guardsIn(
    'src/backup/encryption.ts',
    ['test/flows/backup.test.ts'],
    [
      [
        'a passphrase that others can read is refused',
        'readSecretFile(file,',
        "((_file: string, _what: string) => 'a passphrase of any length')(file,",
      ],
      [
        'a passphrase is not guessed',
        'if (Buffer.byteLength(passphrase) < MIN_PASSPHRASE_BYTES)',
        'if (MIN_PASSPHRASE_BYTES === 0)',
      ],
      ['nobody else can read an encrypted backup', 'chmodSync(to, 0o600);', ''],
    ],
  ),
];
