/** The password of a database user from `.pgpass`, as `libpq` finds it. */
import { createRequire } from 'node:module';
import type { Client } from 'pg';

type Wanted = Pick<Client, 'host' | 'port' | 'user' | 'database'>;

const require = createRequire(import.meta.url);

/** The library has no types. */
const readPasswordFile = require('pgpass') as (wanted: Wanted, done: (password: string | undefined) => void) => void;

/** The server asks for a password, and there is none. */
export class PasswordMissing extends Error {
  override readonly name = 'PasswordMissing';
}

/**
 * Lets a client without a password look in `.pgpass` when the server asks for one. The client would look there by itself, but
 * warns each time that it will not do so any more.
 */
export function readPasswordFromFile(client: Client): void {
  const { host, port, user, database } = client;
  const read = () =>
    new Promise<string>((resolve, reject) =>
      readPasswordFile({ host, port, user, database }, (password) =>
        password === undefined ? reject(new PasswordMissing(`no password for ${user}`)) : resolve(password),
      ),
    );
  Object.assign(client, { password: client.password ?? read });
}
