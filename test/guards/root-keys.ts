/** Guards of root keys: that none is used before all have it, and none retired while something rests on it. */
import { type Guard, guardsIn } from './guard.ts';

const OPERATOR = ['test/operator/key-registry.test.ts'];
const STORES = ['test/storage/root-keys.test.ts'];

export const rootKeyGuards: readonly Guard[] = [
  ...guardsIn('src/operator/root-keys/key-registry.ts', OPERATOR, [
    [
      'a rotation waits for instances',
      'store.findRootKeys(); await this.#untilRead(keyId, tell);',
      'store.findRootKeys();',
    ],
    ['a rotation looks again after it was prepared', 'try { await this.#untilRead(keyId, tell);', 'try {'],
    ['a rotation that failed is not prepared any more', 'await store.prepareRootKey(null);', ''],
    ['an instance that says nothing lacks the key', 'keyIds: [] })', 'keyIds: [keyId] })'],
    ['a key with live grants is kept', 'if (grants > 0)', 'if (grants < 0)'],
    ['a key with passwords is kept', 'if (passwords > 0)', 'if (passwords < 0)'],
    [
      'a key is kept as long as an access token may live anywhere',
      'MAX_ACCESS_TOKEN_LIFETIME * 1000 + LATE_ISSUE_MS',
      '3_600_000 + LATE_ISSUE_MS',
    ],
    ['a key is kept while an instance may issue with it', 'const LATE_ISSUE_MS = 60_000;', 'const LATE_ISSUE_MS = 0;'],
    ['a key is kept until what it issued has expired', 'return leftMs > 0', 'return leftMs > 1e15'],
  ]),
  ...guardsIn(
    'src/oauth/keys/doctor-pass.ts',
    ['test/oauth/doctor-pass.test.ts'],
    [
      ['a pass of the doctor ends', 'Number(expiresAt) <= now || ', ''],
      ['a pass of the doctor is of now', ' || Number(expiresAt) > now + 2 * LIFETIME_MS', ''],
      ['a pass of the doctor is proven', 'return timingSafeEqual(', 'return true || timingSafeEqual('],
    ],
  ),
  ...guardsIn(
    'src/oauth/keys/doctor-pass.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'passes of the doctor are compared in constant time',
        "return timingSafeEqual(Buffer.from(proof, 'base64url'), mac(key, expiresAt));",
        "return mac(key, expiresAt).equals((timingSafeEqual, Buffer.from(proof, 'base64url')));",
      ],
    ],
  ),
  ...guardsIn(
    'src/storage/opening/installation.ts',
    ['test/constant-time.test.ts'],
    [
      [
        'canaries are compared in constant time',
        'timingSafeEqual(key.canary, canary(',
        '((one: Buffer, other: Buffer) => one.equals(timingSafeEqual ? other : one))(key.canary, canary(',
      ],
    ],
  ),
  ...guardsIn('src/operator/root-keys/key-watch.ts', OPERATOR, [
    ['an instance notes itself before it looks', 'await this.#note(); const { nextKeyId }', 'const { nextKeyId }'],
    ['an instance without the next key does not serve', '? nextKeyId : null;', '? null : null;'],
    [
      'an instance says that its keys are not kept any more',
      'return unkept(live.filter(',
      'return unkept(live.slice(0, 0).filter(',
    ],
    ['a keys file that cannot be read is told of', 'return [(error as Error).message];', 'return [];'],
    ['a warning is given once', 'if (!this.#told.includes(sentence)) ', ''],
    ['an instance drops a retired key', 'keyring.remove(keyId);', 'keyring.issueWith(keyring.currentKeyId);'],
  ]),
  ...guardsIn(
    'src/wiring/key-commands.ts',
    ['test/flows/key-rotation-kills.test.ts'],
    [
      [
        'a rotation that was killed goes on with its key',
        'if ((await installation.rootKeys.announced()).length === 0) {',
        'if (((await installation.rootKeys.announced()).length as number) >= 0) {',
      ],
      [
        'a retirement that was killed is made up for in the keys file',
        'if ((await rootKeys.isRetired(keyId)) && remove())',
        'if ((await rootKeys.isRetired(keyId)) && false)',
      ],
    ],
  ),
  ...guardsIn(
    'src/wiring/key-commands.ts',
    ['test/flows/key-rotation.test.ts'],
    [
      [
        'a rotation adds no key to a file that nobody reads',
        'if (keys !== null) throw new InstallationError(ADD_TO_VARIABLE);',
        '',
      ],
    ],
  ),
  ...guardsIn('src/storage/tables/installation/root-keys.ts', STORES, [
    ['only the prepared key is used', 'WHERE next_key_id = $1 AND current_key_id', 'WHERE current_key_id'],
    ['a retired key is not used again', 'WHERE key_id = $1 AND retired_at IS NULL)`', 'WHERE key_id = $1)`'],
    ['the current and the next key are not retired', 'WHERE current_key_id = $1 OR next_key_id = $1', 'WHERE FALSE'],
    ['a key is not retired too soon', 'AND superseded_at < $3', 'AND superseded_at < $3 + 1000'],
  ]),
  ...guardsIn(
    'src/storage/postgresql/instances.ts',
    ['test/instances/key-rotation.test.ts'],
    [['instances are known by their sessions', "application_name LIKE '${PREFIX}%'", "application_name = '${PREFIX}'"]],
  ),
  ...guardsIn(
    'src/storage/sqlite/file/serving-lock.ts',
    ['test/storage/serving-lock.test.ts'],
    [['a start waits for who looks', 'const PROBE_TIMEOUT_MS = 1000;', 'const PROBE_TIMEOUT_MS = 0;']],
  ),
  ...guardsIn(
    'src/accounts/passwords/password-hash.ts',
    ['test/accounts/password-hash.test.ts'],
    [
      [
        'a password hash is sealed',
        "seal(this.#keyring, 'password', phc, NEVER)",
        "Buffer.from(phc + seal(this.#keyring, 'password', phc, NEVER)).toString('base64url')",
      ],
    ],
  ),
  ...guardsIn(
    'src/accounts/passwords/verified-password.ts',
    ['test/accounts/verified-password.test.ts'],
    [['a password that was set meanwhile wins', 'now.passwordSetAt !== passwordSetAt || ', '']],
  ),
  ...guardsIn(
    'src/process/secret-file.ts',
    ['test/settings/root-keys.test.ts'],
    [
      ['a secret that others can read is refused', '(mode & (OTHERS_MAY | GROUP_MAY_CHANGE)) !== 0 || ', ''],
      ['a group reads a secret of root alone', ' || ((mode & GROUP_MAY_READ) !== 0 && uid !== ROOT)', ''],
    ],
  ),
];
