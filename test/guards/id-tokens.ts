/** Guards of ID tokens and of the keys that sign them. */
import { type Guard, guardsIn } from './guard.ts';

const KEYS = ['test/oauth/signing-keys.test.ts'];
const UNITS = ['test/oauth/openid/id-token.test.ts'];
const WIRE = ['test/http/api/openid-connect.test.ts'];
const STORES = ['test/storage/sqlite.test.ts', 'test/postgresql/conformance.test.ts'];

export const idTokenGuards: readonly Guard[] = [
  ...guardsIn('src/oauth/openid/signing-key.ts', KEYS, [
    [
      'a private key is sealed',
      "sealedKey: seal(keyring, 'signing-key', made",
      "sealedKey: made.privateKey.export({ format: 'jwk' }).d + seal(keyring, 'signing-key', made",
    ],
    ['a key set has public members alone', 'kid: id, n, e } as const;', "kid: id, n, e, d: '' } as const;"],
    [
      'no other key signs in the place of one',
      'return itsId === id && itsId === thumbprint(publicKey) ? key : null;',
      'return key;',
    ],
  ]),
  ...guardsIn('src/oauth/openid/signing-keys.ts', KEYS, [
    ['a next key signs only if it can be opened', ' || !openSigningKey(keyring, next)) return;', ') return;'],
    ['a clock that stepped back keeps no key signing', 'Math.abs(now() - (signing', '(now() - (signing'],
    ['a former key leaves the key set', 'dropAt === null || dropAt > at', 'dropAt === null || dropAt > 0'],
    [
      'an opened key signs no longer than it is in the database',
      'if (this.#opened?.sealedKey === signing.sealedKey)',
      'if (this.#opened)',
    ],
  ]),
  ...guardsIn('src/storage/tables/installation/signing-keys.ts', KEYS, [
    ['a key that never signs again is not there to be stolen', ', sealed_key = NULL, root_key_id = NULL', ''],
  ]),
  ...guardsIn('src/storage/tables/installation/signing-keys.ts', STORES, [
    [
      'the keys turn once',
      "drop_at = $2, sealed_key = NULL, root_key_id = NULL WHERE id = $1 AND state = 'signing'",
      'drop_at = $2, sealed_key = NULL, root_key_id = NULL WHERE id = $1',
    ],
    [
      'a replacement finds the key that it replaces',
      "DELETE FROM signing_key WHERE id = $1 AND state = 'signing'",
      'DELETE FROM signing_key WHERE id = $1',
    ],
    ['a key is not sealed over', 'WHERE id = $1 AND sealed_key = $4', 'WHERE id = $1 AND $4 IS NOT NULL'],
  ]),
  ...guardsIn('src/storage/tables/backups/backups.ts', STORES, [
    ['a restore drops keys that may have leaked', 'plain(DELETE_SIGNING_KEYS),', ''],
  ]),
  ...guardsIn(
    'src/operator/root-keys/key-registry.ts',
    ['test/operator/key-registry.test.ts'],
    [['a root key with keys for ID tokens is kept', 'if (signingKeys > 0)', 'if (signingKeys < 0)']],
  ),
  ...guardsIn('src/oauth/openid/id-token.ts', UNITS, [
    ['a hint is signed by RS256', "if (alg !== 'RS256' || !key", 'if (!key'],
    ['a hint has the kid of one of the keys', 'published.kid === kid', 'published.kid !== undefined'],
    ['the signature of a hint is checked', 'const claims = isSigned ?', 'const claims = isSigned || true ?'],
    ['a hint is of the app that sends it', "&& claims['aud'] === aud", ''],
    ['a hint is of this installation', "claims['iss'] === iss && ", ''],
  ]),
  ...guardsIn(
    'src/oauth/protocol/openid-connect.ts',
    [...WIRE, ...UNITS],
    [
      [
        'an app that lost its sign-in gets no ID token',
        'if (!grant.openid || !client.signIn) return null;',
        'if (!grant.openid) return null;',
      ],
      [
        'an app that lost its sign-in reads no userinfo',
        'if (!grant.openid || !client.signIn) return insufficientScope();',
        'if (!grant.openid) return insufficientScope();',
      ],
      [
        'a token without openid reads no userinfo',
        '!grant.openid || !client.signIn) return insufficientScope();',
        '!client.signIn) return insufficientScope();',
      ],
      ['a token that is bound to an API reads no userinfo', '=> resource === null;', '=> resource !== undefined;'],
      [
        'an app that was removed while its ID token waited learns nothing',
        'if (refused) return invalidCode(refused);',
        '',
      ],
    ],
  ),
  ...guardsIn('src/oauth/protocol/authorization-server.ts', WIRE, [
    [
      'a failed signature burns no code',
      'const idToken = signsIn ?',
      'if (signsIn) await this.#limit.redeem(grant, decision.redeem, client, origin); const idToken = signsIn ?',
    ],
  ]),
  ...guardsIn(
    'src/oauth/openid/signing-keys.ts',
    ['test/oauth/signing-keys.test.ts'],
    [
      [
        'no keys are made while no app has sign-in',
        ' || !(await store.hasSignInClient())) return keys;',
        ') return keys;',
      ],
      [
        'a read of the key set makes no keys',
        'return (await liveKeys(this.#parts)).map(publishedKey);',
        'return (await this.ensure()).map(publishedKey);',
      ],
    ],
  ),
  ...guardsIn(
    'src/operator/apps/client-registry.ts',
    ['test/operator/client-registry.test.ts'],
    [
      [
        'keys are made for an app that gets sign-in, and the write stands where they cannot be',
        'if (signIn) await makeSigningKeys?.().catch(() => null);',
        'if (signIn) await makeSigningKeys?.();',
      ],
    ],
  ),
  ...guardsIn('src/oauth/openid/signing-keys.ts', WIRE, [
    [
      'keys that could not be made are made by the service',
      'const keys = await this.ensure();',
      'const keys = await liveKeys(this.#parts);',
    ],
  ]),
  ...guardsIn('src/http/api/openid.ts', WIRE, [
    ['no cache keeps an empty key set', 'if (keys.length === 0) return', 'if (keys.length < 0) return'],
  ]),
  ...guardsIn(
    'src/process/signing.ts',
    ['test/process/signing.test.ts'],
    [
      [
        'the queue of signatures is bounded',
        'if (this.#waiting.length >= MAX_WAITING)',
        'if (this.#waiting.length < 0)',
      ],
      ['a text that no thread takes does not wait', 'if (!thread) return Promise.resolve(null);', ''],
    ],
  ),
];
