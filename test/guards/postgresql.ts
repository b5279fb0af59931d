/** The guards of a PostgreSQL database. */
import { type Guard, guardsIn } from './guard.ts';

/** Guards of src/storage/postgresql that are no rules of revocations or devices. */
export const postgresqlGuards: readonly Guard[] = [
  ...guardsIn(
    'src/storage/postgresql/connection/connection.ts',
    ['test/docs/command-lines.test.ts'],
    [['the password file is read without a warning', 'readPasswordFromFile(client);', 'void readPasswordFromFile;']],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/reach.ts',
    ['test/docs/command-lines.test.ts'],
    [['a missing password is no missing server', 'if (error instanceof PasswordMissing ||', 'if (false ||']],
  ),
  ...guardsIn(
    'src/storage/postgresql/statements/runner.ts',
    ['test/postgresql/faults.test.ts'],
    [['what adds is not repeated after a lost commit', 'if (again && mayBeDone) throw', 'if (false as boolean) throw']],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/servers.ts',
    ['test/postgresql/failover.test.ts'],
    [
      [
        'a server that a failover left behind is refused',
        'if (timeline < this.#timeline) {',
        'if (false as boolean) {',
      ],
      [
        'sessions on a server that was left behind end',
        'for (const old of this.#connections) if (old.timeline < timeline) old.destroy();',
        '',
      ],
      ['of several hosts the next is tried', 'tried < length;', 'tried < 1;'],
      ['each host has its share of the time', '/ (length - tried)', '/ 1'],
      ['the host that served last is tried first', 'this.#primary = at;', ''],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/errors.ts',
    ['test/postgresql/unconfirmed-commits.test.ts'],
    [
      [
        'a commit whose wait for the standby was canceled is not confirmed',
        "return routine === 'SyncRepWaitForLSN' ?",
        "return routine === '' ?",
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/connection.ts',
    ['test/postgresql/locked-rows.test.ts'],
    [['keys of locked rows are known in whatever form the server writes them', "bytea_output: 'hex',", '']],
  ),
  ...guardsIn(
    'src/storage/postgresql/open.ts',
    ['test/postgresql/locked-rows.test.ts'],
    [
      [
        'a request behind the wait for another row waits as long as for its own',
        "purpose === 'waits' ? waitTimeout : checkoutTimeout",
        'checkoutTimeout',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/connections.ts',
    ['test/postgresql/unconfirmed-commits.test.ts'],
    [
      [
        'what a lost connection wrote counts when the standby has it',
        'if (again && connection.chainKeyId !== null) await connection.confirmSeen();',
        '',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/servers.ts',
    ['test/postgresql/second-primary.test.ts'],
    [
      [
        'a slow statement makes a process look for another primary',
        'if (length > 1) connection.onSlow = () => void this.#checkOthers();',
        '',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/grants/grant-rows.ts',
    ['test/postgresql/instances.test.ts'],
    [
      [
        'a late mark lowers no generation that was used',
        'CASE WHEN mark.generation > used_generation THEN mark.generation ELSE used_generation END',
        'mark.generation',
      ],
      [
        'a late mark lowers no time of use',
        'CASE WHEN mark.used_at > coalesce(last_used_at, 0) THEN mark.used_at ELSE last_used_at END',
        'mark.used_at',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/store/grants.ts',
    ['test/postgresql/conformance.test.ts', 'test/postgresql/instances.test.ts'],
    [
      ['a revocation locks the grants of an app first', 'await lockAll(connection, [...whose, spared]);', ''],
      ['it locks them until it finds no more', 'while (locked !== before)', 'while (false as boolean)'],
    ],
  ),
  ...guardsIn(
    'src/storage/tables/grants/grants.ts',
    ['test/postgresql/conformance.test.ts', 'test/postgresql/instances.test.ts'],
    [
      [
        'whoever revokes waits for the grant that rests on remembered consent, or is waited for',
        ' FOR SHARE OF oauth_grant',
        '',
      ],
      ['whoever ends a session waits for the grant of it, or is waited for', ' FOR KEY SHARE', ''],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/store/client-assertions.ts',
    ['test/postgresql/instances.test.ts'],
    [
      [
        'marks are made in the order of the clients',
        ' AS asked (client_id) ORDER BY client_id',
        ' AS asked (client_id)',
      ],
      [
        'marks are cleared in the order of the clients',
        'WHERE client_id = ANY ($1) ORDER BY client_id FOR NO KEY UPDATE',
        'WHERE client_id = ANY ($1) FOR NO KEY UPDATE',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/statements/batches.ts',
    ['test/postgresql/batches.test.ts'],
    [
      [
        'rows are sent in the order of their keys',
        'batch.sort((one, other) => ((one.key as string) < (other.key as string) ? -1 : 1))',
        'batch',
      ],
      [
        'requests that wait are bounded',
        'if (this.#queue.length >= MAX_QUEUED)',
        'if (this.#queue.length >= Infinity * MAX_QUEUED)',
      ],
      ['rows of a statement are bounded', 'batch.length === MAX_PER_STATEMENT || ', ''],
      ['two writes of one row never share a statement', ' || this.#busy.has(entry.key)', ''],
      [
        'a statement that fails is tried again request by request',
        'if (entries.length > 1 && ',
        'if (entries.length > 1e9 && ',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/statements/batches.ts',
    ['test/postgresql/locked-rows.test.ts'],
    [
      [
        'a request whose row is locked is passed over',
        'if (locks && !isWaiting && isLockTimeout(error))',
        'if (locks && (false as boolean))',
      ],
      [
        'requests whose rows are free go on while others wait',
        'new Set(found.map(([row]) => row))',
        'new Set<string>()',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/store/grants.ts',
    ['test/postgresql/locked-rows.test.ts'],
    [
      [
        'who waits for a locked row takes no connection from others',
        'locks: { ...ROWS, waits: database.waits }',
        'locks: { ...ROWS, waits: database.writes }',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/late-writes/write-behind.ts',
    ['test/postgresql/locked-rows.test.ts'],
    [['a mark that was passed over is written later', '!unwritten.has(mark) && ', '']],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/connections.ts',
    ['test/postgresql/batches.test.ts'],
    [
      [
        'who waits for a connection is bounded',
        'this.#waiting.size >= MAX_WAITING',
        'this.#waiting.size >= Infinity * MAX_WAITING',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/connection.ts',
    ['test/postgresql/open.test.ts'],
    [['a server that only reads is refused', 'if (!writable || wal_file === null)', 'if (false as boolean)']],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/connections.ts',
    ['test/postgresql/connections.test.ts'],
    [
      [
        'RL-03: a database that was gone for long is looked for each second',
        'const MAX_RETRY_MS = 1000;',
        'const MAX_RETRY_MS = 60_000;',
      ],
      ['RL-03: whoever asks while it is gone is told so at once', 'this.#isGone = this.#failure !== null;', ''],
      [
        'a request waits a second for a connection, and no longer',
        'const CHECKOUT_TIMEOUT_MS = 1000;',
        'const CHECKOUT_TIMEOUT_MS = 5000;',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/connection/connection.ts',
    ['test/postgresql/memory.test.ts'],
    [
      [
        'nothing of an answer hangs on until the whole heap is collected',
        'this.#client.query(query, (error, result) => (error ? reject(error) : resolve(result)));',
        '(this.#client.query(query) as unknown as Promise<QueryResult>).then(resolve, reject);',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/store/grants.ts',
    ['test/instances/cut-line.test.ts'],
    [
      [
        'what two wrote of a grant is told apart by their attempts',
        'attempt: randomBytes(16) } as Row',
        'attempt: Buffer.alloc(16) } as Row',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/statements/database.ts',
    ['test/postgresql/instances.test.ts'],
    [
      [
        'acts are told apart by their attempts',
        'const attempt = randomUUID();',
        "const attempt = randomUUID().replace(/[0-9a-f]/g, '0');",
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/store/client-assertions.ts',
    ['test/postgresql/conformance.test.ts'],
    [
      [
        'uses of an assertion are told apart by their attempts',
        'attempt: randomBytes(16), most }',
        'attempt: Buffer.alloc(16), most }',
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/postgresql/store/device-requests.ts',
    ['test/postgresql/conformance.test.ts'],
    [
      [
        'decisions on a device are told apart by their attempts',
        '[userCode, from, to, randomUUID()]',
        "[userCode, from, to, randomUUID().replace(/[0-9a-f]/g, '0')]",
      ],
    ],
  ),
];
