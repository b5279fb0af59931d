/** Reads an app's public keys from a file with a JSON Web Key Set, or with a single key (RFC 7517 §4 and §5). */
import { createReadStream } from 'node:fs';
import { buffer } from 'node:stream/consumers';
import type { PublicKey } from '../../oauth/clients/client.ts';
import { OperatorError } from '../../oauth/error.ts';

const MAX_BYTES = 64 * 1024;
const REMEDY = 'name a file with public keys, as a JSON Web Key Set or a single JSON Web Key (RFC 7517)';

/** Reads the keys in a file; the registry decides which of them can be used. Throws `OperatorError`. */
export async function readJwksFile(path: string): Promise<PublicKey[]> {
  const content = parse(path, await read(path));
  const keys = isObject(content) ? (content['keys'] ?? ('kty' in content ? [content] : [])) : [];
  if (!Array.isArray(keys) || keys.length === 0 || !keys.every(isObject))
    throw new OperatorError(`--jwks: ${path} holds no keys: ${REMEDY}`);
  return keys;
}

async function read(path: string): Promise<Buffer> {
  // Reads up to one byte too many, to notice a larger file even if it has no size, such as a pipe.
  const bytes = await buffer(createReadStream(path, { end: MAX_BYTES })).catch((error: NodeJS.ErrnoException) => {
    throw new OperatorError(`--jwks: ${path} cannot be read (${error.code}): ${REMEDY}`);
  });
  if (bytes.length > MAX_BYTES) throw new OperatorError(`--jwks: ${path} is larger than 64 KiB: ${REMEDY}`);
  return bytes;
}

/** Hides the parser's own message: it quotes the file, which may be a private key by mistake. */
function parse(path: string, bytes: Buffer): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new OperatorError(`--jwks: ${path} is not JSON: ${REMEDY}`);
  }
}

function isObject(value: unknown): value is Record<string, unknown> & PublicKey {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
