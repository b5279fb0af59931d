/** Patterns of credentials for scanners of secrets, which find credentials that were published by mistake. */
import { CREDENTIAL_CHARACTERS } from '../../oauth/keys/credential.ts';
import { ROOT_KEY_BYTES } from '../../oauth/keys/keyring.ts';

/** A credential that must not be published: what it is, and a pattern of its text that the engine of every scanner takes. */
export type ScanRule = { readonly id: string; readonly description: string; readonly pattern: string };

/** The number of characters of a secret or a root key after its prefix and kind: 256 bits and a checksum. */
const SECRET_CHARACTERS = Math.ceil((ROOT_KEY_BYTES * 4) / 3) + 6;

/** The rules of an installation, by the prefix of its credentials. Codes are not among them: they live for a minute. */
export function scanRules(prefix: string): ScanRule[] {
  const rule = (kind: string, description: string, characters: number, brand = prefix): ScanRule => ({
    id: `${brand}-${kind}`,
    description,
    pattern: `\\b${brand}_${kind}_[A-Za-z0-9_-]{${characters}}`,
  });
  return [
    rule('cs', 'client secret of an app', SECRET_CHARACTERS),
    rule('rs', 'secret of an API', SECRET_CHARACTERS),
    rule('ps', 'secret of an identity provider', SECRET_CHARACTERS),
    rule('ok', 'key of an operator', SECRET_CHARACTERS),
    rule('rt', 'refresh token', CREDENTIAL_CHARACTERS),
    rule('at', 'access token', CREDENTIAL_CHARACTERS),
    rule('rk', 'root key', SECRET_CHARACTERS, 'vk'),
  ];
}
